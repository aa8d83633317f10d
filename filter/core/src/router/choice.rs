//! Which of a key's servers: the pinned one, the least loaded of a hot key's, or next door in an emergency.

use super::{Outcome, Router, Routing};
use crate::config::Spread;
use crate::hash::KeyHash;
use crate::loads::{Loads, LocalId};
use crate::planner::spread::copies;
use crate::table::Table;

/// A spill must save this many cache misses of waiting, and this many times what a request takes now.
const SPILL_TIMES: f32 = 4.0;

/// 2^32 over the golden ratio: its multiples are spread evenly, whatever keys take turns.
const GOLDEN: u32 = 0x9E37_79B9;

/// A spill must find the other server shorter by so many requests.
const SPILL_GAP: u32 = 6;

/// The rendezvous order of a hot key, kept while the key keeps its place in the sketch.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    key: Option<KeyHash>,
    table: u64,
    servers: Vec<u16>,
}

impl Router {
    pub(super) fn pinned(&mut self, key: KeyHash, home: u16) -> u16 {
        self.sketch.add(key);
        let Some(routing) = &self.routing else {
            return home;
        };
        self.loads.homed(routing.local[usize::from(home)]);
        routing.hot.get(key).unwrap_or(home)
    }

    pub(super) fn spread(&mut self, key: KeyHash, bin: usize, home: u16) -> (u16, Outcome) {
        let slot = self.sketch.add(key);
        let Some(routing) = &self.routing else {
            return (home, Outcome::Owner);
        };
        let config = &self.config.spread;
        let copies = if config.hot_keys { self.copies(config, routing, key, slot) } else { 0 };
        if copies > 1 {
            let chosen = if copies <= routing.table.row(bin).len() {
                let order = &routing.table.row(bin)[..copies];
                choose(order, &self.loads, &routing.local, config, &mut self.turn)
            } else {
                let order = &mut self.orders[slot];
                order.prepare(&routing.table, self.tables, key, copies);
                let order = &order.servers[..copies];
                choose(order, &self.loads, &routing.local, config, &mut self.turn)
            };
            let at_home = chosen == home;
            return (chosen, if at_home { Outcome::Owner } else { Outcome::Spread });
        }
        if config.spill && self.spills(config, routing, bin) {
            return (routing.table.owner(bin, 1), Outcome::Spilled);
        }
        (home, Outcome::Owner)
    }

    /// The most copies that this worker's own sketch or the plan's merged one asks for.
    fn copies(&self, config: &Spread, routing: &Routing, key: KeyHash, slot: usize) -> usize {
        let planned = routing.hot.get(key).map_or(0, usize::from);
        if !config.online {
            return planned;
        }
        let guaranteed = self.sketch.entry(slot).guaranteed();
        let servers = routing.local.len();
        copies(config, guaranteed, self.sketch.total(), servers).map_or(planned, |c| c.max(planned))
    }

    /// Whether waiting at home costs more than missing next door. The counts are compared first: they are cheap.
    fn spills(&self, config: &Spread, routing: &Routing, bin: usize) -> bool {
        if routing.local.len() < 2 {
            return false;
        }
        let home = routing.local[usize::from(routing.table.owner(bin, 0))];
        let next = routing.local[usize::from(routing.table.owner(bin, 1))];
        let gap = self.loads.in_flight(home).saturating_sub(self.loads.in_flight(next));
        let emergency = SPILL_TIMES * self.loads.mean_time().max(config.miss_penalty_ms / 1000.0);
        gap >= SPILL_GAP
            && self.loads.expected_wait(home) - self.loads.expected_wait(next) > emergency
    }
}

impl Order {
    fn prepare(&mut self, table: &Table, tables: u64, key: KeyHash, copies: usize) {
        let fits = self.key == Some(key) && self.table == tables;
        if fits && self.servers.len() >= copies {
            return;
        }
        // Twice what is asked, since a key that grows hotter soon asks for more.
        let count = (copies * 2).min(table.servers());
        self.servers = table.order_of_key(key, count);
        self.key = Some(key);
        self.table = tables;
    }
}

/// The server of the order with the least in flight; or each in turn. Equals are told apart by where the look begins,
/// which wanders: a worker with few requests in flight sees mostly equals, and the first would get them all.
#[inline]
fn choose(order: &[u16], loads: &Loads, local: &[LocalId], config: &Spread, turn: &mut u32) -> u16 {
    *turn = turn.wrapping_add(1);
    if !config.least_in_flight {
        return order[*turn as usize % order.len()];
    }
    let wandering = turn.wrapping_mul(GOLDEN) >> 16;
    let start = (wandering as usize * order.len()) >> 16;
    let (before, from_start) = order.split_at(start);
    let mut best = order[start];
    let mut least = u32::MAX;
    for &server in from_start.iter().chain(before) {
        let in_flight = loads.in_flight(local[usize::from(server)]);
        if in_flight < least {
            (best, least) = (server, in_flight);
        }
    }
    best
}
