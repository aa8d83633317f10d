/// The highest rate that passes, by halving a ladder of rates: each step is the same factor above the last, so the answer
/// is as exact at the bottom as at the top, and the number of probes is known before the first.
///
/// It asks and is told; it neither measures nor waits. What passes is taken to pass below too.
#[derive(Debug, Clone)]
pub struct Search {
    lowest: f64,
    step: f64,
    /// Rungs from here on have failed, or there are none.
    failed: usize,
    /// Rungs below here pass.
    passed: usize,
}

impl Search {
    /// From `lowest` in steps of the factor `1 + step` up to `highest`. REQUIRES: `0 < lowest <= highest`, `step > 0`.
    #[must_use]
    pub fn between(lowest: f64, highest: f64, step: f64) -> Self {
        let steps = (highest / lowest).ln() / (1.0 + step).ln();
        // A bit of rounding must not cost the last rung.
        let rungs = (steps + 1e-9).floor().max(0.0) as usize + 1;
        Self { lowest, step, failed: rungs, passed: 0 }
    }

    /// The next rate to try; `None` when the answer is known.
    #[must_use]
    pub fn next_rate(&self) -> Option<f64> {
        (self.passed < self.failed).then(|| self.rate(self.middle()))
    }

    /// What became of it.
    pub fn tell(&mut self, passed: bool) {
        let middle = self.middle();
        if passed {
            self.passed = middle + 1;
        } else {
            self.failed = middle;
        }
    }

    /// The highest rate that passed; `None` if none did.
    #[must_use]
    pub fn found(&self) -> Option<f64> {
        self.passed.checked_sub(1).map(|rung| self.rate(rung))
    }

    /// Probes that are left at most.
    #[must_use]
    pub fn most_probes(&self) -> u32 {
        usize::BITS - (self.failed - self.passed).leading_zeros()
    }

    fn middle(&self) -> usize {
        usize::midpoint(self.passed, self.failed)
    }

    fn rate(&self, rung: usize) -> f64 {
        self.lowest * (1.0 + self.step).powi(i32::try_from(rung).unwrap_or(i32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use rudolph_workload::SplitMix64;

    use super::*;

    fn run(mut search: Search, mut passes: impl FnMut(f64) -> bool) -> (Option<f64>, u32) {
        let (most, mut probes) = (search.most_probes(), 0);
        while let Some(rate) = search.next_rate() {
            probes += 1;
            assert!(probes <= most, "more than the {most} probes that were announced");
            search.tell(passes(rate));
        }
        (search.found(), probes)
    }

    /// Going up rung by rung.
    fn slowly(lowest: f64, highest: f64, step: f64, passes: impl Fn(f64) -> bool) -> Option<f64> {
        let mut found = None;
        let mut rate = lowest;
        while rate <= highest * (1.0 + 1e-12) && passes(rate) {
            found = Some(rate);
            rate *= 1.0 + step;
        }
        found
    }

    #[test]
    fn finds_what_climbing_the_ladder_finds() {
        const SEED: u64 = 31;
        let mut rng = SplitMix64::new(SEED);
        for _ in 0..1_000 {
            let lowest = 1.0 + 100.0 * rng.next_unit();
            let (highest, step) = (lowest * (1.0 + 50.0 * rng.next_unit()), 0.01 + rng.next_unit());
            // Never on a rung, where rounding would decide.
            let edge = lowest * (0.5 + 60.0 * rng.next_unit());
            let (found, _) = run(Search::between(lowest, highest, step), |rate| rate < edge);
            let expected = slowly(lowest, highest, step, |rate| rate < edge);
            assert_eq!(found.is_some(), expected.is_some(), "seed {SEED}: {lowest} {edge}");
            let apart = found.zip(expected).map_or(0.0, |(one, other)| (one / other - 1.0).abs());
            assert!(apart < 1e-9, "seed {SEED}: {found:?}, slowly {expected:?}");
        }
    }

    /// One server, one slot, service times that do not vary, random arrivals: the mean time in such a queue (M/D/1) is
    /// s + s * load / (2 * (1 - load)), which is 10 ms at three quarters of 250 requests a second of 4 ms each.
    #[test]
    fn finds_the_limit_of_a_known_queue_in_few_probes() {
        let mean_ms = |rate: f64| {
            let load = rate * 0.004;
            if load < 1.0 { 4.0 + 4.0 * load / (2.0 * (1.0 - load)) } else { f64::INFINITY }
        };
        let (found, probes) =
            run(Search::between(62.5, 5_000.0, 0.02), |rate| mean_ms(rate) < 10.0);
        let found = found.unwrap();
        assert!(found < 187.5 && found > 187.5 / 1.02, "{found}");
        assert!(probes <= 8, "{probes}");
    }

    #[test]
    fn says_so_where_nothing_or_everything_passes() {
        assert_eq!(run(Search::between(1.0, 100.0, 0.1), |_| false).0, None);
        let top = run(Search::between(1.0, 8.0, 1.0), |_| true).0;
        assert_eq!(top, Some(8.0));
    }
}
