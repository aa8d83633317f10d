use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use rudolph_cluster::Cluster;
use rudolph_load_generator::{Arrivals, LoadConfig, LoadRun, Report, Snapshot};
use rudolph_workload::{KeySpec, WorkloadSpec};
use serde::Serialize;
use tokio::time::{Instant, sleep};

use super::steady::{Steadiness, steadiness};
use super::{Contender, Fault};
use crate::{ReliabilityError, planted_trap};

/// How long each part of a trial takes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Phases {
    pub before: Duration,
    pub fault: Duration,
    pub after: Duration,
    /// Requests that fill the caches, before the first trial.
    pub warming: u64,
}

impl Phases {
    pub const FULL: Self = Self {
        before: Duration::from_secs(3),
        fault: Duration::from_secs(5),
        after: Duration::from_secs(5),
        warming: 12_000,
    };
    pub const QUICK: Self = Self {
        before: Duration::from_secs(1),
        fault: Duration::from_secs(2),
        after: Duration::from_secs(1),
        warming: 2_000,
    };
}

#[derive(Clone, Debug)]
pub struct Plan {
    pub faults: Vec<Fault>,
    pub phases: Phases,
    /// Requests a second.
    pub rate: f64,
    pub seed: u64,
}

/// One fault, one contender.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    pub fault: Fault,
    pub contender: Contender,
    /// Of the fault, mending included.
    pub fault_s: f64,
    pub outcome: Outcome,
}

/// What clients saw from the beginning of a trial to its end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    pub requests: u64,
    /// By cause.
    pub errors: BTreeMap<String, u64>,
    /// Of those, in seconds in which nothing was broken.
    pub failed_outside: u64,
    pub p99_ms: f64,
    pub max_ms: f64,
    pub hit_percent: f64,
    pub steadiness: Steadiness,
    /// How much the filter's own counters rose, and Envoy's of retries, failed connects and VMs built anew. Without those that
    /// stood still or began anew with another Envoy.
    pub risen: BTreeMap<String, u64>,
}

impl Outcome {
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }

    #[must_use]
    pub fn failed_share(&self) -> f64 {
        self.failed() as f64 / (self.failed() + self.requests).max(1) as f64
    }
}

const KEYS: u64 = 3_000;
/// Requests that a server which stands still holds must not keep others from being sent.
const CONNECTIONS: usize = 2_000;
const WARM_UP: Duration = Duration::from_secs(20);

/// Tries every fault of the plan in turn on one cluster of the contender.
pub async fn run(
    contender: Contender,
    plan: &Plan,
    module: &Path,
    mut told: impl FnMut(&Trial),
) -> Result<Vec<Trial>, ReliabilityError> {
    let scratch = std::env::temp_dir().join(format!(
        "rudolph-chaos-{}-{}.wasm",
        std::process::id(),
        contender.name()
    ));
    planted_trap::plant(module, &scratch)?;
    let trials = on_one_cluster(contender, plan, &scratch, &mut told).await;
    // Best effort; what went wrong before is the news.
    let _ = std::fs::remove_file(&scratch);
    trials
}

async fn on_one_cluster(
    contender: Contender,
    plan: &Plan,
    module: &Path,
    told: &mut impl FnMut(&Trial),
) -> Result<Vec<Trial>, ReliabilityError> {
    let mut cluster = contender.builder(module).start().await?;
    let load = load(cluster.envoy_address(), plan, Duration::from_secs(60));
    LoadRun::start(load.warming(plan.phases.warming, WARM_UP))?.finish_anyway().await?;
    let mut trials = Vec::new();
    for &fault in &plan.faults {
        let trial = trial(&mut cluster, contender, fault, plan).await?;
        told(&trial);
        trials.push(trial);
    }
    Ok(trials)
}

