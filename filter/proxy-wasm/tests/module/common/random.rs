//! Repeatable randomness: a failing test says its seed.

use std::cell::Cell;

/// A splitmix64 sequence.
#[derive(Debug)]
pub(crate) struct Random {
    seed: u64,
    state: Cell<u64>,
}

impl Random {
    pub(crate) fn of(seed: u64) -> Self {
        Self { seed, state: Cell::new(seed) }
    }

    pub(crate) fn next(&self) -> u64 {
        let state = self.state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.state.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// One of `keys` keys, skewed like Zipf's law with exponent 1: the logarithm of the rank is uniform.
    pub(crate) fn key(&self, keys: usize) -> String {
        let uniform = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let rank = (keys as f64).powf(uniform) as usize;
        format!("key-{rank}")
    }
}

impl Drop for Random {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {:#x}", self.seed);
        }
    }
}
