use rudolph_workload::SplitMix64;

use crate::Arrivals;

/// When open-loop requests start: nanoseconds since the start of the run, never going back. No clock, no waiting.
#[derive(Clone, Debug)]
pub struct Pacer {
    gap_ns: f64,
    next_ns: f64,
    random: Option<SplitMix64>,
}

impl Pacer {
    /// `None` for a closed loop, which has no pace of its own.
    #[must_use]
    pub fn new(arrivals: Arrivals, seed: u64) -> Option<Self> {
        let (rate, random) = match arrivals {
            Arrivals::Closed => return None,
            Arrivals::Constant { rate } => (rate, None),
            Arrivals::Poisson { rate } => (rate, Some(SplitMix64::for_purpose(seed, 4))),
        };
        Some(Self { gap_ns: 1e9 / rate, next_ns: 0.0, random })
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // never negative, a run is days at most
    pub fn next_start_ns(&mut self) -> u64 {
        let start = self.next_ns;
        // 1 - u is in (0, 1], so the logarithm is finite.
        let gaps = self.random.as_mut().map_or(1.0, |random| -(1.0 - random.next_unit()).ln());
        self.next_ns += gaps * self.gap_ns;
        start as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(arrivals: Arrivals, seed: u64, count: usize) -> Vec<u64> {
        let mut pacer = Pacer::new(arrivals, seed).unwrap();
        (0..count).map(|_| pacer.next_start_ns()).collect()
    }

    #[test]
    fn constant_is_even() {
        let starts = starts(Arrivals::Constant { rate: 4.0 }, 1, 4);
        assert_eq!(starts, [0, 250_000_000, 500_000_000, 750_000_000]);
    }

    #[test]
    fn poisson_has_the_rate_and_the_spread_of_poisson() {
        const SEED: u64 = 5;
        let arrivals = Arrivals::Poisson { rate: 1_000.0 };
        let starts = starts(arrivals, SEED, 100_001);
        let gaps: Vec<f64> =
            starts.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean - 1.0).abs() < 0.02, "seed {SEED}: mean {mean} ms");
        assert!((variance - 1.0).abs() < 0.05, "seed {SEED}: variance {variance}");
        assert_eq!(starts, self::starts(arrivals, SEED, 100_001));
    }

    #[test]
    fn a_closed_loop_has_no_pace() {
        assert!(Pacer::new(Arrivals::Closed, 1).is_none());
    }
}
