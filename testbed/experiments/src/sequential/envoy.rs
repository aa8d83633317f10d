//! The search in real Envoy: one cluster a search, and new keys for each probe of it.

use std::time::{Duration, Instant};

use rudolph_cluster::{Cluster, ServerSettings};
use rudolph_load_generator::{Arrivals, LoadConfig, LoadRun, Report};

use super::{
    Placement, Plan, SequentialError, link,
    placement::{SPAN, writes},
    raw::{Highest, Place, Probe, rounded},
};
use crate::machine::ProcessorTime;

/// A request that takes longer has failed, and with it its probe: the mean that is looked for is a hundredth of it.
const LONGEST: Duration = Duration::from_secs(1);
/// More of all processors than this, and they were the limit instead of the servers.
const MOST_BUSY_PERCENT: f64 = 92.0;
/// Many more than are under way while the mean is under the limit.
const CONNECTIONS: usize = 400;
const LONGEST_DRAIN: Duration = Duration::from_secs(60);
const DRAIN_POLL: Duration = Duration::from_millis(50);
/// Load before the first probe: connections are opened, hot buckets become known.
const SETTLING: Duration = Duration::from_secs(2);

/// `told` hears of each probe.
pub(super) async fn search(
    plan: &Plan,
    placement: Placement,
    servers: usize,
    repeat: u32,
    mut told: impl FnMut(&Probe),
) -> Result<(Highest, Vec<Probe>), SequentialError> {
    let mut cluster = start(plan, placement, servers, SPAN).await?;
    let mut run = Run { plan, placement, servers, repeat, first: SPAN };
    let mut search = plan.search(servers);
    let settling = SETTLING.min(Duration::from_secs(plan.seconds));
    run.load(&mut cluster, plan.capacity_rps() / 4.0, Duration::ZERO, settling).await?;
    let mut probes: Vec<Probe> = Vec::new();
    let mut tries = 1;
    while let Some(rate) = search.next_rate() {
        drained(&cluster).await?;
        let probe = run.probe(&mut cluster, rate).await?;
        told(&probe);
        let again = tries < plan.tries && says_nothing(&probe);
        tries = if again { tries + 1 } else { 1 };
        if !again {
            search.tell(probe.passed);
        }
        probes.push(probe);
    }
    let highest = Highest::of(&probes, placement, Place::Envoy, servers, repeat);
    Ok((highest, probes))
}

pub(super) async fn start(
    plan: &Plan,
    placement: Placement,
    servers: usize,
    span: u64,
) -> Result<Cluster, SequentialError> {
    let service = Duration::from_secs_f64(plan.service_ms / 1e3);
    let settings = ServerSettings {
        slots: plan.slots,
        hit: service,
        miss: service,
        cache_entries: 1_000,
        extra: vec!["--scan-row-us".to_owned(), plan.scans.row_us.to_string()],
    };
    let builder = Cluster::builder().servers(servers).server_settings(settings).concurrency(2);
    Ok(placement.enter(builder, span).start().await?)
}

/// It failed while the machine was the limit, so that is not about the servers. Who was fast enough beside a busy machine was
/// fast enough.
fn says_nothing(probe: &Probe) -> bool {
    !probe.passed && !probe.void.is_empty()
}

/// Waits until no request waits at any server: a write goes on after its client has given up, so an overload leaves more
/// than there are connections, and the next probe must not find it.
async fn drained(cluster: &Cluster) -> Result<(), SequentialError> {
    let started = Instant::now();
    let mut servers = cluster.server_addresses();
    while let Some(&target) = servers.last() {
        let waiting = link::metric(target, "rudolph_app_queue_length").await?;
        if waiting == 0.0 {
            servers.pop();
        } else if started.elapsed() > LONGEST_DRAIN {
            let reason =
                format!("{waiting} writes still wait after {LONGEST_DRAIN:?} without load");
            return Err(SequentialError::Server { target, reason });
        } else {
            tokio::time::sleep(DRAIN_POLL).await;
        }
    }
    Ok(())
}

struct Run<'a> {
    plan: &'a Plan,
    placement: Placement,
    servers: usize,
    repeat: u32,
    /// The first key of the next load.
    first: u64,
}

impl Run<'_> {
    async fn probe(&mut self, cluster: &mut Cluster, rate: f64) -> Result<Probe, SequentialError> {
        let warm_up = Duration::from_secs(self.plan.warm_up_s);
        let duration = Duration::from_secs(self.plan.seconds);
        let before = ProcessorTime::now();
        let report = self.load(cluster, rate, warm_up, duration).await?;
        let busy = before.zip(ProcessorTime::now());
        let busy_percent = busy.map_or(0.0, |(start, end)| end.busy_percent_since(start));
        let most = report.servers.iter().map(|server| server.requests).max().unwrap_or(0);
        let mut probe = Probe {
            strategy: self.placement,
            place: Place::Envoy,
            servers: self.servers,
            repeat: self.repeat + 1,
            offered_rps: rounded(rate),
            rps: rounded(report.rps),
            mean_ms: rounded(report.latency.mean_ms),
            p99_ms: rounded(report.latency.p99_ms),
            errors: report.error_count,
            busiest_percent: rounded(100.0 * most as f64 / report.requests.max(1) as f64),
            passed: false,
            machine_busy_percent: rounded(busy_percent),
            void: void(&report, busy_percent),
        };
        probe.judge(self.plan.limit_ms);
        Ok(probe)
    }

    async fn load(
        &mut self,
        cluster: &mut Cluster,
        rate: f64,
        warm_up: Duration,
        duration: Duration,
    ) -> Result<Report, SequentialError> {
        let seed = u64::from(self.repeat) + 1;
        let first = self.first;
        self.first += SPAN;
        cluster.check_running()?;
        let config = LoadConfig {
            workload: writes(first, self.placement.buckets(self.servers), seed),
            arrivals: Arrivals::Poisson { rate },
            arrival_seed: seed + first,
            connections: CONNECTIONS,
            warm_up,
            duration,
            request_timeout: LONGEST,
            ..LoadConfig::new(cluster.envoy_address())
        };
        Ok(LoadRun::start(config)?.finish_anyway().await?)
    }
}

fn void(report: &Report, busy_percent: f64) -> String {
    let mut reasons: Vec<String> =
        report.void.iter().map(|reason| format!("the load generator: {reason}")).collect();
    if busy_percent > MOST_BUSY_PERCENT {
        reasons.push(format!("the machine's processors were {busy_percent:.0}% busy"));
    }
    reasons.join("; ")
}
