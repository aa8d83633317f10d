//! A scenario as people write it in TOML: read, checked field by field, and only then used.
//!
//! Every field has a default; `check` holds the bounds; [`sweep`] turns one file into many scenarios.

mod check;
mod strategy;
pub mod sweep;

use rudolph_workload::WorkloadSpec;
use serde::{Deserialize, Serialize};

pub use strategy::{Choice, Rival, Strategy};
pub use sweep::Variant;

/// One set of conditions, run with each seed and each strategy.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scenario {
    /// What it shows, for the head of the table.
    pub title: String,
    /// A run for each; a row is all of them together.
    pub seeds: Vec<u64>,
    /// Simulated seconds before anything is measured.
    pub warmup_s: f64,
    /// Simulated seconds that are measured.
    pub seconds: f64,
    pub strategies: Vec<Strategy>,
    pub arrivals: Arrivals,
    pub servers: Servers,
    pub gateways: Gateways,
    /// The keys. Its seed is replaced by each of `seeds`.
    pub workload: WorkloadSpec,
    pub scan: Scan,
    pub events: Vec<Event>,
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            title: String::new(),
            seeds: vec![1, 2, 3],
            warmup_s: 30.0,
            seconds: 120.0,
            strategies: strategy::usual(),
            arrivals: Arrivals { clients: Some(64), open_rps: None },
            servers: Servers::default(),
            gateways: Gateways::default(),
            workload: WorkloadSpec::default(),
            scan: Scan::default(),
            events: Vec::new(),
        }
    }
}

/// Who sends: clients that wait for each answer, or a stream that waits for nothing. One of the two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Arrivals {
    /// Closed loop: so many clients, each with one request at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clients: Option<u32>,
    /// Open loop: Poisson arrivals, so many a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_rps: Option<f64>,
}

/// The servers, alike but for their speed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Servers {
    pub count: usize,
    /// Requests that one server works on at once; the others queue first come, first served.
    pub slots: u32,
    /// Keys that one server's cache holds.
    pub cache_keys: usize,
    /// Mean service time of a hit.
    pub hit_ms: f64,
    /// Mean time that a miss takes on top, for the database.
    pub miss_ms: f64,
    /// Sigma of the lognormal noise of both.
    pub sigma: f64,
    /// Sigma of the lognormal cost of keys against each other; a key always costs the same.
    pub key_cost_sigma: f64,
    /// Servers that are not as fast as the others.
    pub slow: Vec<Slow>,
}

impl Default for Servers {
    fn default() -> Self {
        Self {
            count: 5,
            slots: 4,
            cache_keys: 13_200,
            hit_ms: 1.0,
            miss_ms: 4.0,
            sigma: 0.5,
            key_cost_sigma: 0.0,
            slow: Vec::new(),
        }
    }
}

/// A server with a speed of its own.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slow {
    pub server: usize,
    /// 1 is as fast as the others, 0.5 takes twice as long.
    pub speed: f64,
}

/// The proxies in front. Each request comes to any worker of any gateway; each worker knows only its own requests.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gateways {
    pub count: usize,
    /// Workers a gateway.
    pub workers: usize,
    /// Whether gateways share what only the workers of one share in production.
    pub talk: bool,
    /// After how long the others see what a worker put in the shared store.
    pub agreement_delay_ms: f64,
    /// After how long a gateway knows that a server went or came.
    pub detection_ms: f64,
}

impl Default for Gateways {
    fn default() -> Self {
        Self { count: 1, workers: 1, talk: false, agreement_delay_ms: 0.0, detection_ms: 1000.0 }
    }
}

/// Keys that come once, in order, in between: a crawler, a backup.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scan {
    /// Their share of all requests.
    pub share: f64,
    /// How many there are before the scan begins anew.
    pub keys: u64,
}

impl Default for Scan {
    fn default() -> Self {
        Self { share: 0.0, keys: 1_000_000 }
    }
}

/// A server goes or comes.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Seconds since the beginning, warm-up included.
    pub at_s: f64,
    pub server: usize,
    pub change: Change,
}

/// What becomes of the server. One whose first event is `up` is not there at the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It dies: its requests are sent again, its cache is lost.
    Down,
    /// It is there, with an empty cache.
    Up,
}

/// Why a scenario was refused.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error("scenario: {field} is {value}; allowed: {allowed}")]
    Value { field: String, value: String, allowed: String },
    #[error("scenario: {field}: {problem}")]
    Shape { field: String, problem: String },
    #[error("scenario: {0}")]
    Workload(#[from] rudolph_workload::SpecError),
    #[error("scenario: strategies[{index}].filter: {source}")]
    Filter { index: usize, source: rudolph_core::config::ConfigError },
}

impl Scenario {
    /// Reads one set of conditions; the fields of a sweep are gone by now.
    ///
    /// # Errors
    /// The field that is wrong, and what is allowed.
    pub fn from_toml(mut value: toml::Value) -> Result<Self, ScenarioError> {
        complete_keys(&mut value);
        let scenario: Self = serde_path_to_error::deserialize(value).map_err(|error| {
            let field = match error.path().to_string() {
                path if path == "." => "the file".to_owned(),
                path => path,
            };
            let problem = error.into_inner().message().replace('\n', " ");
            ScenarioError::Shape { field, problem }
        })?;
        scenario.check()?;
        Ok(scenario)
    }

    /// Workers of all gateways.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.gateways.count * self.gateways.workers
    }

    /// The share of requests that ask for the hottest key, at the beginning.
    #[must_use]
    pub fn hottest_share(&self) -> f64 {
        use rudolph_workload::KeySpec::{OneHot, Replay, Sequential, Uniform, Zipf};
        let share = match &self.workload.keys {
            Zipf { count, alpha, .. } => {
                1.0 / (1..=*count).map(|rank| (rank as f64).powf(-alpha)).sum::<f64>()
            }
            Uniform { count } | Sequential { count, .. } => 1.0 / *count as f64,
            OneHot { count, share, .. } => share.max(1.0 / *count as f64),
            Replay { .. } => 0.0,
        };
        share * (1.0 - self.scan.share)
    }

    /// Different keys that may come.
    #[must_use]
    pub fn key_count(&self) -> u64 {
        use rudolph_workload::KeySpec::{OneHot, Replay, Sequential, Uniform, Zipf};
        match self.workload.keys {
            Zipf { count, .. } | Uniform { count } | Sequential { count, .. } => count,
            OneHot { count, .. } => count,
            Replay { .. } => 0,
        }
    }
}

/// How far the keys reach that are there before the load: what a range placement cuts into even ranges. New sequential
/// keys lie past it; where none do, it is all keys.
pub(crate) fn known_span(keys: &rudolph_workload::KeySpec, count: u64) -> u64 {
    match keys {
        rudolph_workload::KeySpec::Sequential { first, .. } if *first > 0 => *first,
        _ => count,
    }
}

/// Keys of no kind are the usual ones, but for what is given: so that `workload.keys.alpha` can be set alone.
fn complete_keys(value: &mut toml::Value) {
    let keys = value.get_mut("workload").and_then(|workload| workload.get_mut("keys"));
    let Some(toml::Value::Table(keys)) = keys else { return };
    if keys.contains_key("kind") {
        return;
    }
    let Ok(toml::Value::Table(usual)) = toml::Value::try_from(WorkloadSpec::default().keys) else {
        return;
    };
    for (name, value) in usual {
        keys.entry(name).or_insert(value);
    }
}
