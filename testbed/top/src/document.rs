//! What of `/status.json` is shown here.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The format that this program reads.
pub(crate) const FORMAT: u64 = 1;

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Document {
    pub(crate) title: String,
    pub(crate) now_ms: u64,
    pub(crate) filters: Vec<FilterName>,
    pub(crate) filter: Option<FilterState>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct FilterName {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) strategy: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct FilterState {
    pub(crate) id: String,
    pub(crate) strategy: String,
    pub(crate) epoch: Option<u64>,
    pub(crate) plan: Option<PlanState>,
    pub(crate) load: Load,
    pub(crate) servers: Vec<ServerState>,
    pub(crate) left_out: Vec<LeftOutState>,
    pub(crate) hot_keys: Vec<HotKeyState>,
    pub(crate) workers: Vec<WorkerState>,
    pub(crate) causes: Vec<Cause>,
    pub(crate) alarms: Vec<String>,
    pub(crate) metrics: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct PlanState {
    pub(crate) version: u64,
    pub(crate) rotation: Option<u32>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Load {
    pub(crate) peak_over_mean: Option<f64>,
    pub(crate) plain_peak_over_mean: Option<f64>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ServerState {
    pub(crate) address: String,
    pub(crate) weight: u32,
    pub(crate) learned: f64,
    pub(crate) load: Option<f64>,
    pub(crate) load_5m: Option<f64>,
    pub(crate) in_flight: u64,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct LeftOutState {
    pub(crate) address: String,
    pub(crate) reason: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct HotKeyState {
    pub(crate) hash: String,
    pub(crate) key: Option<String>,
    pub(crate) share: f64,
    pub(crate) owners: Vec<u16>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct WorkerState {
    pub(crate) slot: u64,
    pub(crate) plan: Option<u64>,
    pub(crate) epoch: Option<u64>,
    pub(crate) agrees: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Cause {
    pub(crate) text: String,
    pub(crate) total: u64,
    pub(crate) recent: u64,
    pub(crate) matters: bool,
}
