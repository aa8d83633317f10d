/// Range placement: numbers in order, cut into parts. What lies past the last cut belongs to the last part, however far,
/// so keys that only ever grow meet one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges {
    starts: Vec<u64>,
}

impl Ranges {
    /// Cuts `0..span`, which is what is already there, into even parts; at least one.
    #[must_use]
    pub fn even(span: u64, parts: usize) -> Self {
        let parts = parts.max(1) as u128;
        let start = |part: u128| u64::try_from(u128::from(span) * part / parts).unwrap_or(span);
        Self { starts: (0..parts).map(start).collect() }
    }

    /// The part that a number belongs to.
    #[must_use]
    pub fn part(&self, number: u64) -> usize {
        self.starts.partition_point(|start| *start <= number).saturating_sub(1)
    }

    /// The first number of each part, rising.
    #[must_use]
    pub fn starts(&self) -> &[u64] {
        &self.starts
    }

    /// `from..to` in pieces that each lie in one part, with that part.
    #[must_use]
    pub fn pieces(&self, from: u64, to: u64) -> Vec<(usize, u64, u64)> {
        let mut pieces = Vec::new();
        let mut at = from;
        while at < to {
            let part = self.part(at);
            let end = self.starts.get(part + 1).map_or(to, |next| to.min(*next));
            pieces.push((part, at, end));
            at = end;
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    /// Counts up through all cuts.
    fn slowly(span: u64, parts: u64, number: u64) -> usize {
        let mut part = 0;
        for candidate in 0..parts {
            // Where it starts, by long multiplication: span and parts are small here.
            if number >= span * candidate / parts {
                part = candidate;
            }
        }
        usize::try_from(part).unwrap()
    }

    #[test]
    fn a_number_is_where_the_slow_version_finds_it() {
        const SEED: u64 = 17;
        let mut rng = SplitMix64::new(SEED);
        for _ in 0..2_000 {
            let (span, parts) = (rng.next_below(1_000), 1 + rng.next_below(30));
            let ranges = Ranges::even(span, usize::try_from(parts).unwrap());
            let number = rng.next_below(1_200);
            let expected = slowly(span, parts, number);
            assert_eq!(ranges.part(number), expected, "seed {SEED}: {span}/{parts}, {number}");
        }
    }

    #[test]
    fn pieces_cover_every_number_once_in_its_own_part() {
        const SEED: u64 = 18;
        let mut rng = SplitMix64::new(SEED);
        for _ in 0..500 {
            let ranges = Ranges::even(rng.next_below(500), 1 + rng.next_below(12) as usize);
            let from = rng.next_below(600);
            let to = from + rng.next_below(200);
            let mut seen = Vec::new();
            for (part, start, end) in ranges.pieces(from, to) {
                assert!(start < end, "seed {SEED}");
                assert!((start..end).all(|number| ranges.part(number) == part), "seed {SEED}");
                seen.extend(start..end);
            }
            assert!(seen.into_iter().eq(from..to), "seed {SEED}: {from}..{to} of {ranges:?}");
        }
    }

    #[test]
    fn what_only_grows_stays_in_the_last_part() {
        let ranges = Ranges::even(1_000_000, 5);
        assert_eq!(ranges.starts(), [0, 200_000, 400_000, 600_000, 800_000]);
        assert!([1_000_000, 5_000_000, u64::MAX].iter().all(|&number| ranges.part(number) == 4));
        assert_eq!(Ranges::even(u64::MAX, 3).starts().len(), 3, "no overflow");
        assert_eq!(Ranges::even(0, 0).part(9), 0);
    }
}
