//! What `/status.json` holds. Its layout is a contract: `docs/status.schema.json`; a change of it is another `format`.

use serde::Serialize;

/// The number that stands in every document.
pub const DOCUMENT_FORMAT: u32 = 1;

#[derive(Debug, Serialize)]
pub(super) struct Document {
    pub(super) format: u32,
    pub(super) title: String,
    pub(super) now_ms: u64,
    pub(super) refresh_ms: u64,
    /// All configurations that live in this process, to choose from.
    pub(super) filters: Vec<FilterName>,
    /// The chosen one; nothing while there is none.
    pub(super) filter: Option<FilterState>,
}

#[derive(Debug, Serialize)]
pub(super) struct FilterName {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) strategy: &'static str,
    /// The Envoy cluster, or nothing where servers are listed.
    pub(super) cluster: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct FilterState {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) strategy: &'static str,
    pub(super) clear_keys: bool,
    pub(super) epoch: Option<u64>,
    pub(super) epoch_ms: u64,
    pub(super) plan: Option<PlanState>,
    pub(super) load: Load,
    pub(super) servers: Vec<ServerState>,
    pub(super) left_out: Vec<LeftOutState>,
    pub(super) ring: Ring,
    pub(super) hot_keys: Vec<HotKeyState>,
    pub(super) workers: Vec<WorkerState>,
    pub(super) history: HistoryState,
    pub(super) causes: Vec<Cause>,
    /// What somebody should look at, the worst first.
    pub(super) alarms: Vec<String>,
    /// Envoy's own values of the filter's metrics, by name; nothing if Envoy did not give them.
    pub(super) metrics: std::collections::BTreeMap<&'static str, u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct PlanState {
    pub(super) version: u64,
    pub(super) epoch: u64,
    pub(super) active_since_ms: u64,
    /// The version of a plan that was published and waits for its time.
    pub(super) waiting: Option<u64>,
    pub(super) hot_keys: usize,
    /// By how many bins the arcs are turned; only where arcs turn.
    pub(super) rotation: Option<u32>,
}

#[derive(Debug, Serialize)]
pub(super) struct Load {
    /// Highest load over the mean, by weight, of about the last second; nothing without load.
    pub(super) peak_over_mean: Option<f64>,
    /// The same at the last sample, had each key gone where its hash says.
    pub(super) plain_peak_over_mean: Option<f64>,
}

#[derive(Debug, Serialize)]
pub(super) struct ServerState {
    pub(super) address: String,
    pub(super) weight: u32,
    /// What is left of its weight after its slowness was learned: 1/16 to 1.
    pub(super) learned: f64,
    /// The part of all load that is its due.
    pub(super) due: f64,
    /// Load over the mean, by weight, of about the last second.
    pub(super) load: Option<f64>,
    /// The same over the last five minutes.
    pub(super) load_5m: Option<f64>,
    pub(super) in_flight: u64,
    /// Load over the mean in each column of the history, oldest first; nothing where it was no member.
    pub(super) loads: Vec<Option<f64>>,
}

#[derive(Debug, Serialize)]
pub(super) struct LeftOutState {
    pub(super) address: String,
    pub(super) reason: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct Ring {
    pub(super) bins: usize,
    /// Whether arcs are where a server's bins are; otherwise only as long as its part of the bins.
    pub(super) in_place: bool,
    /// First bin, number of bins and server of each arc, around the ring.
    pub(super) arcs: Vec<(u32, u32, u16)>,
    /// Load of equal parts of the ring over the mean.
    pub(super) heat: Vec<f64>,
}

#[derive(Debug, Serialize)]
pub(super) struct HotKeyState {
    pub(super) hash: String,
    /// The key itself, or its beginning, where the configuration lets it be shown.
    pub(super) key: Option<String>,
    pub(super) bin: usize,
    /// Its part of all requests with a key.
    pub(super) share: f64,
    /// Its load in units of one server's fair share.
    pub(super) load: f64,
    pub(super) home: u16,
    /// The servers that serve it, by their place in the list of servers.
    pub(super) owners: Vec<u16>,
}

#[derive(Debug, Serialize)]
pub(super) struct WorkerState {
    pub(super) slot: usize,
    /// How long ago it last told anything.
    pub(super) silent_ms: u64,
    /// The plan that it follows, and the epoch of that; nothing before it has shown itself.
    pub(super) plan: Option<u64>,
    pub(super) epoch: Option<u64>,
    /// Its part of the requests of about the last second.
    pub(super) share: Option<f64>,
    pub(super) agrees: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct HistoryState {
    /// Time, peak, plain peak, rotation, hot keys and plan version of each sample, oldest first.
    pub(super) samples: Vec<(u64, f64, f64, u32, u16, u64)>,
    /// When each column of the servers' loads began.
    pub(super) columns: Vec<u64>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Cause {
    /// The metric's name after the prefix.
    pub(super) name: &'static str,
    pub(super) text: &'static str,
    pub(super) total: u64,
    /// In about the last minute.
    pub(super) recent: u64,
    /// Whether somebody should look at it.
    pub(super) matters: bool,
}

/// What `/explain` holds.
#[derive(Debug, Serialize)]
pub(super) struct Explanation {
    pub(super) format: u32,
    pub(super) filter: Option<String>,
    pub(super) key: String,
    pub(super) hash: String,
    pub(super) plan: Option<u64>,
    pub(super) bin: Option<usize>,
    pub(super) bins: Option<usize>,
    pub(super) reason: &'static str,
    pub(super) text: String,
    pub(super) owners: Vec<Owner>,
    pub(super) without: Option<Without>,
}

#[derive(Debug, Serialize)]
pub(super) struct Owner {
    pub(super) address: String,
    /// `home`, `copy`, `pinned` or `retry`.
    pub(super) role: &'static str,
    pub(super) in_flight: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Without {
    pub(super) server: String,
    pub(super) moves: bool,
    pub(super) text: String,
    pub(super) owners: Vec<Owner>,
}

/// Enough digits for a person and a plot.
pub(super) fn short(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}
