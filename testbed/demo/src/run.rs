use std::process::ExitCode;
use std::time::Duration;

use rudolph_cluster::{Cluster, ClusterError, ServerSettings};
use rudolph_load_generator::{LoadConfig, LoadError, LoadRun, Phase, Snapshot};
use rudolph_workload::{KeySpec, SpecError, WorkloadSpec};

use crate::filter_state::FilterWatch;
use crate::intro;
use crate::options::Options;
use crate::plain_hashing::PlainHashing;
use crate::screen::Screen;
use crate::second::{Second, ServerSecond};
use crate::signals::Signals;
use crate::style::Style;
use crate::summary::summary;
use crate::{table, warm};

const WORKERS: u32 = 2;
/// As in the shipped configuration, so that `make top` finds it; another one if that is taken.
const STATUS_PORT: u16 = 9902;
/// Slow enough that the servers' slots are the limit, and not the cores of a laptop that runs all of it.
const SLOTS: u32 = 4;
const HIT: Duration = Duration::from_millis(4);
const MISS: Duration = Duration::from_millis(20);
/// Share of all keys that fit into all caches together: about nine requests in ten are hits at the default skew.
const CACHED_SHARE: f64 = 0.6;
/// The filter finds the hot keys before anything counts, in runs that are long enough.
const WARM_UP: Duration = Duration::from_secs(1);
/// "Until Ctrl-C", to the load generator.
const LONGEST: Duration = Duration::from_secs(86_400);

#[derive(Debug, thiserror::Error)]
pub(crate) enum DemoError {
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error(transparent)]
    Workload(#[from] SpecError),
    #[error("load generator: {0}")]
    Load(#[from] LoadError),
    #[error("the terminal or the system: {0}")]
    Io(#[from] std::io::Error),
}

impl DemoError {
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == std::io::ErrorKind::BrokenPipe)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Ran,
    InterruptedAtStart,
}

impl Ending {
    pub(crate) fn exit_code(self) -> ExitCode {
        match self {
            Self::Ran => ExitCode::SUCCESS,
            // What a shell reports for a program that Ctrl-C ended.
            Self::InterruptedAtStart => ExitCode::from(130),
        }
    }
}

pub(crate) fn run(options: &Options) -> Result<Ending, DemoError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(demo(options))
}

async fn demo(options: &Options) -> Result<Ending, DemoError> {
    let mut signals = Signals::catch()?;
    let style = Style::of_terminal();
    let mut screen = Screen::of_terminal();
    let settings = server_settings(options);
    // A mistake in the options shows before anything is started.
    let workload = workload(options);
    workload.validate()?;
    screen.say(&[intro::heading(style, options)])?;
    let mut cluster = tokio::select! {
        started = start(options, &settings) => started?,
        () = signals.received() => return Ok(Ending::InterruptedAtStart),
    };
    screen.say(&intro::intro(options, WORKERS, &settings, &cluster))?;
    let mut plain = PlainHashing::new(&workload, usize::from(options.servers))?;
    let mut plain_peaks = Vec::new();
    let mut watch = FilterWatch::default();
    let config = load_config(options, workload, &cluster);
    screen.draw(&["filling the caches ...".to_owned()])?;
    tokio::select! {
        warmed = warm::fill(&config) => warmed?,
        () = signals.received() => return Ok(Ending::InterruptedAtStart),
    }
    let load = LoadRun::start(config)?;
    let mut snapshots = load.snapshots();
    let stopper = load.stopper();
    let (mut errors, mut drawn) = (0, None);
    loop {
        tokio::select! {
            changed = snapshots.changed() => if changed.is_err() { break },
            () = signals.received() => { stopper.stop(); break }
        }
        let snapshot = snapshots.borrow_and_update().clone();
        let Some(snapshot) = snapshot else {
            continue;
        };
        // The last one comes once more when the run ends.
        if drawn.replace(snapshot.second) == Some(snapshot.second) {
            continue;
        }
        errors += snapshot.error_count();
        cluster.check_running()?;
        let plain_peak = plain.peak_over_mean(snapshot.second);
        if snapshot.phase == Phase::Measure {
            plain_peaks.push(plain_peak);
        }
        let second =
            Second { plain_peak, errors, ..second(options, &cluster, &snapshot, &mut watch).await };
        screen.draw(&table::render(&second, style))?;
    }
    let report = load.finish_anyway().await?;
    drop(cluster);
    screen.say(&summary(&report, &plain_peaks, &report.void))?;
    Ok(Ending::Ran)
}

