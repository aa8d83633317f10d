use std::{net::SocketAddr, time::Duration};

use rudolph_workload::{SpecError, WorkloadSpec};
use serde::{Serialize, Serializer};

/// One run. [`LoadRun::start`](crate::LoadRun::start) validates it.
#[derive(Clone, Debug, Serialize)]
pub struct LoadConfig {
    pub target: SocketAddr,
    /// The Host header; empty means the target.
    pub host: String,
    pub workload: WorkloadSpec,
    pub arrivals: Arrivals,
    /// Clients of a closed loop; the most connections of an open one.
    pub connections: usize,
    /// Load that is sent and not counted, before the rest.
    #[serde(rename = "warm_up_s", serialize_with = "as_seconds")]
    pub warm_up: Duration,
    /// What is counted.
    #[serde(rename = "duration_s", serialize_with = "as_seconds")]
    pub duration: Duration,
    /// Ends the run earlier, after so many requests, warm-up included.
    pub max_requests: Option<u64>,
    #[serde(rename = "request_timeout_s", serialize_with = "as_seconds")]
    pub request_timeout: Duration,
    /// The run is void if the generator itself was later than this in one of a hundred cases.
    #[serde(rename = "max_lag_s", serialize_with = "as_seconds")]
    pub max_lag: Duration,
    /// Reads ask the servers to fill their caches and to take no service time (`x-warm`): for before a measurement.
    pub warming: bool,
    /// Seed of the arrival times; the keys have their own in `workload`.
    pub arrival_seed: u64,
}

/// When requests start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Arrivals {
    /// Each client sends its next request when it has the answer to the last.
    Closed,
    /// Evenly, `rate` a second, whatever the answers do.
    Constant { rate: f64 },
    /// At random, `rate` a second on average, whatever the answers do.
    Poisson { rate: f64 },
}

/// Enough to keep the servers busy, and few enough to leave them the processors.
const WARMING_CLIENTS: usize = 32;

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("--{option} is {value}; allowed: {allowed}")]
    OutOfBounds { option: &'static str, value: String, allowed: &'static str },
    #[error(transparent)]
    Workload(#[from] SpecError),
}

impl LoadConfig {
    /// A closed loop of 64 clients: 2 s of warm-up, then 10 s.
    #[must_use]
    pub fn new(target: SocketAddr) -> Self {
        Self {
            target,
            host: String::new(),
            workload: WorkloadSpec::default(),
            arrivals: Arrivals::Closed,
            connections: 64,
            warm_up: Duration::from_secs(2),
            duration: Duration::from_secs(10),
            max_requests: None,
            request_timeout: Duration::from_secs(10),
            max_lag: Duration::from_millis(5),
            warming: false,
            arrival_seed: 1,
        }
    }

    /// Fills the caches with so many requests of the same workload, drawn anew, at the servers' full speed.
    #[must_use]
    pub fn warming(self, requests: u64, longest: Duration) -> Self {
        Self {
            arrivals: Arrivals::Closed,
            connections: WARMING_CLIENTS,
            warm_up: Duration::ZERO,
            duration: longest,
            max_requests: Some(requests),
            warming: true,
            ..self
        }
    }

    pub fn validate(&self) -> Result<(), ConfigError> {
        self.workload.validate()?;
        if let Arrivals::Constant { rate } | Arrivals::Poisson { rate } = self.arrivals {
            let allowed = "0.001 to 1000000 a second";
            check("rate", rate, (0.001..=1e6).contains(&rate), allowed)?;
        }
        let connections = (1..=20_000).contains(&self.connections);
        check("connections", self.connections, connections, "1 to 20000")?;
        let a_day = Duration::from_secs(86_400);
        let warm_up = self.warm_up <= a_day;
        check("warm-up", seconds(self.warm_up), warm_up, "0 to 86400 s")?;
        let duration = !self.duration.is_zero() && self.duration <= a_day;
        check("seconds", seconds(self.duration), duration, "above 0, to 86400 s")?;
        let timeout =
            self.request_timeout >= Duration::from_millis(1) && self.request_timeout <= a_day;
        check("timeout-ms", self.request_timeout.as_millis(), timeout, "1 to 86400000")?;
        check("max-lag-ms", self.max_lag.as_secs_f64() * 1e3, !self.max_lag.is_zero(), "above 0")?;
        let max_requests = self.max_requests.unwrap_or(1);
        check("requests", max_requests, max_requests > 0, "at least 1")?;
        let visible = |byte: u8| (b'!'..=b'~').contains(&byte);
        let host = self.host.bytes().all(visible);
        check("host", format!("{:?}", self.host), host, "visible ASCII without spaces")
    }
}

fn as_seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(seconds(*duration))
}

fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}

fn check(
    option: &'static str,
    value: impl ToString,
    is_allowed: bool,
    allowed: &'static str,
) -> Result<(), ConfigError> {
    if is_allowed {
        return Ok(());
    }
    Err(ConfigError::OutOfBounds { option, value: value.to_string(), allowed })
}
