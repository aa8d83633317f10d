//! What a run looked like second by second.

use rudolph_load_generator::Snapshot;
use serde::{Deserialize, Serialize};

use crate::{Metric, number::mean};

/// One second of the measured window, of all servers or of one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// Counted from the start of the measured window.
    pub second: u64,
    pub requests: u64,
    pub hits: u64,
    pub misses: u64,
    pub errors: u64,
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
    /// Of all servers: the busiest one's share over the mean. Of one: its own.
    pub share_over_mean: f64,
}

impl Second {
    /// `None` for what has no value in a single second, or had none in this.
    pub(crate) fn value(&self, metric: Metric) -> Option<f64> {
        let answered = self.requests > 0;
        let lookups = self.hits + self.misses;
        match metric {
            Metric::Rps => Some(self.requests as f64),
            Metric::P50Ms => answered.then_some(self.p50_ms),
            Metric::P95Ms => answered.then_some(self.p95_ms),
            Metric::P99Ms => answered.then_some(self.p99_ms),
            Metric::HitPercent => (lookups > 0).then(|| 100.0 * self.hits as f64 / lookups as f64),
            Metric::DatabaseReadsPerS => Some(self.misses as f64),
            Metric::PeakOverMean => answered.then_some(self.share_over_mean),
            Metric::Errors => Some(self.errors as f64),
            Metric::MeanMs
            | Metric::P90Ms
            | Metric::P999Ms
            | Metric::MovedPercent
            | Metric::RecoveryS => None,
        }
    }
}

/// The whole timeline: all servers together, and each by the name that it answers with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seconds {
    pub all: Vec<Second>,
    pub servers: Vec<(String, Vec<Second>)>,
}

impl Seconds {
    /// The seconds of the measured window.
    pub(crate) fn of(timeline: &[Snapshot], warm_up_s: u64, seconds: u64) -> Self {
        let mut result = Self::default();
        let measured =
            timeline.iter().filter(|s| (warm_up_s..warm_up_s + seconds).contains(&s.second));
        for snapshot in measured {
            let second = snapshot.second - warm_up_s;
            result.all.push(Second {
                second,
                requests: snapshot.requests,
                hits: snapshot.hits,
                misses: snapshot.misses,
                errors: snapshot.error_count(),
                p50_ms: snapshot.latency.p50_ms,
                p95_ms: snapshot.latency.p95_ms,
                p99_ms: snapshot.latency.p99_ms,
                share_over_mean: snapshot.peak_over_mean(),
            });
            let mean = snapshot.requests as f64 / snapshot.servers.len().max(1) as f64;
            for server in &snapshot.servers {
                let row = Second {
                    second,
                    requests: server.requests,
                    hits: server.hits,
                    misses: server.misses,
                    errors: server.errors,
                    p50_ms: server.latency.p50_ms,
                    p95_ms: server.latency.p95_ms,
                    p99_ms: server.latency.p99_ms,
                    share_over_mean: if mean > 0.0 { server.requests as f64 / mean } else { 0.0 },
                };
                result.row_of(&server.server).push(row);
            }
        }
        result
    }

    /// Highest minus lowest server, in the mean second that has a value of at least two.
    pub(crate) fn width(&self, metric: Metric) -> f64 {
        let of_second = |second: u64| {
            let values = self.servers.iter().filter_map(|(_, seconds)| {
                seconds.iter().find(|own| own.second == second)?.value(metric)
            });
            let values: Vec<f64> = values.collect();
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            (values.len() > 1).then_some(high - low)
        };
        mean(self.all.iter().filter_map(|second| of_second(second.second)))
    }

    pub(crate) fn row_of(&mut self, server: &str) -> &mut Vec<Second> {
        let index = match self.servers.iter().position(|(name, _)| name == server) {
            Some(index) => index,
            None => {
                self.servers.push((server.to_owned(), Vec::new()));
                self.servers.len() - 1
            }
        };
        &mut self.servers[index].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_is_that_of_the_mean_second() {
        let second = |second, p95_ms| Second { second, requests: 1, p95_ms, ..Second::default() };
        let seconds = Seconds {
            all: vec![second(0, 0.0), second(1, 0.0), second(2, 0.0)],
            servers: vec![
                ("a".to_owned(), vec![second(0, 5.0), second(1, 9.0), second(2, 1.0)]),
                ("b".to_owned(), vec![second(0, 7.0), second(1, 5.0)]),
            ],
        };
        assert_eq!(seconds.width(Metric::P95Ms), 3.0);
        assert!(seconds.width(Metric::MeanMs).is_nan(), "a second has no mean");
    }
}
