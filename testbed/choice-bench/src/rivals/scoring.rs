use rudolph_core::hash::digest;

use crate::chooser::address;

/// Rendezvous as it is usually done: a score for each server, and the highest wins.
#[derive(Debug)]
pub(crate) struct Scoring(Vec<u64>);

impl Scoring {
    pub(crate) fn new(servers: usize) -> Self {
        Self((0..servers).map(|server| digest(0, address(server).as_bytes())).collect())
    }

    pub(crate) fn server(&self, hash: u64) -> usize {
        let scored = self.0.iter().enumerate().max_by_key(|(_, seed)| score(hash, **seed));
        scored.map_or(0, |(server, _)| server)
    }
}

/// As cheap as a good score can be: one wide multiplication, its halves folded.
fn score(hash: u64, seed: u64) -> u64 {
    let wide = u128::from(hash ^ seed) * 0x9e37_79b9_7f4a_7c15;
    (wide >> 64) as u64 ^ wide as u64
}
