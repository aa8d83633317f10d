//! Load from the real generator, for tests of what happens under it and not of how fast that is.

use std::time::Duration;

use rudolph_cluster::Cluster;
use rudolph_load_generator::{LoadConfig, LoadError, LoadRun, Report};
use rudolph_workload::{KeySpec, WorkloadSpec};

use super::Failure;

/// Bounds a test that hangs; each stops its load itself.
const LONGEST: Duration = Duration::from_secs(120);

pub(crate) fn zipf(count: u64, alpha: f64) -> KeySpec {
    KeySpec::Zipf { count, alpha, ramp: None, reshuffle_s: None }
}

/// Closed-loop reads.
pub(crate) fn config(cluster: &Cluster, keys: KeySpec, clients: usize, seed: u64) -> LoadConfig {
    LoadConfig {
        workload: WorkloadSpec { seed, keys, ..WorkloadSpec::default() },
        connections: clients,
        warm_up: Duration::ZERO,
        duration: LONGEST,
        ..LoadConfig::new(cluster.envoy_address())
    }
}

pub(crate) fn start(
    cluster: &Cluster,
    keys: KeySpec,
    clients: usize,
    seed: u64,
) -> Result<LoadRun, LoadError> {
    LoadRun::start(config(cluster, keys, clients, seed))
}

pub(crate) async fn stop(load: LoadRun) -> Result<Report, LoadError> {
    load.stopper().stop();
    end(load).await
}

/// What happened, whether or not the machine was quick enough for the times to mean anything.
pub(crate) async fn end(load: LoadRun) -> Result<Report, LoadError> {
    match load.finish().await {
        Err(LoadError::Bottleneck { report, .. }) => Ok(*report),
        other => other,
    }
}

pub(crate) fn no_request_failed(report: &Report) -> Result<(), Failure> {
    assert!(report.errors.is_empty(), "{:?} of {} requests", report.errors, report.requests);
    assert!(report.requests > 100, "hardly any load: {} requests", report.requests);
    Ok(())
}
