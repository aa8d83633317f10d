//! Range scans in real Envoy: what a scan asks for and what it costs, by ranges and by any number of buckets.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    time::{Duration, Instant},
};

use rudolph_cluster::Cluster;
use rudolph_load_generator::{Arrivals, LoadConfig, LoadRun, encode_key};
use rudolph_workload::{KeySpec, Ranges, SplitMix64, WorkloadSpec};
use tokio::task::JoinSet;

use super::{
    Layout, Piece, Placement, Plan, SequentialError, envoy,
    link::{self, Link},
    model::ScanModel,
    placement::{SPAN, writes},
    raw::{Scans, rounded},
};
use crate::machine::ProcessorTime;

const LONGEST_LOADING: Duration = Duration::from_secs(60);
const LOADING_CLIENTS: usize = 64;
const SEED: u64 = 1;

/// A table that lies in the cluster.
#[derive(Debug, Clone)]
struct Table {
    layout: Layout,
    buckets: u32,
    /// The first of its numbers.
    first: u64,
}

/// All scans of the plan; `told` hears of each row.
pub(super) async fn run_all(
    plan: &Plan,
    mut told: impl FnMut(&Scans),
) -> Result<Vec<Scans>, SequentialError> {
    let scans = &plan.scans;
    let ranges = Ranges::even(scans.table, scans.servers);
    let ranges = Table { layout: Layout::Ranges(ranges), buckets: 0, first: 0 };
    let bucketed = scans.buckets.iter().zip(1..).map(|(&buckets, place)| Table {
        layout: Layout::Buckets(buckets),
        buckets,
        // Each bucket count has numbers of its own: a bucket of one must not hold keys of another.
        first: place * SPAN,
    });
    let clusters = [(Placement::Range, vec![ranges]), (Placement::Hash10, bucketed.collect())];
    let mut rows = Vec::new();
    for (placement, tables) in clusters {
        let mut cluster = envoy::start(plan, placement, scans.servers, scans.table).await?;
        for table in tables {
            fill(&cluster, &table, scans.table).await?;
            for &length in &scans.lengths {
                for &scanners in &scans.scanners {
                    cluster.check_running()?;
                    let row = measure(plan, &cluster, &table, length, scanners).await?;
                    told(&row);
                    rows.push(row);
                }
            }
        }
    }
    Ok(rows)
}

/// Writes the table through the gateway, at the servers' full speed.
async fn fill(cluster: &Cluster, table: &Table, keys: u64) -> Result<(), SequentialError> {
    let buckets = (table.buckets > 0).then_some(table.buckets);
    let count = KeySpec::Sequential { count: keys, first: table.first, buckets };
    let config = LoadConfig {
        workload: WorkloadSpec { keys: count, ..writes(table.first, buckets, SEED) },
        arrivals: Arrivals::Closed,
        connections: LOADING_CLIENTS,
        warm_up: Duration::ZERO,
        duration: LONGEST_LOADING,
        max_requests: Some(keys),
        ..LoadConfig::new(cluster.envoy_address())
    };
    let report = LoadRun::start(config)?.finish_anyway().await?;
    if report.error_count > 0 {
        let reason = format!("{} of {keys} keys were not written", report.error_count);
        return Err(SequentialError::Server { target: cluster.envoy_address(), reason });
    }
    Ok(())
}

async fn measure(
    plan: &Plan,
    cluster: &Cluster,
    table: &Table,
    length: u64,
    scanners: usize,
) -> Result<Scans, SequentialError> {
    let servers = cluster.server_addresses();
    let (before, work_before) = (ProcessorTime::now(), seconds_in_slots(&servers).await?);
    let started = Instant::now();
    let end = started + Duration::from_secs(plan.scans.seconds);
    let mut tasks = JoinSet::new();
    for scanner in 0..scanners {
        let client = Scanner {
            target: cluster.envoy_address(),
            links: Vec::new(),
            table: table.clone(),
            keys: plan.scans.table,
            length,
            rng: SplitMix64::for_purpose(SEED, 100 + scanner as u64),
        };
        tasks.spawn(client.scan_until(end));
    }
    let mut all: Vec<Scanned> = Vec::new();
    while let Some(done) = tasks.join_next().await {
        let lost = |_| SequentialError::Server {
            target: cluster.envoy_address(),
            reason: "a scanner panicked".to_owned(),
        };
        all.extend(done.map_err(lost)??);
    }
    let seconds = started.elapsed().as_secs_f64();
    let busy = before.zip(ProcessorTime::now());
    let work_s = seconds_in_slots(&servers).await? - work_before;
    let busy = busy.map_or(0.0, |(start, end)| end.busy_percent_since(start));
    let model = ScanModel::of(plan, &table.layout);
    Ok(row(plan, table, (length, scanners), &Sums::of(all), (seconds, work_s, busy), &model))
}