async fn trial(
    cluster: &mut Cluster,
    contender: Contender,
    fault: Fault,
    plan: &Plan,
) -> Result<Trial, ReliabilityError> {
    settle(cluster).await?;
    let before = cluster.stats().await?;
    // Should mending take long, it is the fault that lasts longer: the load waits for its end.
    let longest = plan.phases.before + plan.phases.fault + plan.phases.after;
    let run = LoadRun::start(load(cluster.envoy_address(), plan, longest * 10))?;
    let started = Instant::now();
    sleep(plan.phases.before).await;
    let begin = started.elapsed();
    fault.happen(cluster, plan.phases.fault).await?;
    let end = started.elapsed();
    sleep(plan.phases.after).await;
    run.stopper().stop();
    let report = run.finish_anyway().await?;
    let risen = risen(&before, &cluster.stats().await?);
    let fault_s = (end - begin).as_secs_f64();
    let (begin, end) = (begin.as_secs(), end.as_secs());
    let failed_outside = failed_outside(&report.timeline, begin, end);
    let outcome = outcome(&report, steadiness(&report.timeline, begin, end));
    let outcome = Outcome { risen, failed_outside, ..outcome };
    Ok(Trial { fault, contender, fault_s, outcome })
}

/// Requests count in the second in which they ended.
fn failed_outside(seconds: &[Snapshot], begin: u64, end: u64) -> u64 {
    let outside = seconds.iter().filter(|snapshot| !(begin..=end).contains(&snapshot.second));
    outside.map(Snapshot::error_count).sum()
}

const VMS_BUILT_ANEW: &str = "wasm.rudolph.vm_reload_success";
const TELLING: [&str; 5] = [
    VMS_BUILT_ANEW,
    "wasm.rudolph.vm_reload_backoff",
    "cluster.app.upstream_rq_retry",
    "cluster.app.upstream_cx_connect_fail",
    "cluster.app.outlier_detection.ejections_enforced_total",
];

fn risen(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let tells = |name: &str| TELLING.contains(&name) || name.starts_with("wasmcustom.");
    let rise = |(name, now): (&String, &u64)| {
        let rise = now.checked_sub(before.get(name).copied().unwrap_or(0))?;
        (rise > 0 && tells(name)).then(|| (name.clone(), rise))
    };
    after.iter().filter_map(rise).collect()
}

/// What the fault before has left behind is over: every server is in use again.
async fn settle(cluster: &mut Cluster) -> Result<(), ReliabilityError> {
    let servers = cluster.server_addresses().len() as u64;
    let all = |name: &str| (name.to_owned(), servers);
    let (healthy, planned) =
        (all("cluster.app.membership_healthy"), all("wasmcustom.rudolph.servers"));
    let with_filter = cluster.filter_config().is_some();
    cluster
        .wait_for_stats("every server", Duration::from_secs(60), |stats| {
            let is = |(name, value): &(String, u64)| stats.get(name) == Some(value);
            is(&healthy) && (!with_filter || is(&planned))
        })
        .await?;
    Ok(())
}

fn load(gateway: SocketAddr, plan: &Plan, longest: Duration) -> LoadConfig {
    let keys = KeySpec::Zipf { count: KEYS, alpha: 1.0, ramp: None, reshuffle_s: None };
    LoadConfig {
        workload: WorkloadSpec { seed: plan.seed, keys, ..WorkloadSpec::default() },
        arrivals: Arrivals::Constant { rate: plan.rate },
        connections: CONNECTIONS,
        warm_up: Duration::ZERO,
        duration: longest,
        ..LoadConfig::new(gateway)
    }
}

fn outcome(report: &Report, steadiness: Steadiness) -> Outcome {
    Outcome {
        requests: report.requests,
        errors: report.errors.clone(),
        failed_outside: 0,
        p99_ms: report.latency.p99_ms,
        max_ms: report.latency.max_ms,
        hit_percent: report.hit_percent,
        steadiness,
        risen: BTreeMap::new(),
    }
}
