use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;
use rudolph_cluster::{Baseline, Builder, Cluster, ServerSettings};
use serde::Serialize;

/// Who stands before the servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Contender {
    /// The filter with its default strategy.
    Spread,
    /// Envoy's own consistent hashing, without the filter.
    Maglev,
}

const SERVERS: usize = 5;
const WORKERS: u32 = 2;
const PATIENCE: Duration = Duration::from_secs(60);
/// More than enough for all keys on all servers, so that misses tell of keys that moved.
const CACHE_ENTRIES: u64 = 4_000;

impl Contender {
    pub const ALL: [Self; 2] = [Self::Spread, Self::Maglev];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Spread => "spread",
            Self::Maglev => "maglev",
        }
    }

    /// The cluster that it is tried on. `module` is the filter's, with a trap planted.
    pub(crate) fn builder(self, module: &Path) -> Builder {
        let settings = ServerSettings { cache_entries: CACHE_ENTRIES, ..ServerSettings::default() };
        let builder = Cluster::builder().servers(SERVERS).server_settings(settings);
        let builder = builder.concurrency(WORKERS).hot_restart(true).patience(PATIENCE);
        match self {
            Self::Spread => builder.strategy("spread").module(module),
            Self::Maglev => builder.baseline(Baseline::Maglev),
        }
    }
}
