//! Planning for all workers, when it is this one's turn.

use super::adoption::{MAX_LEAD_MS, is_ahead};
use super::{Desk, Worker};
use crate::agreement::{Seen, SharedStore, StoreFault, slot};
use crate::config::{Membership, Strategy};
use crate::plan::Plan;
use crate::planner::merge::Contribution;
use crate::planner::{self, Request};
use crate::telemetry::{Condition, Counter, Gauge};
use crate::wire::records::{self, Slot};

/// An epoch that this worker claimed and has yet to plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Duty {
    epoch: u64,
    not_before_ms: u64,
}

impl Worker {
    /// Where plans need an epoch's counts, the others get two ticks to close and publish them.
    pub(super) fn take_duty(&mut self, epoch: u64, now_ms: u64) {
        let settle = self.config.counts_bins() && !self.urgent;
        let wait = if settle { 2 * self.config.tick_ms } else { 0 };
        self.duty = Some(Duty {
            epoch,
            not_before_ms: now_ms + wait,
        });
        self.urgent = false;
    }

    pub(super) fn plan_if_due(
        &mut self,
        desk: &mut Desk,
        now_ms: u64,
        store: &mut dyn SharedStore,
    ) -> Result<(), StoreFault> {
        let Some(duty) = self.duty else { return Ok(()) };
        let waits = duty.not_before_ms.saturating_sub(now_ms);
        if waits > 0 && waits <= MAX_LEAD_MS {
            return Ok(());
        }
        let config = self.config.clone();
        let open = |bytes: &[u8]| records::open_plan(config.digest, bytes);
        let seen = desk.plan.read(store, &mut self.tally, open)?;
        if seen
            .value
            .as_ref()
            .is_some_and(|plan| is_ahead(plan, now_ms))
        {
            // A plan waits for its time: one at a time, or workers might skip it.
            return Ok(());
        }
        self.duty = None;
        let Some(members) = self.members(desk, store)? else {
            return Ok(());
        };
        let arena = desk.slot.arena();
        let slots = slot::read_all(store, &mut self.tally, config.digest, arena, now_ms)?;
        self.gauge(Gauge::Workers, slots.len() as u64);
        let version = self.next_version(&seen, &slots, store)?;
        let own = self.plan().cloned();
        let contributions: Vec<Contribution> =
            slots.into_iter().map(|slot| slot.contribution).collect();
        let planned = self.make_plan(&Request {
            config: &config,
            members: &members,
            previous: seen.value.as_ref().or(own.as_deref()),
            contributions: &contributions,
            epoch: duty.epoch,
            version,
            now_ms,
        });
        match planned {
            Some(plan) => self.publish_plan(desk, &seen, plan, now_ms, store),
            None => Ok(()),
        }
    }

    /// Publishes a plan that decides anything new, unless another planner was faster.
    fn publish_plan(
        &mut self,
        desk: &Desk,
        seen: &Seen<Plan>,
        mut plan: Plan,
        now_ms: u64,
        store: &mut dyn SharedStore,
    ) -> Result<(), StoreFault> {
        let says_it_all =
            |last: &Plan| last.version + 1 == plan.version && last.decides_like(&plan);
        if seen.value.as_ref().is_some_and(says_it_all) {
            return Ok(());
        }
        plan.activate_at_ms = now_ms + self.lead_ms();
        let sealed = records::seal_plan(self.config.digest, &plan);
        if desk
            .plan
            .replace(store, &mut self.tally, seen.expect, &sealed)?
        {
            self.count(Counter::PlansPublished);
            self.consider(plan, now_ms);
        }
        Ok(())
    }

    /// Over every version that anyone here has seen.
    fn next_version(
        &mut self,
        seen: &Seen<Plan>,
        slots: &[Slot],
        store: &mut dyn SharedStore,
    ) -> Result<u64, StoreFault> {
        let mut highest = match &seen.value {
            Some(plan) => plan.version,
            None => self.arena.highest_version(store, &mut self.tally)?,
        };
        for slot in slots {
            highest = highest.max(slot.plan_version);
        }
        Ok(highest.max(self.newest_version()) + 1)
    }

    fn make_plan(&mut self, request: &Request<'_>) -> Option<Plan> {
        let planned = planner::plan(request, &mut |plan| self.table_of(plan));
        self.judge(Condition::PlanRefused, planned.is_err());
        match planned {
            Ok(planned) => {
                self.count(Counter::EpochsPlanned);
                let permille = (planned.peak_over_mean * 1000.0) as u64;
                self.gauge(Gauge::PeakOverMeanPermille, permille);
                Some(planned.plan)
            }
            Err(_) => {
                self.count(Counter::PlansRefused);
                None
            }
        }
    }

    /// `spread` may differ between workers for a moment; with one owner a key, all must change at once.
    fn lead_ms(&self) -> u64 {
        match self.config.strategy {
            Strategy::Spread => 0,
            _ => 2 * self.config.tick_ms,
        }
    }

    /// Without a place in the store there are no others to agree with: a static list still makes a plan.
    pub(super) fn plan_alone(&mut self, now_ms: u64) {
        let Membership::Static(members) = &self.config.membership else {
            return;
        };
        if self.plan().is_some() {
            return;
        }
        let config = self.config.clone();
        let members = members.clone();
        let plan = self.make_plan(&Request {
            config: &config,
            members: &members,
            previous: None,
            contributions: &[],
            epoch: 1,
            version: 1,
            now_ms,
        });
        if let Some(plan) = plan {
            self.consider(plan, now_ms);
        }
    }
}
