//! Taking up a plan: whole, newer than the last, and at its time.

use std::sync::Arc;

use super::{Desk, Worker};
use crate::agreement::{SharedStore, StoreFault};
use crate::config::Config;
use crate::plan::{Placement, Plan};
use crate::table::Table;
use crate::telemetry::{Condition, Counter, Gauge};
use crate::wire::records;

/// An activation further ahead is a clock's error, not a planner's wish.
pub(crate) const MAX_LEAD_MS: u64 = 5_000;

/// Most plans that a worker waits for. A planner publishes none while one waits, but its clock may be ahead of other
/// workers'; the next must then not be skipped for one whose time comes seconds later.
const MAX_PENDING: usize = 8;

/// Whether a plan's time is yet to come. Without a lead a plan holds when it is read: its time is then only what its
/// planner's clock said, which may have been ahead.
#[must_use]
pub fn is_ahead(config: &Config, plan: &Plan, now_ms: u64) -> bool {
    config.lead_ms() > 0
        && plan.activate_at_ms > now_ms
        && plan.activate_at_ms - now_ms <= MAX_LEAD_MS
}

impl Worker {
    /// Whether the clock must be read before the next request, for [`Worker::catch_up`].
    #[inline]
    #[must_use]
    pub fn needs_clock(&self) -> bool {
        !self.pending.is_empty() || self.config.lead_ms() > 0
    }

    /// Makes sure, before a request, that no plan holds that this worker does not follow.
    ///
    /// A plan activates no sooner than the lead after it was published, so one look in each lead is enough:
    /// the ticks see to that, but for a worker whose ticks were late.
    pub fn catch_up(&mut self, now_ms: u64, store: &mut dyn SharedStore) {
        let lead_ms = self.config.lead_ms();
        let overdue = lead_ms > 0 && now_ms.abs_diff(self.looked_ms) >= lead_ms;
        if overdue && let Some(mut desk) = self.desk.take() {
            if self.look(&mut desk, now_ms, store).is_err() {
                self.count(Counter::SharedFailed);
            }
            self.desk = Some(desk);
        }
        self.activate_due(now_ms);
    }

    /// Takes up what is published; says whether there is a plan that can be followed.
    pub(super) fn look(
        &mut self,
        desk: &mut Desk,
        now_ms: u64,
        store: &mut dyn SharedStore,
    ) -> Result<bool, StoreFault> {
        let config = self.config.digest;
        let open = records::open_plan;
        let published = desk.plan.read_own(store, &mut self.tally, config, open)?.value;
        self.looked_ms = now_ms;
        // An older version was left by a configuration that was given up and is taken up again.
        let published = published.filter(|plan| plan.version >= desk.floor);
        let waits = published.as_ref().is_none_or(|plan| is_ahead(&self.config, plan, now_ms));
        // Of a published plan the one before is this configuration's, however old.
        let befores = match &published {
            Some(plan) => 0..plan.version,
            None => desk.floor..u64::MAX,
        };
        if self.config.lead_ms() > 0 && waits && self.newest_version() + 1 < befores.end {
            // This worker was late, or what was published is lost: the plan before holds.
            let before = desk.before.read_own(store, &mut self.tally, config, open)?.value;
            if let Some(before) = before.filter(|before| befores.contains(&before.version)) {
                self.consider(before, now_ms);
            }
        }
        let found = published.is_some();
        if let Some(plan) = published {
            self.consider(plan, now_ms);
        }
        Ok(found)
    }

    /// Adopts the newest pending plan whose time has come.
    pub fn activate_due(&mut self, now_ms: u64) {
        let is_due = |(plan, _): &(Arc<Plan>, _)| !is_ahead(&self.config, plan, now_ms);
        let Some(due) = self.pending.iter().rposition(is_due) else { return };
        let (plan, table) = self.pending.swap_remove(due);
        self.pending.retain(|(later, _)| later.version > plan.version);
        self.adopt(plan, table);
    }

    pub(super) fn newest_version(&self) -> u64 {
        let pending = self.pending.last().map_or(0, |(plan, _)| plan.version);
        pending.max(self.plan().map_or(0, |plan| plan.version))
    }

    /// Takes up a published plan if it is newer and sound: at once, or when its time comes.
    pub(super) fn consider(&mut self, plan: Plan, now_ms: u64) {
        // The plan before may be due by now, and must not be skipped for one that waits.
        self.activate_due(now_ms);
        if plan.version <= self.newest_version() {
            return;
        }
        let sound = plan.check(&self.config).is_ok();
        self.judge(Condition::PlanRefused, !sound);
        if !sound {
            self.count(Counter::PlansRefused);
            self.urgent = true;
            return;
        }
        let table = self.table_of(&plan);
        self.draft = None;
        // Those whose time comes no sooner than that of the newer one never hold.
        self.pending.retain(|(waiting, _)| waiting.activate_at_ms < plan.activate_at_ms);
        self.pending.truncate(MAX_PENDING - 1);
        self.pending.push((Arc::new(plan), table));
        self.activate_due(now_ms);
    }

    /// The table of a plan, shared with a known plan that places alike. It costs milliseconds to make, so the one
    /// that planning asked for is kept until the plan is taken up.
    pub(super) fn table_of(&mut self, plan: &Plan) -> Arc<Table> {
        let known = self.draft.iter().chain(&self.pending).map(|(plan, table)| (plan, table));
        let known = known.chain(self.router.plan().zip(self.router.table()));
        if let Some((_, table)) = known.into_iter().find(|(known, _)| known.places_like(plan)) {
            return table.clone();
        }
        let table = Arc::new(Table::of(plan, &self.config));
        self.draft = Some((Arc::new(plan.clone()), table.clone()));
        table
    }

    pub(super) fn adopt(&mut self, plan: Arc<Plan>, table: Arc<Table>) {
        self.measure_move(&plan, &table);
        self.gauge(Gauge::PlanVersion, plan.version);
        self.gauge(Gauge::HotKeys, plan.hot.len() as u64);
        self.gauge(Gauge::Servers, plan.members.len() as u64);
        if let Placement::Turned { rotation } = plan.placement {
            self.gauge(Gauge::Rotation, u64::from(rotation));
        }
        if !self.router.table().is_some_and(|active| Arc::ptr_eq(active, &table)) {
            self.ledger.forget_in_flight();
        }
        self.router.adopt(plan, table);
    }

    fn measure_move(&mut self, plan: &Plan, table: &Arc<Table>) {
        let (Some(before), Some(old)) = (self.router.plan(), self.router.table()) else {
            return;
        };
        if Arc::ptr_eq(old, table) || before.members.is_empty() || plan.members.is_empty() {
            return;
        }
        let moved = old.moved_share(table, |old, new| {
            let old = &before.members.servers()[old.index()].address;
            *old == plan.members.servers()[new.index()].address
        });
        self.gauge(Gauge::MovedPpm, (moved * 1e6) as u64);
    }
}
