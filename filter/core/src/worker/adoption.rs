//! Taking up a plan: whole, newer than the last, and at its time.

use std::sync::Arc;

use super::Worker;
use crate::agreement::{SharedStore, StoreFault};
use crate::plan::{Placement, Plan};
use crate::table::Table;
use crate::telemetry::{Condition, Counter, Gauge};
use crate::wire::records;

/// An activation further ahead is a clock's error, not a planner's wish.
pub(super) const MAX_LEAD_MS: u64 = 5_000;

/// Whether a plan's time is yet to come.
pub(super) fn is_ahead(plan: &Plan, now_ms: u64) -> bool {
    plan.activate_at_ms > now_ms && plan.activate_at_ms - now_ms <= MAX_LEAD_MS
}

impl Worker {
    /// Whether the clock must be read before the next request, for [`Worker::catch_up`].
    #[inline]
    #[must_use]
    pub fn needs_clock(&self) -> bool {
        self.pending.is_some() || self.lead_ms() > 0
    }

    /// Makes sure, before a request, that no plan holds that this worker does not follow.
    ///
    /// A plan activates no sooner than the lead after it was published, so one look in each lead is enough:
    /// the ticks see to that, but for a worker whose ticks were late.
    pub fn catch_up(&mut self, now_ms: u64, store: &mut dyn SharedStore) {
        let lead_ms = self.lead_ms();
        if lead_ms > 0
            && now_ms.abs_diff(self.looked_ms) >= lead_ms
            && self.look(now_ms, store).is_err()
        {
            self.count(Counter::SharedFailed);
        }
        self.activate_due(now_ms);
    }

    fn look(&mut self, now_ms: u64, store: &mut dyn SharedStore) -> Result<(), StoreFault> {
        let config = self.config.digest;
        let Some(desk) = &mut self.desk else { return Ok(()) };
        let open = |bytes: &[u8]| records::open_plan(config, bytes);
        let seen = desk.plan.read(store, &mut self.tally, open)?;
        self.looked_ms = now_ms;
        if let Some(plan) = seen.value {
            self.consider(plan, now_ms);
        }
        Ok(())
    }

    /// Adopts a pending plan whose time has come.
    pub fn activate_due(&mut self, now_ms: u64) {
        let due = |(plan, _): &mut (Arc<Plan>, Arc<Table>)| !is_ahead(plan, now_ms);
        if let Some((plan, table)) = self.pending.take_if(due) {
            self.adopt(plan, table);
        }
    }

    pub(super) fn newest_version(&self) -> u64 {
        let pending = self.pending.as_ref().map_or(0, |(plan, _)| plan.version);
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
        self.pending = Some((Arc::new(plan), table));
        self.activate_due(now_ms);
    }

    /// The table of a plan, shared with a known plan that places alike.
    pub(super) fn table_of(&self, plan: &Plan) -> Arc<Table> {
        if let Some((pending, table)) = &self.pending
            && pending.places_like(plan)
        {
            return table.clone();
        }
        match (self.router.plan(), self.router.table()) {
            (Some(active), Some(table)) if active.places_like(plan) => table.clone(),
            _ => Arc::new(Table::of(plan, &self.config)),
        }
    }

    fn adopt(&mut self, plan: Arc<Plan>, table: Arc<Table>) {
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
