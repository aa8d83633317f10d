//! One worker's part in the gateway: it routes, counts, publishes, and now and then plans for all.
//!
//! It is driven from outside: [`Worker::route`] and [`Worker::finish`] by requests, [`Worker::tick`] by a
//! timer, [`Worker::on_clusters`] by the answer of a poll. It returns what the host must do and does nothing itself.
//! Its parts, a file each: [`publication`], [`planning`], [`adoption`], [`membership`], [`showing`] for the status
//! page, and, for a worker that finds no place in the shared store, [`alone`].

mod adoption;
mod alone;
mod membership;
mod planning;
mod publication;
mod showing;

pub use adoption::is_ahead;

use std::sync::Arc;

use crate::agreement::arena::{self, Arena, Claim};
use crate::agreement::epoch::EpochClock;
use crate::agreement::slot::{self, OwnSlot};
use crate::agreement::{SharedStore, Shelf, StoreFault, Tally};
use crate::audit::{Answered, Audit};
use crate::config::Config;
use crate::hash::KeyHash;
use crate::loads::LocalId;
use crate::plan::Plan;
use crate::router::{Outcome, Route, Router};
use crate::servers::Members;
use crate::table::Table;
use crate::telemetry::{Condition, Counter, Counters, Gauge, Gauges};

/// Until it has a plan a worker ticks this fast.
pub const STARTING_TICK_MS: u64 = 20;

/// What the host must do after a tick or an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Ask the admin interface through this Envoy cluster.
    Poll {
        /// The Envoy cluster that leads there.
        admin_cluster: String,
    },
    /// Tick this often from now on.
    TickEvery(u64),
    /// Write a warning.
    Warn(String),
    /// Write a notice.
    Inform(String),
}

/// The values of the store that this worker reads in its arena.
#[derive(Debug)]
struct Desk {
    /// The highest version of any configuration's plan when this worker sat down: what it follows is newer.
    floor: u64,
    slot: OwnSlot,
    epoch: EpochClock,
    plan: Shelf,
    /// The plan before, which holds while the published one waits for its time.
    before: Shelf,
    roster: Shelf,
    poll: Shelf,
    display: showing::Display,
}

/// One worker.
#[derive(Debug)]
pub struct Worker {
    config: Arc<Config>,
    router: Router,
    arena: Arena,
    desk: Option<Desk>,
    tally: Tally,
    /// When the published plan was last looked at.
    looked_ms: u64,
    /// Plans that hold from their activation on, with their tables, by version and by time.
    pending: Vec<(Arc<Plan>, Arc<Table>)>,
    /// A plan in the making, with its table.
    draft: Option<(Arc<Plan>, Arc<Table>)>,
    duty: Option<planning::Duty>,
    /// Membership changed or the plan is unreadable: do not wait for the epoch's end.
    urgent: bool,
    ledger: publication::Ledger,
    showing: showing::Showing,
    audit: Audit,
    polled_ms: Option<u64>,
    /// Ticks in a row in which others were faster with the directory.
    outrun: u32,
    /// The members of the last poll, where there is no shared place for them.
    census: Option<Members>,
    counters: Counters,
    gauges: Gauges,
    conditions: Vec<Condition>,
    actions: Vec<Action>,
    ticks_fast: bool,
}

impl Worker {
    /// A worker that knows nothing yet.
    #[must_use]
    pub fn new(config: Arc<Config>) -> Self {
        Self {
            router: Router::new(config.clone()),
            arena: Arena::new(config.digest),
            config,
            desk: None,
            tally: Tally::default(),
            looked_ms: 0,
            pending: Vec::new(),
            draft: None,
            duty: None,
            urgent: false,
            ledger: publication::Ledger::default(),
            showing: showing::Showing::default(),
            audit: Audit::default(),
            polled_ms: None,
            outrun: 0,
            census: None,
            counters: Counters::default(),
            gauges: Gauges::default(),
            conditions: Vec::new(),
            actions: Vec::new(),
            ticks_fast: true,
        }
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// The plan in force.
    #[must_use]
    pub fn plan(&self) -> Option<&Arc<Plan>> {
        self.router.plan()
    }

    /// The plan in force with its table.
    #[must_use]
    pub fn routing(&self) -> Option<(&Arc<Plan>, &Arc<Table>)> {
        self.router.plan().zip(self.router.table())
    }

    /// Chooses the owners of a key.
    ///
    /// # Errors
    /// The outcome that leaves the request to Envoy's fallback policy.
    #[inline]
    pub fn route(&mut self, key: KeyHash) -> Result<Route, Outcome> {
        self.router.route(key)
    }

    /// Counts a request that has no key.
    pub fn no_key(&mut self) -> Outcome {
        self.router.unrouted(Outcome::NoKey)
    }

    /// Writes a route's owners as Envoy reads them.
    pub fn write_owners(&self, route: &Route, out: &mut Vec<u8>) {
        self.router.write_owners(route, out);
    }

    /// Writes the servers that should hold the key of a route.
    pub fn write_replicas(&self, route: &Route, count: usize, out: &mut Vec<u8>) {
        self.router.write_replicas(route, count, out);
    }

    /// The request that went to this server is over. Returns whether to look where it was answered.
    #[inline]
    pub fn finish(&mut self, server: LocalId) -> bool {
        self.router.finish(server);
        self.audit.wants_this()
    }

    /// Where a request was answered that was looked at.
    pub fn on_answered(&mut self, answered: Answered) {
        self.audit.saw(answered);
        match answered {
            Answered::ByFirst => {}
            Answered::BySuccessor => self.count(Counter::RetriesToSuccessor),
            Answered::ByFallback => self.count(Counter::Fallback),
        }
    }

    /// Counts something that the host saw.
    pub fn count(&mut self, counter: Counter) {
        self.counters[counter as usize] += 1;
    }

    /// Counters since the worker was made.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let mut counters = self.counters;
        counters[..Outcome::ALL.len()].copy_from_slice(&self.router.outcomes());
        counters[Counter::SharedRefused as usize] = self.tally.refused;
        counters[Counter::SharedLost as usize] = self.tally.lost;
        counters
    }

