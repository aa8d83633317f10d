//! How many keys change their home, by a look at some of them each second.

use rudolph_core::hash::KeyHash;
use rudolph_workload::SplitMix64;

use crate::balancer::Balancer;

/// Keys that are looked at.
const PROBES: usize = 8192;

/// The homes of some keys, as they were a second ago.
#[derive(Debug)]
pub(crate) struct Moves {
    probes: Vec<KeyHash>,
    before: Vec<u32>,
    now: Vec<u32>,
    known: bool,
    moved: u64,
}

impl Moves {
    pub(crate) fn new(keys: &[KeyHash], seed: u64) -> Self {
        let probes = if keys.len() <= PROBES {
            keys.to_vec()
        } else {
            let mut rng = SplitMix64::for_purpose(seed, 16);
            (0..PROBES).map(|_| keys[rng.next_below(keys.len() as u64) as usize]).collect()
        };
        Self { probes, before: Vec::new(), now: Vec::new(), known: false, moved: 0 }
    }

    /// Looks where the keys are now; counts those that moved if the measurement runs.
    pub(crate) fn look<B: Balancer>(&mut self, balancer: &mut B, counts: bool) {
        self.now.clear();
        self.known = balancer.homes(&self.probes, &mut self.now);
        if counts && self.before.len() == self.now.len() {
            let moved = self.before.iter().zip(&self.now).filter(|(before, now)| before != now);
            self.moved += moved.count() as u64;
        }
        std::mem::swap(&mut self.before, &mut self.now);
    }

    /// Keys that moved, of so many; `None` where they have no homes.
    pub(crate) fn keys_moved(&self, keys: usize) -> Option<f64> {
        let share = keys as f64 / self.probes.len().max(1) as f64;
        self.known.then_some(self.moved as f64 * share)
    }
}
