use std::{
    net::{SocketAddr, ToSocketAddrs},
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Parser, ValueEnum};
use rudolph_load_generator::{Arrivals, LoadConfig};
use rudolph_workload::{KeySpec, SpecError, ValueBytes, WorkloadSpec};

/// Load on an address, closed-loop (the default) or open-loop (with --rate).
#[derive(Debug, Parser)]
#[command(name = "rudolph-load", version, allow_negative_numbers = true)]
pub(crate) struct Args {
    /// HOST:PORT
    #[arg(long)]
    target: String,
    /// Host header; the target if absent
    #[arg(long, default_value = "")]
    host: String,
    /// Closed loop: clients, 64 if absent. Open loop: most connections, 256 if absent
    #[arg(long, visible_alias = "clients")]
    connections: Option<usize>,
    /// Open loop: requests a second
    #[arg(long)]
    rate: Option<f64>,
    /// Open loop: how they arrive
    #[arg(long, value_enum, default_value_t = ArrivalKind::Poisson, requires = "rate")]
    arrivals: ArrivalKind,
    /// Seconds to measure
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Seconds of load before that
    #[arg(long, default_value_t = 2.0)]
    warm_up_s: f64,
    /// End after so many requests, warm-up included
    #[arg(long)]
    requests: Option<u64>,
    #[arg(long, default_value_t = 10_000.0)]
    timeout_ms: f64,
    /// Void if the generator itself is later than this at p99
    #[arg(long, default_value_t = 5.0)]
    max_lag_ms: f64,
    /// Fill the testbed servers' caches at full speed, instead of measuring them
    #[arg(long)]
    warm: bool,
    /// Seed of keys and arrivals; it overrides the one in --workload
    #[arg(long)]
    seed: Option<u64>,
    /// A workload in JSON; the four options below are then refused
    #[arg(long, conflicts_with_all = ["keys", "alpha", "reshuffle_s", "read_fraction"])]
    workload: Option<PathBuf>,
    /// Zipf: number of keys
    #[arg(long, default_value_t = 100_000)]
    keys: u64,
    /// Zipf: exponent
    #[arg(long, default_value_t = 1.0)]
    alpha: f64,
    /// Zipf: seconds between two deals of the ranks; 0 is never
    #[arg(long, default_value_t = 10.0)]
    reshuffle_s: f64,
    /// Share of requests that read
    #[arg(long, default_value_t = 1.0)]
    read_fraction: f64,
    /// Write the whole report here
    #[arg(long)]
    pub(crate) json: Option<PathBuf>,
    /// Report also if the generator was the bottleneck, marked void
    #[arg(long)]
    pub(crate) report_anyway: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ArrivalKind {
    Poisson,
    Constant,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ArgsError {
    #[error("--target {target:?} is no address: {source}; allowed: HOST:PORT")]
    Target { target: String, source: std::io::Error },
    #[error("--target {target:?} has no address")]
    NoAddress { target: String },
    #[error("--{option} is {value}; allowed: 0 to 86400 s")]
    Time { option: &'static str, value: f64 },
    #[error("--workload {path:?} cannot be read: {source}")]
    WorkloadUnreadable { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Workload(#[from] SpecError),
}

const CLIENTS: usize = 64;
const OPEN_CONNECTIONS: usize = 256;

impl Args {
    /// What was asked for; bounds are checked when the run starts.
    pub(crate) fn config(&self) -> Result<LoadConfig, ArgsError> {
        let default_connections = if self.rate.is_some() { OPEN_CONNECTIONS } else { CLIENTS };
        Ok(LoadConfig {
            target: resolve(&self.target)?,
            host: self.host.clone(),
            workload: self.workload()?,
            arrivals: self.arrivals(),
            connections: self.connections.unwrap_or(default_connections),
            warm_up: time("warm-up-s", self.warm_up_s, 1.0)?,
            duration: time("seconds", self.seconds, 1.0)?,
            max_requests: self.requests,
            request_timeout: time("timeout-ms", self.timeout_ms, 1e-3)?,
            max_lag: time("max-lag-ms", self.max_lag_ms, 1e-3)?,
            warming: self.warm,
            arrival_seed: self.seed.unwrap_or(1),
        })
    }

    fn arrivals(&self) -> Arrivals {
        match (self.rate, self.arrivals) {
            (None, _) => Arrivals::Closed,
            (Some(rate), ArrivalKind::Poisson) => Arrivals::Poisson { rate },
            (Some(rate), ArrivalKind::Constant) => Arrivals::Constant { rate },
        }
    }

    fn workload(&self) -> Result<WorkloadSpec, ArgsError> {
        let mut spec = match &self.workload {
            Some(path) => read_workload(path)?,
            None => self.zipf(),
        };
        spec.seed = self.seed.unwrap_or(spec.seed);
        Ok(spec)
    }

    fn zipf(&self) -> WorkloadSpec {
        WorkloadSpec {
            keys: KeySpec::Zipf {
                count: self.keys,
                alpha: self.alpha,
                ramp: None,
                reshuffle_s: (self.reshuffle_s != 0.0).then_some(self.reshuffle_s),
            },
            read_fraction: self.read_fraction,
            value_bytes: ValueBytes { min: 128, max: 128 },
            ..WorkloadSpec::default()
        }
    }
}

fn resolve(target: &str) -> Result<SocketAddr, ArgsError> {
    let failed = |source| ArgsError::Target { target: target.to_owned(), source };
    let first = target.to_socket_addrs().map_err(failed)?.next();
    first.ok_or_else(|| ArgsError::NoAddress { target: target.to_owned() })
}

fn read_workload(path: &Path) -> Result<WorkloadSpec, ArgsError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ArgsError::WorkloadUnreadable { path: path.into(), source })?;
    Ok(WorkloadSpec::from_json(&text)?)
}

fn time(option: &'static str, value: f64, unit_s: f64) -> Result<Duration, ArgsError> {
    let seconds = value * unit_s;
    if (0.0..=86_400.0).contains(&seconds) {
        return Ok(Duration::from_secs_f64(seconds));
    }
    Err(ArgsError::Time { option, value })
}