    /// The gauges that this worker learnt since it was last asked.
    pub fn take_gauges(&mut self) -> Gauges {
        std::mem::take(&mut self.gauges)
    }

    /// Does what is due: publishes, looks for a new plan, and plans if it is this worker's turn.
    pub fn tick(&mut self, now_ms: u64, store: &mut dyn SharedStore) -> Vec<Action> {
        self.audit.tick();
        self.router.decay(now_ms);
        self.sample_in_flight(now_ms);
        self.activate_due(now_ms);
        let agreed = self.agree(now_ms, store);
        if agreed.is_err() {
            self.count(Counter::SharedFailed);
        }
        self.judge(Condition::StoreFails, agreed.is_err());
        self.activate_due(now_ms);
        self.slow_down();
        std::mem::take(&mut self.actions)
    }

    fn agree(&mut self, now_ms: u64, store: &mut dyn SharedStore) -> Result<(), StoreFault> {
        let arena = match self.arena.hold(store, &mut self.tally, now_ms)? {
            Claim::Held(arena) => arena,
            Claim::Full => {
                self.judge(Condition::StoreFull, true);
                self.tick_alone(now_ms);
                return Ok(());
            }
            Claim::Outrun => {
                self.outrun += 1;
                if self.outrun >= alone::PATIENCE_TICKS {
                    self.tick_alone(now_ms);
                }
                return Ok(());
            }
        };
        self.outrun = 0;
        let mut desk = self.take_desk(arena, store)?;
        let done = self.work_at(&mut desk, now_ms, store);
        self.desk = Some(desk);
        done
    }

    /// The desk at this arena; a worker whose arena was taken sits down anew.
    fn take_desk(&mut self, arena: usize, store: &mut dyn SharedStore) -> Result<Desk, StoreFault> {
        if let Some(desk) = self.desk.take_if(|desk| desk.slot.arena() == arena) {
            return Ok(desk);
        }
        let shelf = |what| Shelf::new(arena::key(arena, what));
        Ok(Desk {
            floor: self.arena.highest_version(store, &mut self.tally)?,
            slot: OwnSlot::new(self.config.digest, arena),
            epoch: EpochClock::new(self.config.digest, arena),
            plan: shelf("plan"),
            before: shelf("plan/before"),
            roster: shelf("roster"),
            poll: shelf("poll"),
            display: showing::Display::new(arena),
        })
    }

    fn work_at(
        &mut self,
        desk: &mut Desk,
        now_ms: u64,
        store: &mut dyn SharedStore,
    ) -> Result<(), StoreFault> {
        self.poll_if_due(desk, now_ms, store)?;
        let found = self.look(desk, now_ms, store)?;
        if !found && self.members(desk, store)?.is_some() {
            self.urgent = true;
        }
        let length = self.config.epoch_ms;
        let (epoch, claimed) =
            desk.epoch.advance(store, &mut self.tally, now_ms, length, self.urgent)?;
        self.close_epoch(epoch.number);
        let slot = self.own_slot(now_ms);
        let published = desk.slot.publish(store, &mut self.tally, &slot)?;
        self.judge(Condition::StoreFull, !published);
        if !found {
            // What stands there may be of another configuration that thinks the arena its own.
            self.arena.distrust();
        }
        if claimed {
            self.take_duty(epoch.number, now_ms);
        }
        if self.plan_if_due(desk, now_ms, store)? {
            // Others must count on from the new version even if the plan itself is lost.
            let slot = self.own_slot(now_ms);
            desk.slot.publish(store, &mut self.tally, &slot)?;
        }
        self.show(desk, now_ms, store)
    }

    /// The worker ends: its slot is free for the next, and with the last of its kind the arena too.
    pub fn release(&mut self, store: &mut dyn SharedStore) {
        let Some(mut desk) = self.desk.take() else { return };
        desk.slot.release(store, self.newest_version());
        let (config, arena, now_ms) = (self.config.digest, desk.slot.arena(), self.looked_ms);
        let mut others = 0;
        let read = slot::read_all(store, &mut self.tally, config, arena, now_ms, |_| others += 1);
        if read.is_ok() && others == 0 {
            // If this fails, the arena is free once it has been silent for long.
            let _ = self.arena.leave(store, &mut self.tally);
        }
    }

    /// The host did not take [`Action::TickEvery`]: it is asked again.
    pub fn on_tick_period_refused(&mut self) {
        self.count(Counter::HostFailed);
        self.ticks_fast = true;
    }

    fn slow_down(&mut self) {
        if self.ticks_fast && self.plan().is_some() {
            self.ticks_fast = false;
            self.actions.push(Action::TickEvery(self.config.tick_ms));
        }
    }

    fn gauge(&mut self, gauge: Gauge, value: u64) {
        self.gauges[gauge as usize] = Some(value);
    }

    /// Notes whether a condition holds and logs when that changes.
    fn judge(&mut self, condition: Condition, holds: bool) {
        let known = self.conditions.iter().position(|&other| other == condition);
        match (known, holds) {
            (None, true) => {
                self.conditions.push(condition);
                self.actions.push(Action::Warn(condition.began().into()));
            }
            (Some(at), false) => {
                self.conditions.swap_remove(at);
                self.actions.push(Action::Inform(condition.ended().into()));
            }
            _ => {}
        }
    }
}
