//! What `/status.json` holds. Its layout is a contract: `docs/status.schema.json`; a change of it is another `format`.

use serde::Serialize;

/// The number that stands in every document.
pub const DOCUMENT_FORMAT: u32 = 1;

#[derive(Debug, Serialize)]
pub(crate) struct Document {
    pub(crate) format: u32,
    pub(crate) title: String,
    pub(crate) now_ms: u64,
    pub(crate) refresh_ms: u64,
    /// All configurations that live in this process, to choose from.
    pub(crate) filters: Vec<FilterName>,
    /// The chosen one; nothing while there is none.
    pub(crate) filter: Option<FilterState>,
}

#[derive(Debug, Serialize)]
pub(crate) struct FilterName {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) strategy: &'static str,
    /// The Envoy cluster, or nothing where servers are listed.
    pub(crate) cluster: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct FilterState {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) strategy: &'static str,
    pub(crate) clear_keys: bool,
    pub(crate) epoch: Option<u64>,
    pub(crate) epoch_ms: u64,
    pub(crate) plan: Option<PlanState>,
    pub(crate) load: Load,
    pub(crate) servers: Vec<ServerState>,
    pub(crate) left_out: Vec<LeftOutState>,
    pub(crate) ring: Ring,
    pub(crate) hot_keys: Vec<HotKeyState>,
    pub(crate) workers: Vec<WorkerState>,
    pub(crate) history: HistoryState,
    pub(crate) causes: Vec<Cause>,
    /// What somebody should look at, the worst first.
    pub(crate) alarms: Vec<String>,
    /// Envoy's own values of the filter's metrics, by name; nothing if Envoy did not give them.
    pub(crate) metrics: std::collections::BTreeMap<&'static str, u64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct PlanState {
    pub(crate) version: u64,
    pub(crate) epoch: u64,
    pub(crate) active_since_ms: u64,
    /// The version of a plan that was published and waits for its time.
    pub(crate) waiting: Option<u64>,
    pub(crate) hot_keys: usize,
    /// By how many bins the arcs are turned; only where arcs turn.
    pub(crate) rotation: Option<u32>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Load {
    /// Highest load over the mean, by weight, of about the last second; nothing without load.
    pub(crate) peak_over_mean: Option<f64>,
    /// The same at the last sample, had each key gone where its hash says.
    pub(crate) plain_peak_over_mean: Option<f64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ServerState {
    pub(crate) address: String,
    pub(crate) weight: u32,
    /// What is left of its weight after its slowness was learned: 1/16 to 1.
    pub(crate) learned: f64,
    /// The part of all load that is its due.
    pub(crate) due: f64,
    /// Load over the mean, by weight, of about the last second.
    pub(crate) load: Option<f64>,
    /// The same over the last five minutes.
    pub(crate) load_5m: Option<f64>,
    pub(crate) in_flight: u64,
    /// Load over the mean in each column of the history, oldest first; nothing where it was no member.
    pub(crate) loads: Vec<Option<f64>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct LeftOutState {
    pub(crate) address: String,
    pub(crate) reason: &'static str,
}

#[derive(Debug, Serialize)]
pub(crate) struct Ring {
    pub(crate) bins: usize,
    /// Whether arcs are where a server's bins are; otherwise only as long as its part of the bins.
    pub(crate) in_place: bool,
    /// First bin, number of bins and server of each arc, around the ring.
    pub(crate) arcs: Vec<(u32, u32, u16)>,
    /// Load of equal parts of the ring over the mean.
    pub(crate) heat: Vec<f64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct HotKeyState {
    pub(crate) hash: String,
    /// The key itself, or its beginning, where the configuration lets it be shown.
    pub(crate) key: Option<String>,
    pub(crate) bin: usize,
    /// Its part of all requests with a key.
    pub(crate) share: f64,
    /// Its load in units of one server's fair share.
    pub(crate) load: f64,
    pub(crate) home: u16,
    /// The servers that serve it, by their place in the list of servers.
    pub(crate) owners: Vec<u16>,
}

#[derive(Debug, Serialize)]
pub(crate) struct WorkerState {
    pub(crate) slot: usize,
    /// How long ago it last told anything.
    pub(crate) silent_ms: u64,
    /// The plan that it follows, and the epoch of that; nothing before it has shown itself.
    pub(crate) plan: Option<u64>,
    pub(crate) epoch: Option<u64>,
    /// Its part of the requests of about the last second.
    pub(crate) share: Option<f64>,
    pub(crate) agrees: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct HistoryState {
    /// Time, peak, plain peak, rotation, hot keys and plan version of each sample, oldest first.
    pub(crate) samples: Vec<(u64, f64, f64, u32, u16, u64)>,
    /// When each column of the servers' loads began.
    pub(crate) columns: Vec<u64>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Cause {
    /// The metric's name after the prefix.
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    pub(crate) total: u64,
    /// In about the last minute.
    pub(crate) recent: u64,
    /// Whether somebody should look at it.
    pub(crate) matters: bool,
}

/// What `/explain` holds.
#[derive(Debug, Serialize)]
pub(crate) struct Explanation {
    pub(crate) format: u32,
    pub(crate) filter: Option<String>,
    pub(crate) key: String,
    pub(crate) hash: String,
    pub(crate) plan: Option<u64>,
    pub(crate) bin: Option<usize>,
    pub(crate) bins: Option<usize>,
    pub(crate) reason: &'static str,
    pub(crate) text: String,
    pub(crate) owners: Vec<Owner>,
    pub(crate) without: Option<Without>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Owner {
    pub(crate) address: String,
    /// `home`, `copy`, `pinned` or `retry`.
    pub(crate) role: &'static str,
    pub(crate) in_flight: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Without {
    pub(crate) server: String,
    pub(crate) moves: bool,
    pub(crate) text: String,
    pub(crate) owners: Vec<Owner>,
}

/// Enough digits for a person and a plot.
pub(crate) fn short(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}
