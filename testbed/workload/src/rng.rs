/// SplitMix64: small, fast, and pinned here so that a seed means the same stream for ever.
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

impl SplitMix64 {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A generator for one purpose: two purposes of one seed draw independent streams.
    #[must_use]
    pub fn for_purpose(seed: u64, purpose: u64) -> Self {
        Self::new(mix(seed ^ mix(purpose.wrapping_add(GOLDEN_GAMMA))))
    }

    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN_GAMMA);
        mix(self.state)
    }

    /// Uniform in [0, 1), with 53 random bits.
    #[allow(clippy::cast_precision_loss)] // 53 bits are exact in an f64
    pub fn next_unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Uniform in `0..bound` without bias (multiply and reject). A bound of 0 gives 0.
    pub fn next_below(&mut self, bound: u64) -> u64 {
        let threshold = bound.wrapping_neg().checked_rem(bound).unwrap_or(0);
        loop {
            let wide = u128::from(self.next_u64()) * u128::from(bound);
            let (high, low) = split(wide);
            if low >= threshold {
                return high;
            }
        }
    }
}

/// The finaliser of SplitMix64: a bijection that mixes every bit into every other.
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[allow(clippy::cast_possible_truncation)] // takes the two halves on purpose
fn split(wide: u128) -> (u64, u64) {
    ((wide >> 64) as u64, wide as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published first outputs for seed 1234567.
    #[test]
    fn matches_the_published_vectors() {
        let mut rng = SplitMix64::new(1_234_567);
        let drawn: Vec<u64> = (0..5).map(|_| rng.next_u64()).collect();
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    #[test]
    fn below_stays_below_and_reaches_every_value() {
        let mut rng = SplitMix64::new(3);
        let mut seen = [0_u32; 7];
        for _ in 0..7_000 {
            seen[usize::try_from(rng.next_below(7)).unwrap()] += 1;
        }
        assert!(seen.iter().all(|&count| (800..1200).contains(&count)), "seed 3: {seen:?}");
        assert_eq!(rng.next_below(0), 0);
    }
}
