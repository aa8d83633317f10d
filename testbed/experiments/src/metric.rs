use serde::{Deserialize, Serialize};

/// What is measured of a contender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    Rps,
    MeanMs,
    P50Ms,
    P90Ms,
    P95Ms,
    P99Ms,
    P999Ms,
    HitPercent,
    DatabaseReadsPerS,
    PeakOverMean,
    MovedPercent,
    Errors,
    /// Seconds from the last change of servers until the hit rate is back within a point of what it was before the first.
    RecoveryS,
}

/// How a metric is called and written.
struct Words {
    name: &'static str,
    head: &'static str,
    says: &'static str,
    unit: &'static str,
    digits: usize,
}

impl Metric {
    pub const ALL: [Self; 13] = [
        Self::Rps,
        Self::MeanMs,
        Self::P50Ms,
        Self::P90Ms,
        Self::P95Ms,
        Self::P99Ms,
        Self::P999Ms,
        Self::HitPercent,
        Self::DatabaseReadsPerS,
        Self::PeakOverMean,
        Self::MovedPercent,
        Self::Errors,
        Self::RecoveryS,
    ];

    #[rustfmt::skip] // a table
    fn words(self) -> Words {
        let (name, head, says, unit, digits) = match self {
            Self::Rps               => ("rps", "requests/s", "requests a second", "", 0),
            Self::MeanMs            => ("mean_ms", "mean ms", "mean latency", "ms", 2),
            Self::P50Ms             => ("p50_ms", "p50", "median latency", "ms", 2),
            Self::P90Ms             => ("p90_ms", "p90", "p90 latency", "ms", 2),
            Self::P95Ms             => ("p95_ms", "p95", "p95 latency", "ms", 2),
            Self::P99Ms             => ("p99_ms", "p99", "p99 latency", "ms", 2),
            Self::P999Ms            => ("p999_ms", "p99.9", "p99.9 latency", "ms", 1),
            Self::HitPercent        => ("hit_percent", "hit %", "hit rate", "%", 1),
            Self::DatabaseReadsPerS => ("database_reads_per_s", "db reads/s", "reads of the database a second", "", 0),
            Self::PeakOverMean      => ("peak_over_mean", "peak/mean", "hottest server's share over the mean", "", 2),
            Self::MovedPercent      => ("moved_percent", "moved %", "requests that met another server than their key's last", "%", 1),
            Self::Errors            => ("errors", "errors", "failed requests", "", 0),
            Self::RecoveryS         => ("recovery_s", "hits back s", "time until the hit rate was back", "s", 0),
        };
        Words { name, head, says, unit, digits }
    }

    /// Its field in summaries.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.words().name
    }

    /// Its column in tables.
    #[must_use]
    pub fn head(self) -> &'static str {
        self.words().head
    }

    /// Its name in sentences.
    #[must_use]
    pub fn says(self) -> &'static str {
        self.words().says
    }

    /// Its name with its unit, for axes.
    #[must_use]
    pub fn label(self) -> String {
        let Words { says, unit, .. } = self.words();
        if unit.is_empty() { says.to_owned() } else { format!("{says}, {unit}") }
    }

    #[must_use]
    pub fn digits(self) -> usize {
        self.words().digits
    }

    #[must_use]
    pub fn lower_is_better(self) -> bool {
        !matches!(self, Self::Rps | Self::HitPercent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_and_summaries_use_the_same_names() {
        for metric in Metric::ALL {
            assert_eq!(serde_json::to_value(metric).unwrap(), metric.name());
        }
    }
}
