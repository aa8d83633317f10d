use hdrhistogram::Histogram;
use serde::Serialize;

/// Longest latency told apart, in microseconds; longer ones count as this.
const LONGEST_US: u64 = 120_000_000;

/// An HDR histogram of latencies in microseconds.
#[derive(Clone, Debug)]
pub(crate) struct Latencies {
    histogram: Histogram<u64>,
}

/// Quantiles in milliseconds; all zero if there was nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LatencySummary {
    pub mean_ms: f64,
    pub p50_ms: f64,
    pub p90_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
    pub p999_ms: f64,
    pub max_ms: f64,
}

impl Latencies {
    /// Three significant digits for whole runs, two for single seconds.
    pub(crate) fn new(digits: u8) -> Result<Self, hdrhistogram::CreationError> {
        let histogram = Histogram::new_with_bounds(1, LONGEST_US, digits)?;
        Ok(Self { histogram })
    }

    pub(crate) fn record_ns(&mut self, nanoseconds: u64) {
        self.histogram.saturating_record((nanoseconds / 1_000).max(1));
    }

    pub(crate) fn clear(&mut self) {
        self.histogram.reset();
    }

    pub(crate) fn quantile_ms(&self, quantile: f64) -> f64 {
        ms(self.histogram.value_at_quantile(quantile))
    }

    pub(crate) fn summary(&self) -> LatencySummary {
        if self.histogram.is_empty() {
            return LatencySummary::default();
        }
        LatencySummary {
            mean_ms: self.histogram.mean() / 1e3,
            p50_ms: self.quantile_ms(0.50),
            p90_ms: self.quantile_ms(0.90),
            p95_ms: self.quantile_ms(0.95),
            p99_ms: self.quantile_ms(0.99),
            p999_ms: self.quantile_ms(0.999),
            max_ms: ms(self.histogram.max()),
        }
    }

    /// Every bucket that holds something: its value in microseconds and its count.
    pub(crate) fn buckets(&self) -> Vec<(u64, u64)> {
        let recorded = self.histogram.iter_recorded();
        recorded.map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
    }
}

#[allow(clippy::cast_precision_loss)] // at most 120 s
fn ms(microseconds: u64) -> f64 {
    microseconds as f64 / 1e3
}
