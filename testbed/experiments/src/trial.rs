//! One contender, one repeat: a fresh cluster, warm caches, load, what happens meanwhile, and what was measured.

use std::time::Duration;

use rudolph_cluster::{Cluster, ClusterError};
use rudolph_load_generator::{Arrivals, LoadConfig, LoadError, LoadRun, Report, Snapshot};
use rudolph_workload::WorkloadSpec;

use crate::{
    Action, Contender, Event, Load, Metric, Spec,
    machine::ProcessorTime,
    number::mean,
    seconds::{Second, Seconds},
};

/// What one run measured.
#[derive(Debug, Clone)]
pub struct Trial {
    pub contender: Contender,
    /// From 0.
    pub repeat: u32,
    pub seed: u64,
    pub values: Vec<(Metric, f64)>,
    pub machine_busy_percent: f64,
    pub generator_cpu_percent: f64,
    pub generator_lag_p99_ms: f64,
    /// Not empty: the machine was the limit, and the figures are about it.
    pub void: Vec<String>,
    pub seconds: Seconds,
}

impl Trial {
    /// NaN for what was not measured.
    #[must_use]
    pub fn value(&self, metric: Metric) -> f64 {
        let found = self.values.iter().find(|(name, _)| *name == metric);
        found.map_or(f64::NAN, |&(_, value)| value)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    #[error("{contender}: {source}")]
    Cluster { contender: Contender, source: ClusterError },
    #[error("{contender}: load generator: {source}")]
    Load { contender: Contender, source: LoadError },
    #[error("{contender}: no request was answered well: {errors}")]
    NothingAnswered { contender: Contender, errors: String },
}

/// More of all processors than this, and they were the limit instead of the servers.
const MOST_BUSY_PERCENT: f64 = 92.0;
const LONGEST_WARMING: Duration = Duration::from_secs(120);
/// Open loop: as many requests may be under way before one waits for a connection, on the record.
const OPEN_CONNECTIONS: usize = 1_000;

/// Runs it; `watch` sees each second.
pub async fn run(
    spec: &Spec,
    contender: &Contender,
    repeat: u32,
    watch: impl FnMut(&Snapshot),
) -> Result<Trial, TrialError> {
    let failed = |source| TrialError::Cluster { contender: contender.clone(), source };
    let overloaded = |source| TrialError::Load { contender: contender.clone(), source };
    let builder = Cluster::builder()
        .servers(spec.servers.count)
        .server_settings(spec.server_settings())
        .concurrency(spec.servers.workers);
    let mut cluster = contender.enter(builder).start().await.map_err(failed)?;
    let workload = spec.workload_of(repeat);
    warm(&cluster, &spec.load, &workload).await.map_err(overloaded)?;
    let config = load_config(&cluster, &spec.load, workload);
    let mut course = Course { spec, cluster: &mut cluster, watch };
    let (report, busy_percent) = course.follow(config).await.map_err(|error| match error {
        CourseError::Cluster(source) => failed(source),
        CourseError::Load(source) => overloaded(source),
    })?;
    if report.requests == 0 {
        let errors = report.errors.iter().map(|(cause, count)| format!("{cause} {count}"));
        let errors = errors.collect::<Vec<_>>().join(", ");
        return Err(TrialError::NothingAnswered { contender: contender.clone(), errors });
    }
    Ok(trial(spec, contender, repeat, &report, busy_percent))
}

/// Fills the caches by the workload itself, drawn anew, at the machine's own speed.
async fn warm(cluster: &Cluster, load: &Load, workload: &WorkloadSpec) -> Result<(), LoadError> {
    if load.warm_requests == 0 {
        return Ok(());
    }
    let config =
        LoadConfig { workload: workload.clone(), ..LoadConfig::new(cluster.envoy_address()) };
    let config = config.warming(load.warm_requests, LONGEST_WARMING);
    LoadRun::start(config)?.finish_anyway().await.map(|_| ())
}

fn load_config(cluster: &Cluster, load: &Load, workload: WorkloadSpec) -> LoadConfig {
    let arrivals = load.rate.map_or(Arrivals::Closed, |rate| Arrivals::Poisson { rate });
    LoadConfig {
        arrival_seed: workload.seed,
        workload,
        arrivals,
        connections: load.clients.unwrap_or(OPEN_CONNECTIONS),
        warm_up: Duration::from_secs(load.warm_up_s),
        duration: Duration::from_secs(load.seconds),
        ..LoadConfig::new(cluster.envoy_address())
    }
}

/// The load on its way, with what happens to the servers meanwhile.
struct Course<'a, W> {
    spec: &'a Spec,
    cluster: &'a mut Cluster,
    watch: W,
}

enum CourseError {
    Cluster(ClusterError),
    Load(LoadError),
}

impl From<ClusterError> for CourseError {
    fn from(error: ClusterError) -> Self {
        Self::Cluster(error)
    }
}

