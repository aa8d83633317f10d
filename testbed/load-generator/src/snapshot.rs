use std::collections::BTreeMap;

use serde::Serialize;

use crate::{LatencySummary, Phase, recording::ratio};

/// One second of the run. Requests belong to the second in which they ended; failed ones are in `errors` only.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Snapshot {
    /// Counted from the start of the warm-up.
    pub second: u64,
    pub phase: Phase,
    pub requests: u64,
    pub hits: u64,
    pub misses: u64,
    pub latency: LatencySummary,
    /// By cause: `connect`, `timeout`, `reset`, `unfinished`, or the status, such as `http_503`.
    pub errors: BTreeMap<String, u64>,
    /// In the order in which they were first seen, idle ones too.
    pub servers: Vec<ServerSecond>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServerSecond {
    /// Its `x-server`; `(none)` for answers without.
    pub server: String,
    pub requests: u64,
    pub hits: u64,
    pub misses: u64,
    pub errors: u64,
    pub latency: LatencySummary,
}

impl Snapshot {
    #[must_use]
    pub fn error_count(&self) -> u64 {
        self.errors.values().sum()
    }

    #[must_use]
    pub fn hit_percent(&self) -> f64 {
        100.0 * ratio(self.hits, self.hits + self.misses)
    }

    /// The busiest server's requests over the mean of all that were ever seen; 0 if there were none.
    #[must_use]
    pub fn peak_over_mean(&self) -> f64 {
        let most = self.servers.iter().map(|server| server.requests).max();
        let sum = self.servers.iter().map(|server| server.requests).sum();
        ratio(most.unwrap_or(0) * self.servers.len() as u64, sum)
    }
}

impl ServerSecond {
    #[must_use]
    pub fn hit_percent(&self) -> f64 {
        100.0 * ratio(self.hits, self.hits + self.misses)
    }
}
