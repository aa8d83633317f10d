//! What others do, as far as choosing a server goes. In-flight counts are a gateway's, as Envoy's are: all its workers
//! share them, gateways do not.

mod bounded;
mod jump;
mod maglev;
mod placement;
mod ring;

use rudolph_core::hash::KeyHash;
use rudolph_workload::{Ranges, SplitMix64};

use crate::balancer::{Balancer, ServerNumber, Wakes, WorkerId};
use crate::scenario::{Rival, Scenario, known_span};
use bounded::Bounded;
use placement::Placement;

/// How a server is chosen.
#[derive(Clone, Debug)]
enum Policy {
    Hash(Placement),
    Bounded(Placement, Bounded),
    RoundRobin,
    LeastRequest,
    /// The farm itself decides.
    Pooled,
}

/// Requests in flight of one gateway.
#[derive(Clone, Debug)]
pub(crate) struct InFlight {
    servers: Vec<u32>,
    total: u32,
}

/// One rival in all workers of all gateways.
#[derive(Clone, Debug)]
pub(crate) struct RivalBalancer {
    rival: Rival,
    policy: Policy,
    /// The servers that are known to be there, in the order of their addresses.
    members: Vec<ServerNumber>,
    in_flight: Vec<InFlight>,
    workers_a_gateway: u32,
    /// What a range placement cuts.
    span: u64,
    turns: Vec<u32>,
    rng: SplitMix64,
    last_key: KeyHash,
}

impl RivalBalancer {
    pub(crate) fn new(rival: Rival, scenario: &Scenario, seed: u64) -> Self {
        let idle = InFlight { servers: vec![0; scenario.servers.count], total: 0 };
        let mut rng = SplitMix64::for_purpose(seed, 30);
        let turns = (0..scenario.workers()).map(|_| rng.next_u64() as u32 >> 1).collect();
        Self {
            rival,
            policy: Policy::RoundRobin,
            members: Vec::new(),
            in_flight: vec![idle; scenario.gateways.count],
            workers_a_gateway: scenario.gateways.workers as u32,
            span: known_span(&scenario.workload.keys, scenario.key_count()),
            turns,
            rng,
            last_key: KeyHash(0),
        }
    }

    fn pick(&mut self, worker: WorkerId, key: KeyHash) -> Option<usize> {
        let count = self.members.len();
        let in_flight = &self.in_flight[(worker / self.workers_a_gateway) as usize];
        if count == 0 {
            return None;
        }
        Some(match &mut self.policy {
            Policy::Hash(placement) => placement.server(key),
            Policy::Bounded(placement, bounded) => {
                bounded.choose(placement.server(key), key, &self.members, in_flight)
            }
            Policy::RoundRobin => {
                let turn = &mut self.turns[worker as usize];
                *turn = turn.wrapping_add(1);
                *turn as usize % count
            }
            Policy::LeastRequest => {
                let mut draw = || self.rng.next_below(count as u64) as usize;
                let (first, second) = (draw(), draw());
                let load = |at: usize| in_flight.servers[self.members[at] as usize];
                if load(second) < load(first) { second } else { first }
            }
            Policy::Pooled => 0,
        })
    }
}

impl Balancer for RivalBalancer {
    type Ticket = ServerNumber;

    fn begin(&mut self, _wakes: &mut Wakes) {}

    fn wake(&mut self, _now_ns: u64, _token: u32, _wakes: &mut Wakes) {}

    fn hear(&mut self, alive: &[bool]) {
        let numbers = (0..alive.len() as ServerNumber).filter(|&n| alive[n as usize]);
        self.members = numbers.collect();
        self.policy = match self.rival {
            Rival::RoundRobin => Policy::RoundRobin,
            Rival::LeastRequest => Policy::LeastRequest,
            Rival::Bound => Policy::Pooled,
            Rival::Modulo => Policy::Hash(Placement::Modulo(self.members.len() as u64)),
            Rival::Jump => Policy::Hash(Placement::Jump(self.members.len() as u32)),
            Rival::Range => {
                Policy::Hash(Placement::Range(Ranges::even(self.span, self.members.len())))
            }
            Rival::Ring { bounded } => hashed(Placement::ring(&self.members), bounded),
            Rival::Maglev { bounded } => hashed(Placement::maglev(&self.members), bounded),
        };
    }

    #[inline]
    fn choose(
        &mut self,
        _now_ns: u64,
        worker: WorkerId,
        key: KeyHash,
    ) -> Option<(ServerNumber, ServerNumber)> {
        self.last_key = key;
        let at = self.pick(worker, key)?;
        let server = self.members[at];
        let in_flight = &mut self.in_flight[(worker / self.workers_a_gateway) as usize];
        in_flight.servers[server as usize] += 1;
        in_flight.total += 1;
        Some((server, server))
    }

    /// Envoy turns the hash for another attempt; the count stays with the first server, for the moment that it takes.
    fn retry(&mut self, worker: WorkerId, attempt: u32) -> Option<ServerNumber> {
        let turned = KeyHash(self.last_key.0 ^ (!u64::from(attempt)).wrapping_add(1));
        let at = self.pick(worker, turned)?;
        Some(self.members[at])
    }

    #[inline]
    fn finish(&mut self, worker: WorkerId, server: ServerNumber) {
        let in_flight = &mut self.in_flight[(worker / self.workers_a_gateway) as usize];
        in_flight.servers[server as usize] -= 1;
        in_flight.total -= 1;
    }

    fn homes(&mut self, keys: &[KeyHash], homes: &mut Vec<ServerNumber>) -> bool {
        match &self.policy {
            Policy::Hash(placement) | Policy::Bounded(placement, _) => {
                if !self.members.is_empty() {
                    homes.extend(keys.iter().map(|key| self.members[placement.server(*key)]));
                }
                true
            }
            Policy::RoundRobin | Policy::LeastRequest | Policy::Pooled => false,
        }
    }
}

fn hashed(placement: Placement, bounded: Option<f64>) -> Policy {
    match bounded {
        None => Policy::Hash(placement),
        Some(factor) => Policy::Bounded(placement, Bounded::new(factor)),
    }
}
