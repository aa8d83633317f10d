//! The shipped configuration under load, while servers die, drain, return and join. Reads only: requests that may be sent
//! twice must not fail.

use std::time::Duration;

use rudolph_cluster::{Cluster, ClusterError, ServerSettings};
use rudolph_load_generator::{LoadConfig, LoadError, LoadRun, Report, Snapshot};
use rudolph_workload::{KeySpec, WorkloadSpec};

type Failure = Box<dyn std::error::Error>;

/// Load that the servers carry with one of them gone, and that leaves the cores of a small machine time to breathe.
fn load(cluster: &Cluster) -> Result<LoadRun, LoadError> {
    let keys = KeySpec::Zipf { count: 2_000, alpha: 1.0, ramp: None, reshuffle_s: None };
    LoadRun::start(LoadConfig {
        workload: WorkloadSpec { keys, ..WorkloadSpec::default() },
        connections: 16,
        warm_up: Duration::ZERO,
        duration: Duration::from_secs(60),
        ..LoadConfig::new(cluster.envoy_address())
    })
}

/// What happened, whether or not the machine was quick enough for the times to mean anything.
async fn stop(load: LoadRun) -> Result<Report, LoadError> {
    load.stopper().stop();
    match load.finish().await {
        Err(LoadError::Bottleneck { report, .. }) => Ok(*report),
        other => other,
    }
}

async fn cluster(strategy: &str) -> Result<Cluster, Failure> {
    let settings = ServerSettings {
        hit: Duration::from_millis(4),
        miss: Duration::from_millis(10),
        ..ServerSettings::default()
    };
    let builder = Cluster::builder().servers(5).server_settings(settings).concurrency(2);
    Ok(builder.strategy(strategy).start().await?)
}

/// The very last second was cut short.
fn last_whole_second(report: &Report) -> Result<&Snapshot, Failure> {
    let whole = report.timeline.iter().rev().nth(1);
    whole.ok_or_else(|| "the run was too short".into())
}

async fn pause(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test]
async fn a_killed_server_fails_no_request_and_comes_back() -> Result<(), Failure> {
    let mut cluster = cluster("spread").await?;
    let load = load(&cluster)?;
    pause(2).await;
    cluster.kill_server(2)?;
    pause(4).await;
    cluster.restart_server(2).await?;
    pause(4).await;
    let report = stop(load).await?;
    assert!(report.errors.is_empty(), "{:?}", report.errors);
    assert!(report.requests > 1_000, "{}", report.requests);
    let last = last_whole_second(&report)?;
    assert!(last.servers.iter().all(|server| server.requests > 0), "all five work again: {last:?}");
    Ok(())
}

#[tokio::test]
async fn a_server_that_drains_and_one_that_joins_fail_no_request() -> Result<(), Failure> {
    let mut cluster = cluster("rotation").await?;
    let load = load(&cluster)?;
    pause(2).await;
    cluster.drain_server(0).await?;
    let added = cluster.add_server().await?;
    let joined = cluster.server_addresses()[added].to_string();
    pause(4).await;
    let report = stop(load).await?;
    assert!(report.errors.is_empty(), "{:?}", report.errors);
    let last = last_whole_second(&report)?;
    assert!(last.servers.iter().any(|server| server.server == joined), "{joined}: {last:?}");
    Ok(())
}

#[tokio::test]
async fn reloads_of_the_filter_fail_no_request() -> Result<(), Failure> {
    let mut cluster = cluster("spread").await?;
    let load = load(&cluster)?;
    let config = cluster.filter_config().ok_or("no filter")?.clone();
    for strategy in ["rotation", "pin", "bogus", "lpt", "static", "", "spread"] {
        let mut config = config.clone();
        config["strategy"] = strategy.into();
        let taken = match cluster.reload_filter_config(&config.to_string()).await {
            Ok(()) => true,
            Err(ClusterError::Refused { .. }) => false,
            Err(other) => return Err(other.into()),
        };
        assert_eq!(taken, !matches!(strategy, "bogus" | ""), "{strategy:?}");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let report = stop(load).await?;
    assert!(report.errors.is_empty(), "{:?}", report.errors);
    Ok(())
}
