//! When clients no longer notice.

use rudolph_load_generator::Snapshot;
use serde::Serialize;

/// Seconds from a moment until clients noticed nothing more; `None`: they did to the end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Steadiness {
    /// From the fault's beginning, while it lasted.
    pub with_fault_s: Option<u64>,
    /// From its end.
    pub after_fault_s: Option<u64>,
}

/// What a second must be like to count as steady.
#[derive(Clone, Copy, Debug)]
struct Usual {
    hit_percent: f64,
    p99_ms: f64,
}

/// Points of hit rate that a second may lose by chance.
const HITS: f64 = 5.0;
/// The machine's own unrest.
const P99_MS: f64 = 25.0;
const P99_FACTOR: f64 = 3.0;

impl Usual {
    fn of(before: &[&Snapshot]) -> Self {
        Self {
            hit_percent: median(before.iter().map(|second| second.hit_percent())),
            p99_ms: median(before.iter().map(|second| second.latency.p99_ms)),
        }
    }

    fn is_met_by(self, second: &Snapshot) -> bool {
        let p99 = (self.p99_ms * P99_FACTOR).max(self.p99_ms + P99_MS);
        second.requests > 0
            && second.errors.is_empty()
            && second.hit_percent() >= self.hit_percent - HITS
            && second.latency.p99_ms <= p99
    }
}

/// `begin` and `end` of the fault, in seconds of the run.
pub(crate) fn steadiness(seconds: &[Snapshot], begin: u64, end: u64) -> Steadiness {
    let within = |from: u64, to: u64| {
        seconds.iter().filter(move |snapshot| (from..to).contains(&snapshot.second))
    };
    let usual = Usual::of(&within(0, begin).collect::<Vec<_>>());
    let last = seconds.last().map_or(0, |snapshot| snapshot.second);
    Steadiness {
        with_fault_s: settled(within(begin, end), begin, usual),
        // The last second is seldom whole.
        after_fault_s: settled(within(end, last), end, usual),
    }
}

/// How long after `from` the last unsteady second ended.
fn settled<'s>(
    seconds: impl Iterator<Item = &'s Snapshot>,
    from: u64,
    usual: Usual,
) -> Option<u64> {
    let mut after = 0;
    let mut steady = true;
    for second in seconds {
        steady = usual.is_met_by(second);
        if !steady {
            after = second.second + 1 - from;
        }
    }
    steady.then_some(after)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rudolph_load_generator::{LatencySummary, Phase};

    use super::*;

    fn second(second: u64, hits: u64, p99_ms: f64, failed: u64) -> Snapshot {
        let errors: BTreeMap<String, u64> =
            (failed > 0).then(|| ("http_503".to_owned(), failed)).into_iter().collect();
        Snapshot {
            second,
            phase: Phase::Measure,
            requests: 100,
            hits,
            misses: 100 - hits,
            latency: LatencySummary { p99_ms, ..LatencySummary::default() },
            errors,
            servers: Vec::new(),
        }
    }

    #[test]
    fn what_clients_notice_ends_when_the_last_odd_second_is_over() {
        let mut seconds: Vec<_> = (0..13).map(|at| second(at, 95, 10.0, 0)).collect();
        seconds[3] = second(3, 95, 10.0, 2);
        seconds[5] = second(5, 60, 10.0, 0);
        seconds[8] = second(8, 95, 400.0, 0);
        let found = steadiness(&seconds, 3, 8);
        assert_eq!(found, Steadiness { with_fault_s: Some(3), after_fault_s: Some(1) });
    }

    #[test]
    fn to_the_end_is_never() {
        let mut seconds: Vec<_> = (0..13).map(|at| second(at, 95, 10.0, 0)).collect();
        (3..8).for_each(|at| seconds[at as usize] = second(at, 95, 10.0, 1));
        let found = steadiness(&seconds, 3, 8);
        assert_eq!(found, Steadiness { with_fault_s: None, after_fault_s: Some(0) });
    }

    #[test]
    fn a_second_without_answers_is_not_steady() {
        let mut seconds: Vec<_> = (0..9).map(|at| second(at, 95, 10.0, 0)).collect();
        seconds[4] = Snapshot { requests: 0, ..second(4, 95, 10.0, 0) };
        assert_eq!(steadiness(&seconds, 3, 6).with_fault_s, Some(2));
    }
}
