use crate::rng::mix;

/// A pseudo-random permutation of `0..size`, chosen by a seed, in O(1) memory.
///
/// A Feistel network over the next power of two, walked until the value falls back inside `0..size` (under two walks on
/// average). Reshuffling a million ranks is therefore free: it is another seed, not a shuffle that stalls the stream.
#[derive(Clone, Debug)]
pub struct Permutation {
    size: u64,
    left_bits: u32,
    right_bits: u32,
    round_keys: [u64; ROUNDS],
}

const ROUNDS: usize = 6;

impl Permutation {
    #[must_use]
    pub fn new(size: u64, seed: u64) -> Self {
        let bits = u64::BITS - size.saturating_sub(1).leading_zeros();
        let mut round_keys = [0; ROUNDS];
        let mut state = mix(seed ^ 0x5bd1_e995_7f4a_7c15);
        for key in &mut round_keys {
            state = mix(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
            *key = state;
        }
        Self { size, left_bits: bits / 2, right_bits: bits - bits / 2, round_keys }
    }

    /// Where `index` goes. REQUIRES: `index < size`; anything else is returned unchanged.
    #[must_use]
    pub fn apply(&self, index: u64) -> u64 {
        if index >= self.size {
            return index;
        }
        let mut value = index;
        loop {
            value = self.feistel(value);
            if value < self.size {
                return value;
            }
        }
    }

    fn feistel(&self, value: u64) -> u64 {
        let (left_mask, right_mask) = (low_bits(self.left_bits), low_bits(self.right_bits));
        let mut left = value >> self.right_bits & left_mask;
        let mut right = value & right_mask;
        for pair in self.round_keys.chunks_exact(2) {
            left ^= mix(right ^ pair[0]) & left_mask;
            right ^= mix(left ^ pair[1]) & right_mask;
        }
        left << self.right_bits | right
    }
}

fn low_bits(count: u32) -> u64 {
    (1_u64 << count) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_a_permutation() {
        for size in [1, 2, 3, 4, 5, 7, 8, 9, 100, 1000, 4096, 10_007] {
            let permutation = Permutation::new(size, 42 + size);
            let mut images: Vec<u64> = (0..size).map(|index| permutation.apply(index)).collect();
            images.sort_unstable();
            assert!(images.into_iter().eq(0..size), "seed 42, size {size}");
        }
    }

    #[test]
    fn another_seed_is_another_order() {
        let (first, second) = (Permutation::new(10_000, 1), Permutation::new(10_000, 2));
        let same = (0..10_000).filter(|&index| first.apply(index) == second.apply(index)).count();
        assert!(same < 10, "seeds 1 and 2 agree on {same} of 10000");
    }

    #[test]
    fn outside_is_left_alone() {
        assert_eq!(Permutation::new(10, 1).apply(10), 10);
        assert_eq!(Permutation::new(0, 1).apply(0), 0);
    }
}
