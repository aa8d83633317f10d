use rudolph_core::hash::{digest, mix};

use crate::chooser::address;

/// Rendezvous as it is usually done: a score for each server, and the highest wins.
#[derive(Debug)]
pub(crate) struct Scoring(Vec<u64>);

impl Scoring {
    pub(crate) fn new(servers: usize) -> Self {
        Self((0..servers).map(|server| digest(0, address(server).as_bytes())).collect())
    }

    pub(crate) fn server(&self, hash: u64) -> usize {
        let scored = self.0.iter().enumerate().max_by_key(|(_, seed)| mix(hash ^ **seed));
        scored.map_or(0, |(server, _)| server)
    }
}
