//! Drives the filter's own core as the shipped module does: the same configuration, the same calls, the same order.
//!
//! Each worker ticks, polls and routes by itself; the workers of a gateway share a [`store`]. The servers are a list in
//! the configuration where they never change, and otherwise come from polls of an admin interface ([`servers`]).

mod servers;
mod store;

use std::sync::Arc;

use rudolph_core::config::{Config, ConfigError, Strategy};
use rudolph_core::hash::KeyHash;
use rudolph_core::hot::HotTable;
use rudolph_core::loads::LocalId;
use rudolph_core::plan::Plan;
use rudolph_core::router::Route;
use rudolph_core::table::Table;
use rudolph_core::worker::{Action, STARTING_TICK_MS, Worker};
use rudolph_workload::SplitMix64;

pub(crate) use self::servers::address;
use crate::balancer::{Balancer, ServerNumber, Wakes, WorkerId};
use crate::scenario::Scenario;
use store::Store;

/// The wall time at the beginning of every run.
const START_MS: u64 = 1_700_000_000_000;

const MS_NS: u64 = 1_000_000;

/// An answer of the admin interface takes so long.
const POLL_NS: u64 = MS_NS;

type Fields = serde_json::Map<String, serde_json::Value>;

/// The configuration that the filter would read, from the fields that a scenario gives.
pub(crate) fn config(fields: &Fields, scenario: &Scenario) -> Result<Config, ConfigError> {
    let mut json = fields.clone();
    json.entry("key").or_insert_with(|| serde_json::json!([{"header": "x-key"}]));
    json.entry("membership").or_insert_with(|| servers::membership(scenario));
    Config::from_json(serde_json::Value::Object(json).to_string().as_bytes())
}

/// A worker and what it needs at hand.
#[derive(Debug)]
struct Seat {
    worker: Worker,
    store: usize,
    tick_ns: u64,
    plan: Option<Arc<Plan>>,
    /// The scenario's number of each of the plan's servers.
    numbers: Vec<ServerNumber>,
    /// For requests that no plan routes, in place of the cluster's own policy.
    turn: u32,
}

/// All workers of all gateways.
#[derive(Debug)]
pub(crate) struct CoreDriver {
    config: Arc<Config>,
    seats: Vec<Seat>,
    stores: Vec<Store>,
    alive: Vec<ServerNumber>,
    now_ns: u64,
    /// For the order of the workers' first ticks.
    rng: SplitMix64,
    /// Where the last request may go on to.
    last: Option<Route>,
    table: Option<(Arc<Plan>, Table)>,
}

impl CoreDriver {
    pub(crate) fn new(config: Config, scenario: &Scenario, seed: u64) -> Self {
        let config = Arc::new(config);
        let stores = if scenario.gateways.talk { 1 } else { scenario.gateways.count };
        let delay_ns = (scenario.gateways.agreement_delay_ms * 1e6) as u64;
        let seat = |worker: usize| Seat {
            worker: Worker::new(config.clone()),
            store: if scenario.gateways.talk { 0 } else { worker / scenario.gateways.workers },
            tick_ns: STARTING_TICK_MS.min(config.tick_ms) * MS_NS,
            plan: None,
            numbers: Vec::new(),
            turn: worker as u32,
        };
        Self {
            seats: (0..scenario.workers()).map(seat).collect(),
            stores: vec![Store::new(delay_ns); stores],
            alive: Vec::new(),
            now_ns: 0,
            rng: SplitMix64::for_purpose(seed, 20),
            last: None,
            table: None,
            config,
        }
    }

    fn tick(&mut self, number: usize, wakes: &mut Wakes) {
        let now_ms = wall_ms(self.now_ns);
        let seat = &mut self.seats[number];
        let mut store = self.stores[seat.store].seen_by(number as u32, self.now_ns);
        let actions = seat.worker.tick(now_ms, &mut store);
        self.perform(number, actions, wakes);
        let seat = &mut self.seats[number];
        seat.follow_plan();
        wakes.push((self.now_ns + seat.tick_ns, number as u32));
    }

    fn perform(&mut self, number: usize, actions: Vec<Action>, wakes: &mut Wakes) {
        for action in actions {
            match action {
                Action::Poll { .. } => {
                    let answer = (self.seats.len() + number) as u32;
                    wakes.push((self.now_ns + POLL_NS, answer));
                }
                Action::TickEvery(period_ms) => self.seats[number].tick_ns = period_ms * MS_NS,
                Action::Warn(_) | Action::Inform(_) => {}
            }
        }
    }