fn row(
    plan: &Plan,
    table: &Table,
    (length, scanners): (u64, usize),
    sums: &Sums,
    (seconds, work_s, busy): (f64, f64, f64),
    model: &ScanModel,
) -> Scans {
    let count = sums.latencies_ms.len().max(1) as f64;
    let layout = match table.buckets {
        0 => "range".to_owned(),
        buckets => buckets.to_string(),
    };
    let expected = model.scan(length);
    Scans {
        layout,
        buckets: table.buckets,
        servers: plan.scans.servers,
        length,
        scanners,
        scans: sums.latencies_ms.len() as u64,
        scans_per_s: rounded(count / seconds),
        mean_ms: rounded(sums.latencies_ms.iter().sum::<f64>() / count),
        p99_ms: rounded(quantile(&sums.latencies_ms, 0.99)),
        requests_a_scan: rounded(sums.requests / count),
        servers_a_scan: rounded(sums.servers / count),
        work_ms_a_scan: rounded(work_s * 1e3 / count),
        model_work_ms: rounded(expected.work_ms),
        model_ms: rounded(expected.alone_ms),
        model_scans_per_s: rounded(expected.most_per_s),
        machine_busy_percent: rounded(busy),
    }
}

/// One scan that was answered rightly.
#[derive(Debug)]
struct Scanned {
    latency_ms: f64,
    requests: usize,
    servers: usize,
}

#[derive(Debug, Default)]
struct Sums {
    /// Rising.
    latencies_ms: Vec<f64>,
    requests: f64,
    servers: f64,
}

impl Sums {
    fn of(all: Vec<Scanned>) -> Self {
        let mut sums = Self::default();
        for scanned in all {
            sums.latencies_ms.push(scanned.latency_ms);
            sums.requests += scanned.requests as f64;
            sums.servers += scanned.servers as f64;
        }
        sums.latencies_ms.sort_by(f64::total_cmp);
        sums
    }
}

fn quantile(rising: &[f64], quantile: f64) -> f64 {
    let place = (rising.len() as f64 * quantile).ceil() as usize;
    rising.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// One client: a scan after the other, all pieces of one at once, each on a connection of its own.
struct Scanner {
    target: SocketAddr,
    links: Vec<Link>,
    table: Table,
    keys: u64,
    length: u64,
    rng: SplitMix64,
}

impl Scanner {
    async fn scan_until(mut self, end: Instant) -> Result<Vec<Scanned>, SequentialError> {
        let mut all = Vec::new();
        while Instant::now() < end {
            let from = self.table.first + self.rng.next_below(self.keys - self.length + 1);
            all.push(self.scan(from).await?);
        }
        Ok(all)
    }

    async fn scan(&mut self, from: u64) -> Result<Scanned, SequentialError> {
        let to = from + self.length;
        let pieces = self.table.layout.pieces(from, to);
        let requests = pieces.len();
        let started = Instant::now();
        let mut tasks = JoinSet::new();
        for piece in pieces {
            let link = match self.links.pop() {
                Some(link) => link,
                None => Link::open(self.target).await?,
            };
            tasks.spawn(ask(link, piece));
        }
        let (mut numbers, mut servers) = (Vec::new(), BTreeSet::new());
        while let Some(done) = tasks.join_next().await {
            let lost = |_| self.failed("a piece of a scan panicked".to_owned());
            let (link, found, server) = done.map_err(lost)??;
            self.links.push(link);
            numbers.extend(found);
            servers.insert(server);
        }
        let latency_ms = started.elapsed().as_secs_f64() * 1e3;
        // The client's part of the price: what comes from several buckets is in no order.
        numbers.sort_unstable();
        if !numbers.iter().copied().eq(from..to) {
            let found = numbers.len();
            return Err(self.failed(format!("the scan of {from}..{to} found {found} other keys")));
        }
        Ok(Scanned { latency_ms, requests, servers: servers.len() })
    }

    fn failed(&self, reason: String) -> SequentialError {
        SequentialError::Server { target: self.target, reason }
    }
}

async fn ask(mut link: Link, piece: Piece) -> Result<(Link, Vec<u64>, String), SequentialError> {
    let (mut path, mut to) = (Vec::new(), Vec::new());
    encode_key(&piece.from, &mut path);
    encode_key(&piece.to, &mut to);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (key, to) = (text(&path), text(&to));
    let answer = link.get(&format!("/kv/{key}?to={to}"), &key).await?;
    if answer.status != 200 {
        let reason = format!("{} for a scan from {key}: {}", answer.status, text(&answer.body));
        return Err(SequentialError::Server { target: link.target(), reason });
    }
    let numbers = answer.body.split(|byte| *byte == b'\n').filter_map(number_of);
    Ok((link, numbers.collect(), answer.server))
}

/// The digits at the end of a key.
fn number_of(key: &[u8]) -> Option<u64> {
    let start = key.iter().rposition(|byte| *byte == b'k')? + 1;
    std::str::from_utf8(&key[start..]).ok()?.parse().ok()
}

/// Time that requests have spent in the slots of all servers, as they count it.
async fn seconds_in_slots(servers: &[SocketAddr]) -> Result<f64, SequentialError> {
    let mut sum = 0.0;
    for &target in servers {
        sum += link::metric(target, "rudolph_app_service_seconds_sum").await?;
    }
    Ok(sum)
}
