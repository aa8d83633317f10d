//! What the tests of a cluster share. Each uses its part of it.
#![allow(dead_code)]

pub(crate) mod app_server;
pub(crate) mod client;
pub(crate) mod load;

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

use client::{Request, ask};
use rudolph_cluster::{Builder, Cluster, ServerSettings, StubServers};
use rudolph_core::router::Outcome;

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;
pub(crate) type Stats = BTreeMap<String, u64>;

pub(crate) const STRATEGIES: [&str; 5] = ["spread", "pin", "rotation", "lpt", "static"];

/// Generous: a test that passes does not wait so long, however busy the machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);
const POLL: Duration = Duration::from_millis(50);
/// Connections enough that each of two workers has some, save once in a million runs.
const EVERY_WORKER: u64 = 21;

/// Two workers before servers inside the test, which tell what they were sent.
pub(crate) fn before_stubs(stubs: &StubServers) -> Builder {
    Cluster::builder()
        .external_servers(stubs.addresses().to_vec())
        .concurrency(2)
        .debug_header(true)
        .patience(PATIENCE)
}

/// The default without copies: a test that asks for the same few keys again and again would make them hot.
pub(crate) fn without_copies(builder: Builder) -> Builder {
    builder.filter_field("spread", serde_json::json!({ "hot_keys": false }))
}

/// Two workers before five real servers, on which a request takes as long as it is told, hit or miss.
pub(crate) fn before_servers(service: Duration) -> Builder {
    app_server::is_built();
    let settings = ServerSettings { hit: service, miss: service, ..ServerSettings::default() };
    let builder = Cluster::builder().servers(5).server_settings(settings);
    builder.concurrency(2).debug_header(true).patience(PATIENCE)
}

/// Starts the cluster and waits until every worker routes: for a moment after the first has a plan, others have none.
pub(crate) async fn start(builder: Builder) -> Result<Cluster, Failure> {
    let cluster = builder.start().await?;
    let asked = eventually("every worker routes", async || {
        let before = cluster.filter_stats().await?;
        for number in 0..EVERY_WORKER {
            ask(cluster.envoy_address(), &Request::for_key(&format!("start-{number}"))).await?;
        }
        let after = wait_for_filter(&cluster, "all counted", |stats| {
            requests(stats) >= requests(&before) + EVERY_WORKER
        });
        let after = after.await?;
        let still = |none: &str| after[none] == before[none];
        let routed = still("rudolph.requests.no_plan") && still("rudolph.requests.no_server");
        if routed { Ok(()) } else { Err("some have no plan, or one without servers".into()) }
    });
    asked.await?;
    Ok(cluster)
}

/// Requests of any outcome, as far as the workers have told.
pub(crate) fn requests(stats: &Stats) -> u64 {
    let names = Outcome::ALL.map(|outcome| format!("rudolph.requests.{}", outcome.name()));
    names.iter().filter_map(|name| stats.get(name)).sum()
}

/// Another seed each time; the failing test's output names it, and `RUDOLPH_SEED` repeats it.
pub(crate) fn seed() -> u64 {
    let given = std::env::var("RUDOLPH_SEED").ok().and_then(|seed| seed.parse().ok());
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let seed = given.unwrap_or_else(|| clock.map_or(1, |time| u64::from(time.subsec_nanos())));
    println!("repeat with RUDOLPH_SEED={seed}");
    seed
}

/// Different keys, and different ones under another seed.
pub(crate) fn keys(seed: u64, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("key-{seed}-{number}")).collect()
}

/// Tries until it succeeds, and fails with the last reason when patience ends.
pub(crate) async fn eventually<T>(
    goal: &str,
    mut attempt: impl AsyncFnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match attempt().await {
            Ok(reached) => return Ok(reached),
            Err(error) if Instant::now() > deadline => {
                return Err(format!("{goal}: not in {} s: {error}", PATIENCE.as_secs()).into());
            }
            Err(_) => tokio::time::sleep(POLL).await,
        }
    }
}

/// Waits until the filter's metrics fulfil a condition, and returns them.
pub(crate) async fn wait_for_filter(
    cluster: &Cluster,
    goal: &str,
    mut reached: impl FnMut(&Stats) -> bool,
) -> Result<Stats, Failure> {
    eventually(goal, async || {
        let stats = cluster.filter_stats().await?;
        if reached(&stats) { Ok(stats) } else { Err(format!("{stats:?}").into()) }
    })
    .await
}

/// Asserts that every one of `workers` threads has taken connections.
pub(crate) async fn all_workers_took_part(
    cluster: &Cluster,
    workers: usize,
) -> Result<(), Failure> {
    let stats = cluster.stats().await?;
    for worker in 0..workers {
        let own = format!("worker_{worker}.downstream_cx_total");
        let taken =
            stats.iter().find(|(name, _)| name.starts_with("listener.") && name.ends_with(&own));
        assert!(taken.is_some_and(|(_, count)| *count > 0), "worker {worker} took no connection");
    }
    Ok(())
}
