//! One row of figures.

use serde::Serialize;

use crate::engine::Measured;

/// The figures of one strategy. The names are those of the experiments' summaries.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    pub strategy: String,
    pub rps: f64,
    pub mean_ms: f64,
    pub p50_ms: f64,
    pub p90_ms: f64,
    pub p99_ms: f64,
    pub p999_ms: f64,
    /// The highest p99 of any second of any run: what a loss or a shift costs while it lasts.
    pub worst_second_p99_ms: f64,
    pub hit_percent: f64,
    /// Highest of all servers over the mean, second by second, on average.
    pub peak_over_mean: f64,
    pub errors: u64,
    /// Keys that change their home a second; nothing where keys have no home.
    pub moved_keys_per_s: Option<f64>,
    /// Cache entries for each key that is cached anywhere, at the end.
    pub copies_a_key: f64,
    pub database_reads_per_s: f64,
    /// Requests sent again because their server was gone.
    pub retries: u64,
    /// Requests not yet answered when a run ended, on average: large where a server cannot keep up.
    pub unfinished: f64,
}

impl Row {
    #[must_use]
    pub fn of(strategy: &str, measured: &Measured) -> Self {
        let answered = measured.latency.len();
        let ms = |quantile| match answered {
            0 => 0.0,
            _ => measured.latency.value_at_quantile(quantile) as f64 / 1e6,
        };
        let per = |sum: f64, count: f64| if count > 0.0 { sum / count } else { 0.0 };
        let lookups = measured.hits + measured.misses;
        Self {
            strategy: strategy.to_owned(),
            rps: per(answered as f64, measured.seconds),
            mean_ms: per(measured.latency_sum_ns as f64 / 1e6, answered as f64),
            p50_ms: ms(0.5),
            p90_ms: ms(0.9),
            p99_ms: ms(0.99),
            p999_ms: ms(0.999),
            worst_second_p99_ms: measured.worst_second_p99_ms,
            hit_percent: per(100.0 * measured.hits as f64, lookups as f64),
            peak_over_mean: per(measured.peaks, measured.windows as f64),
            errors: measured.errors,
            moved_keys_per_s: measured.moved_keys.map(|moved| per(moved, measured.seconds)),
            copies_a_key: per(measured.copies, f64::from(measured.runs)),
            database_reads_per_s: per(measured.misses as f64, measured.seconds),
            retries: measured.retries,
            unfinished: per(measured.unfinished as f64, f64::from(measured.runs)),
        }
    }
}