impl<W: FnMut(&Snapshot)> Course<'_, W> {
    /// The generator's report, and how busy the machine was in the measured window.
    async fn follow(&mut self, config: LoadConfig) -> Result<(Report, f64), CourseError> {
        let mut events = self.spec.events.iter().peekable();
        let run = LoadRun::start(config).map_err(CourseError::Load)?;
        let mut snapshots = run.snapshots();
        let mut start = None;
        let mut seen = None;
        while snapshots.changed().await.is_ok() {
            let Some(snapshot) = snapshots.borrow_and_update().clone() else { continue };
            // The last one comes once more when the run ends.
            if seen.replace(snapshot.second) == Some(snapshot.second) {
                continue;
            }
            (self.watch)(&snapshot);
            self.cluster.check_running()?;
            let passed = snapshot.second + 1;
            if passed >= self.spec.load.warm_up_s && start.is_none() {
                start = ProcessorTime::now();
            }
            let due = |event: &&Event| event.at_s + self.spec.load.warm_up_s <= passed;
            while let Some(event) = events.next_if(due) {
                self.happen(*event).await?;
            }
        }
        let end = ProcessorTime::now();
        let report = run.finish_anyway().await.map_err(CourseError::Load)?;
        let busy_percent = start.zip(end).map_or(0.0, |(start, end)| end.busy_percent_since(start));
        Ok((report, busy_percent))
    }

    async fn happen(&mut self, event: Event) -> Result<(), ClusterError> {
        match event.action {
            Action::Kill => self.cluster.kill_server(event.server),
            Action::Restart => self.cluster.restart_server(event.server).await,
            Action::Add => self.cluster.add_server().await.map(|_| ()),
        }
    }
}

fn trial(
    spec: &Spec,
    contender: &Contender,
    repeat: u32,
    report: &Report,
    busy_percent: f64,
) -> Trial {
    let seconds = Seconds::of(&report.timeline, spec.load.warm_up_s, spec.load.seconds);
    Trial {
        contender: contender.clone(),
        repeat,
        seed: spec.workload_of(repeat).seed,
        values: values(spec, report, &seconds),
        machine_busy_percent: busy_percent,
        generator_cpu_percent: report.generator.cpu_percent,
        generator_lag_p99_ms: report.generator.lag_p99_ms,
        void: void(report, busy_percent),
        seconds,
    }
}

fn values(spec: &Spec, report: &Report, seconds: &Seconds) -> Vec<(Metric, f64)> {
    let latency = &report.latency;
    let mut values = vec![
        (Metric::Rps, report.rps),
        (Metric::MeanMs, latency.mean_ms),
        (Metric::P50Ms, latency.p50_ms),
        (Metric::P90Ms, latency.p90_ms),
        (Metric::P95Ms, latency.p95_ms),
        (Metric::P99Ms, latency.p99_ms),
        (Metric::P999Ms, latency.p999_ms),
        (Metric::HitPercent, report.hit_percent),
        // The servers read the database once for each answer that they mark a miss.
        (Metric::DatabaseReadsPerS, report.misses as f64 / report.measured_s),
        (Metric::PeakOverMean, report.peak_over_mean_by_second),
        (Metric::MovedPercent, report.moved_percent),
        (Metric::Errors, report.error_count as f64),
    ];
    if let (Some(first), Some(last)) = (spec.events.first(), spec.events.last()) {
        values.push((Metric::RecoveryS, recovery_s(&seconds.all, first.at_s, last.at_s)));
    }
    // More digits than that were not measured.
    values.iter_mut().for_each(|(_, value)| *value = (*value * 1e3).round() / 1e3);
    values
}

/// Seconds from `last_s` until the hit rate of three seconds in a row is within a point of its mean before `first_s`;
/// infinite if that never came.
fn recovery_s(seconds: &[Second], first_s: u64, last_s: u64) -> f64 {
    let hits = |second: &Second| second.value(Metric::HitPercent);
    let before = seconds.iter().filter(|second| second.second < first_s).filter_map(hits);
    let goal = mean(before) - 1.0;
    let after: Vec<&Second> = seconds.iter().filter(|second| second.second >= last_s).collect();
    let back = after.windows(3).find(|three| mean(three.iter().filter_map(|s| hits(s))) >= goal);
    back.map_or(f64::INFINITY, |three| (three[0].second - last_s) as f64)
}

fn void(report: &Report, busy_percent: f64) -> Vec<String> {
    let mut reasons: Vec<String> = report
        .void
        .iter()
        .map(|reason| format!("the load generator was the limit: {reason}"))
        .collect();
    if busy_percent > MOST_BUSY_PERCENT {
        reasons.push(format!(
            "the machine's processors were {busy_percent:.0}% busy (allowed: {MOST_BUSY_PERCENT:.0}%)"
        ));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(second: u64, hit_percent: u64) -> Second {
        Second {
            second,
            requests: 100,
            hits: hit_percent,
            misses: 100 - hit_percent,
            ..Second::default()
        }
    }

    #[test]
    fn recovery_counts_from_the_last_event() {
        let rates = [90, 90, 60, 50, 70, 88, 89, 90, 90];
        let seconds: Vec<Second> =
            rates.iter().zip(0..).map(|(&rate, at)| second(at, rate)).collect();
        assert_eq!(recovery_s(&seconds, 2, 3), 2.0, "88, 89 and 90 are 89 on average");
        assert_eq!(recovery_s(&seconds[..6], 2, 3), f64::INFINITY);
    }
}
