//! Consistent hashing with bounded load, by Envoy's rules (`hash_balance_factor`).
//!
//! A server may have `ceil(ceil((total + 1) * factor) / n)` requests in flight, at least one. The key's own server is
//! taken unless it has more than that; then the others are tried in a random order that is the key's own, and the
//! first that has not more is taken; failing all, the one that is over by the smallest factor. Envoy draws the order
//! with a Mersenne Twister; here it is another generator, seeded by the key alike.

use rudolph_core::hash::KeyHash;
use rudolph_workload::SplitMix64;

use super::InFlight;
use crate::balancer::ServerNumber;

/// The rule, with memory for the order.
#[derive(Clone, Debug)]
pub(super) struct Bounded {
    percent: u64,
    order: Vec<usize>,
}

impl Bounded {
    pub(super) fn new(factor: f64) -> Self {
        Self { percent: (factor * 100.0).round() as u64, order: Vec::new() }
    }

    /// What a server may have in flight before it is passed over.
    fn limit(&self, total: u32, servers: usize) -> u64 {
        let slots = ((u64::from(total) + 1) * self.percent).div_ceil(100);
        slots.div_ceil(servers as u64).max(1)
    }

    /// An index among `members`, `own` if that is not overloaded.
    #[inline]
    pub(super) fn choose(
        &mut self,
        own: usize,
        key: KeyHash,
        members: &[ServerNumber],
        in_flight: &InFlight,
    ) -> usize {
        let limit = self.limit(in_flight.total, members.len());
        let load = |at: usize| u64::from(in_flight.servers[members[at] as usize]);
        if load(own) <= limit {
            return own;
        }
        let mut rng = SplitMix64::new(key.0);
        self.order.clear();
        self.order.extend(0..members.len());
        let mut best = own;
        for i in 0..members.len() {
            let rest = (members.len() - i) as u64;
            self.order.swap(i, i + rng.next_below(rest) as usize);
            let other = self.order[i];
            if load(other) <= limit {
                return other;
            }
            if load(other) < load(best) {
                best = other;
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idle(servers: usize) -> InFlight {
        InFlight { servers: vec![0; servers], total: 0 }
    }

    /// A request is accepted at the limit, so one more than the limit is the most that a server ever has.
    #[test]
    fn never_more_than_one_over_the_factor() {
        for (seed, factor, servers) in [(1, 1.0, 5), (2, 1.25, 8), (3, 1.5, 5), (4, 2.0, 20)] {
            let mut bounded = Bounded::new(factor);
            let members: Vec<u32> = (0..servers).collect();
            let mut in_flight = idle(servers as usize);
            let mut rng = SplitMix64::new(seed);
            let mut under_way = Vec::new();
            for step in 0..20_000 {
                let key = KeyHash(rng.next_below(3));
                let limit = bounded.limit(in_flight.total, members.len());
                let own = key.0 as usize % members.len();
                let server = bounded.choose(own, key, &members, &in_flight);
                in_flight.servers[server] += 1;
                in_flight.total += 1;
                under_way.push(server);
                let load = u64::from(in_flight.servers[server]);
                assert!(load <= limit + 1, "seed {seed}, step {step}: {load} over {limit}");
                while under_way.len() > 60 || (rng.next_below(2) == 0 && !under_way.is_empty()) {
                    let at = rng.next_below(under_way.len() as u64) as usize;
                    in_flight.servers[under_way.swap_remove(at)] -= 1;
                    in_flight.total -= 1;
                }
            }
        }
    }

    #[test]
    fn a_key_goes_past_its_server_to_the_same_one_each_time() {
        let mut bounded = Bounded::new(1.25);
        let members: Vec<u32> = (0..5).collect();
        let mut in_flight = idle(5);
        (in_flight.servers[2], in_flight.total) = (9, 9);
        let key = KeyHash(77);
        let other = bounded.choose(2, key, &members, &in_flight);
        assert!(other != 2 && other == bounded.choose(2, key, &members, &in_flight));
    }
}