fn server_settings(options: &Options) -> ServerSettings {
    let cached = options.keys as f64 * CACHED_SHARE / f64::from(options.servers);
    ServerSettings {
        slots: SLOTS,
        hit: HIT,
        miss: MISS,
        cache_entries: (cached.ceil() as u64).max(1),
        extra: Vec::new(),
    }
}

async fn start(options: &Options, settings: &ServerSettings) -> Result<Cluster, ClusterError> {
    let builder = Cluster::builder()
        .servers(usize::from(options.servers))
        .server_settings(settings.clone())
        .concurrency(WORKERS);
    let builder = match options.strategy.baseline() {
        Some(policy) => builder.baseline(policy),
        // The keys are the demo's own, so they may be seen.
        None => builder
            .strategy(options.strategy.name())
            .filter_field("clear_keys", true)
            .status_field("title", "Rudolph demo")
            .status_port(STATUS_PORT),
    };
    builder.start().await
}

fn workload(options: &Options) -> WorkloadSpec {
    let reshuffle_s = (options.reshuffle_seconds != 0.0).then_some(options.reshuffle_seconds);
    let keys = KeySpec::Zipf { count: options.keys, alpha: options.alpha, ramp: None, reshuffle_s };
    WorkloadSpec { seed: options.seed, keys, ..WorkloadSpec::default() }
}

fn load_config(options: &Options, workload: WorkloadSpec, cluster: &Cluster) -> LoadConfig {
    let total =
        if options.seconds == 0 { LONGEST - WARM_UP } else { Duration::from_secs(options.seconds) };
    let warm_up = if total > 2 * WARM_UP { WARM_UP } else { Duration::ZERO };
    LoadConfig {
        workload,
        connections: usize::from(options.clients),
        warm_up,
        duration: total - warm_up,
        ..LoadConfig::new(cluster.envoy_address())
    }
}

async fn second(
    options: &Options,
    cluster: &Cluster,
    snapshot: &Snapshot,
    watch: &mut FilterWatch,
) -> Second {
    let filter = match options.strategy.baseline() {
        Some(_) => None,
        // A page that fails once is no reason to end: the line shows dashes.
        None => Some(watch.state(&cluster.filter_stats().await.unwrap_or_default())),
    };
    let answered = snapshot.requests > 0;
    Second {
        elapsed: Duration::from_secs(snapshot.second + 1),
        total: (options.seconds > 0).then(|| Duration::from_secs(options.seconds)),
        strategy: options.strategy.name().to_owned(),
        clients: usize::from(options.clients),
        servers: cluster
            .server_addresses()
            .iter()
            .map(|address| row(&address.to_string(), snapshot))
            .collect(),
        hit_percent: answered.then(|| snapshot.hit_percent()),
        p99_ms: answered.then_some(snapshot.latency.p99_ms),
        errors: 0,
        plain_peak: 0.0,
        filter,
    }
}

fn row(name: &str, snapshot: &Snapshot) -> ServerSecond {
    let found = snapshot.servers.iter().find(|server| server.server == name);
    let answered = found.filter(|server| server.requests > 0);
    ServerSecond {
        name: name.to_owned(),
        rate: answered.map_or(0.0, |server| server.requests as f64),
        hit_percent: answered.map(rudolph_load_generator::ServerSecond::hit_percent),
        p99_ms: answered.map(|server| server.latency.p99_ms),
    }
}