    fn answer_poll(&mut self, number: usize, wakes: &mut Wakes) {
        let body = servers::clusters(&self.alive);
        let seat = &mut self.seats[number];
        let mut store = self.stores[seat.store].seen_by(number as u32, self.now_ns);
        let actions = seat.worker.on_clusters(body.as_bytes(), &mut store);
        seat.follow_plan();
        self.perform(number, actions, wakes);
    }

    /// The table of the first worker's plan, made anew when its homes change.
    fn homes_table(&mut self) -> Option<&(Arc<Plan>, Table)> {
        let plan = self.seats[0].plan.clone()?;
        let same = self.table.as_ref().is_some_and(|(known, _)| known.places_like(&plan));
        let table = match self.table.take().filter(|_| same) {
            Some((_, table)) => table,
            None => Table::of(&plan, &self.config),
        };
        self.table = Some((plan, table));
        self.table.as_ref()
    }
}

impl Seat {
    fn follow_plan(&mut self) {
        let plan = self.worker.plan();
        let same = match (&self.plan, plan) {
            (Some(known), Some(plan)) => Arc::ptr_eq(known, plan),
            (known, plan) => known.is_none() && plan.is_none(),
        };
        if same {
            return;
        }
        self.plan = plan.cloned();
        let members = plan.map_or(&[][..], |plan| plan.members.servers());
        self.numbers =
            members.iter().map(|server| servers::number_of(server.address.as_str())).collect();
    }
}

impl Balancer for CoreDriver {
    type Ticket = Option<LocalId>;

    fn begin(&mut self, wakes: &mut Wakes) {
        for number in 0..self.seats.len() {
            let first_ns = self.rng.next_below(self.seats[number].tick_ns);
            wakes.push((first_ns, number as u32));
        }
    }

    fn wake(&mut self, now_ns: u64, token: u32, wakes: &mut Wakes) {
        self.now_ns = now_ns;
        let token = token as usize;
        match token.checked_sub(self.seats.len()) {
            None => self.tick(token, wakes),
            Some(number) => self.answer_poll(number, wakes),
        }
    }

    fn hear(&mut self, alive: &[bool]) {
        let numbers = (0..alive.len() as ServerNumber).filter(|&n| alive[n as usize]);
        self.alive = numbers.collect();
    }

    #[inline]
    fn choose(
        &mut self,
        now_ns: u64,
        worker: WorkerId,
        key: KeyHash,
    ) -> Option<(ServerNumber, Self::Ticket)> {
        let seat = &mut self.seats[worker as usize];
        if seat.worker.needs_clock() {
            let mut store = self.stores[seat.store].seen_by(worker, now_ns);
            seat.worker.catch_up(wall_ms(now_ns), &mut store);
            seat.follow_plan();
        }
        match seat.worker.route(key) {
            Ok(route) => {
                let server = seat.numbers[usize::from(route.owners()[0])];
                let ticket = Some(route.server);
                self.last = Some(route);
                Some((server, ticket))
            }
            Err(_) => {
                self.last = None;
                seat.turn = seat.turn.wrapping_add(1);
                let turn = seat.turn as usize % self.alive.len().max(1);
                self.alive.get(turn).map(|&server| (server, None))
            }
        }
    }

    fn retry(&mut self, worker: WorkerId, attempt: u32) -> Option<ServerNumber> {
        let route = self.last?;
        let next = *route.owners().get(attempt as usize)?;
        self.seats[worker as usize].numbers.get(usize::from(next)).copied()
    }

    #[inline]
    fn finish(&mut self, worker: WorkerId, ticket: Self::Ticket) {
        if let Some(local) = ticket {
            // Where a request was answered only feeds metrics, so there is no need to look.
            let _ = self.seats[worker as usize].worker.finish(local);
        }
    }

    fn homes(&mut self, keys: &[KeyHash], homes: &mut Vec<ServerNumber>) -> bool {
        let pinned = self.config.strategy == Strategy::Pin;
        let Some((plan, table)) = self.homes_table() else {
            return true;
        };
        if plan.members.is_empty() {
            return true;
        }
        let hot = HotTable::new(if pinned { &plan.hot } else { &[] });
        let home = |key: &KeyHash| {
            let bin = table.bin(*key);
            hot.get(*key).map_or_else(|| table.home(bin).index(), usize::from)
        };
        let found: Vec<usize> = keys.iter().map(home).collect();
        let numbers = &self.seats[0].numbers;
        homes.extend(found.iter().map(|&index| numbers[index]));
        true
    }
}

fn wall_ms(now_ns: u64) -> u64 {
    START_MS + now_ns / MS_NS
}
