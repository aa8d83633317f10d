use std::net::SocketAddr;
use std::time::Duration;

use rudolph_load_generator::{LoadConfig, LoadError, LoadRun, Report};
use rudolph_workload::{KeySpec, WorkloadSpec};

use crate::Failure;

/// Ends by itself even if nobody stops it.
const LONGEST: Duration = Duration::from_secs(300);

/// Reads from the testbed's load generator while something else happens.
#[derive(Debug)]
pub struct BackgroundLoad(LoadRun);

impl BackgroundLoad {
    /// Closed loop: each client sends its next request when it has the answer to the last.
    pub fn start(gateway: SocketAddr, clients: usize, seed: u64) -> Result<Self, LoadError> {
        let keys = KeySpec::Zipf { count: 10_000, alpha: 1.0, ramp: None, reshuffle_s: None };
        let run = LoadRun::start(LoadConfig {
            workload: WorkloadSpec { seed, keys, ..WorkloadSpec::default() },
            connections: clients,
            warm_up: Duration::ZERO,
            duration: LONGEST,
            ..LoadConfig::new(gateway)
        })?;
        Ok(Self(run))
    }

    /// Ends it. How fast it was says little on a busy machine; what was lost does.
    pub async fn stop(self) -> Result<Report, LoadError> {
        self.0.stopper().stop();
        self.0.finish_anyway().await
    }

    /// Ends it, and fails if a request did.
    pub async fn stop_without_loss(self) -> Result<Report, Failure> {
        let report = self.stop().await?;
        let enough = report.requests >= 100;
        Failure::unless(enough, "requests sent", "100 or more", report.requests)?;
        let lost = format!("{:?} of {} requests", report.errors, report.requests);
        Failure::unless(report.errors.is_empty(), "requests that failed", "none", lost)?;
        Ok(report)
    }
}
