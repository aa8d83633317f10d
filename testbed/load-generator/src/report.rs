use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;

use crate::{
    Arrivals, BottleneckReason, GeneratorHealth, LatencySummary, LoadConfig, Phase, Snapshot,
    recording::{Totals, ratio},
};

/// What a run measured. Counts and latencies are those of requests that should have started inside the measured window;
/// failed ones are in `errors` only.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub config: LoadConfig,
    /// Length of the window: shorter than asked if the run was stopped early.
    pub measured_s: f64,
    pub requests: u64,
    pub rps: f64,
    /// Open loop: what was asked for.
    pub offered_rps: Option<f64>,
    pub hit_percent: f64,
    pub hits: u64,
    pub misses: u64,
    pub latency: LatencySummary,
    pub error_count: u64,
    pub errors: BTreeMap<String, u64>,
    /// Requests whose key met another server than on its last visit, of those whose key had one.
    pub moved_percent: f64,
    /// The busiest server's requests over the mean, in the whole window.
    pub peak_over_mean: f64,
    /// The mean of the same second by second, which shifting ranks do not average away.
    pub peak_over_mean_by_second: f64,
    pub servers: Vec<ServerTotal>,
    pub generator: GeneratorHealth,
    /// Not empty: the figures above are about the generator.
    pub void: Vec<BottleneckReason>,
    pub timeline: Vec<Snapshot>,
    /// Pairs of microseconds and count.
    pub histogram_us: Vec<(u64, u64)>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServerTotal {
    pub server: String,
    pub requests: u64,
    pub share_over_mean: f64,
    pub hits: u64,
    pub misses: u64,
    pub hit_percent: f64,
    pub errors: u64,
    pub latency: LatencySummary,
}

impl Report {
    pub(crate) fn new(
        config: LoadConfig,
        totals: Totals,
        generator: GeneratorHealth,
        window: Duration,
    ) -> Self {
        let measured_s = window.as_secs_f64();
        let shares = totals.servers.iter().map(|server| server.share_over_mean);
        Self {
            measured_s,
            requests: totals.requests,
            rps: per_second(totals.requests, measured_s),
            offered_rps: match config.arrivals {
                Arrivals::Closed => None,
                Arrivals::Constant { rate } | Arrivals::Poisson { rate } => Some(rate),
            },
            hit_percent: 100.0 * ratio(totals.hits, totals.hits + totals.misses),
            hits: totals.hits,
            misses: totals.misses,
            latency: totals.latency,
            moved_percent: 100.0 * ratio(totals.moves.moved, totals.moves.returned),
            error_count: totals.errors.values().sum(),
            errors: totals.errors,
            peak_over_mean: shares.fold(0.0, f64::max),
            peak_over_mean_by_second: mean_peak(&totals.timeline),
            servers: totals.servers,
            void: generator.reasons(config.max_lag),
            generator,
            timeline: totals.timeline,
            histogram_us: totals.histogram_us,
            config,
        }
    }
}

#[allow(clippy::cast_precision_loss)] // counts of requests
fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

#[allow(clippy::cast_precision_loss)] // counts of seconds
fn mean_peak(timeline: &[Snapshot]) -> f64 {
    let measured = timeline.iter().filter(|second| second.phase == Phase::Measure);
    let peaks: Vec<f64> =
        measured.map(Snapshot::peak_over_mean).filter(|&peak| peak > 0.0).collect();
    if peaks.is_empty() { 0.0 } else { peaks.iter().sum::<f64>() / peaks.len() as f64 }
}

/// A few lines for people.
impl std::fmt::Display for Report {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let latency = &self.latency;
        writeln!(
            out,
            "{:.0} requests/s over {:.1} s ({} requests, {} errors), hits {:.1}%, peak server {:.2} of the mean",
            self.rps,
            self.measured_s,
            self.requests,
            self.error_count,
            self.hit_percent,
            self.peak_over_mean
        )?;
        writeln!(
            out,
            "latency ms: mean {:.2}, p50 {:.2}, p90 {:.2}, p99 {:.2}, p99.9 {:.2}, max {:.2}",
            latency.mean_ms,
            latency.p50_ms,
            latency.p90_ms,
            latency.p99_ms,
            latency.p999_ms,
            latency.max_ms
        )?;
        for (cause, count) in &self.errors {
            writeln!(out, "errors: {cause} {count}")?;
        }
        for server in &self.servers {
            writeln!(
                out,
                "{}: {} requests ({:.2} of the mean), hits {:.1}%, p99 {:.2} ms",
                server.server,
                server.requests,
                server.share_over_mean,
                server.hit_percent,
                server.latency.p99_ms
            )?;
        }
        let own = &self.generator;
        write!(
            out,
            "generator: {:.0}% of a processor, late by {:.2} ms at p99",
            own.cpu_percent, own.lag_p99_ms
        )?;
        if own.waited_for_connection > 0 {
            write!(out, ", {} requests waited for a connection", own.waited_for_connection)?;
        }
        Ok(())
    }
}
