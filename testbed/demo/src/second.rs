//! What one second of the run showed.

use std::time::Duration;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Second {
    pub(crate) elapsed: Duration,
    /// How long it will be; `None` until Ctrl-C.
    pub(crate) total: Option<Duration>,
    pub(crate) strategy: String,
    pub(crate) clients: usize,
    pub(crate) servers: Vec<ServerSecond>,
    pub(crate) hit_percent: Option<f64>,
    pub(crate) p99_ms: Option<f64>,
    /// The busiest server's load over the mean, had the same keys been placed by their hash alone.
    pub(crate) plain_peak: f64,
    /// Failed requests since the start.
    pub(crate) errors: u64,
    /// `None` when the run is without the filter.
    pub(crate) filter: Option<FilterState>,
}

/// One server; without answers in that second it has no hit rate and no p99.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ServerSecond {
    pub(crate) name: String,
    pub(crate) rate: f64,
    pub(crate) hit_percent: Option<f64>,
    pub(crate) p99_ms: Option<f64>,
}

/// What the filter's own metrics say; `None` for one that it does not have.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct FilterState {
    pub(crate) plan_version: Option<u64>,
    pub(crate) rotation: Option<u64>,
    pub(crate) hot_keys: Option<u64>,
    pub(crate) moved_percent: Option<f64>,
    /// Of the requests since the table before, those that went to another server than their key's home.
    pub(crate) away_percent: Option<f64>,
}
