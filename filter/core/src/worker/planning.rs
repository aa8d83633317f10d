//! Planning for all workers, when it is this one's turn.

use super::adoption::{MAX_LEAD_MS, is_ahead};
use super::{Action, Desk, Worker};
use crate::agreement::{Expect, Seen, SharedStore, StoreFault, slot};
use crate::plan::Plan;
use crate::planner::merge::{LoadMap, Merge};
use crate::planner::{self, Request};
use crate::servers::Members;
use crate::telemetry::{Condition, Counter, Gauge};
use crate::wire::records;

/// 2020 began then.
const CLOCK_BEGAN_MS: u64 = 1_577_836_800_000;

/// The least version where a published plan cannot be read: its version is unknown, and so are those of plans that it may
/// have followed unseen. Hundredths of a second have outrun them all: no gateway publishes a hundred plans a second.
fn beyond_all_unseen(now_ms: u64) -> u64 {
    now_ms.saturating_sub(CLOCK_BEGAN_MS) / 10
}

/// What the planner learns from the slots.
struct Survey {
    loads: LoadMap,
    newest_version: u64,
}

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
        self.duty = Some(Duty { epoch, not_before_ms: now_ms + wait });
        self.urgent = false;
    }

    /// Plans the epoch that this worker claimed; says whether it published a plan.
    pub(super) fn plan_if_due(
        &mut self,
        desk: &mut Desk,
        now_ms: u64,
        store: &mut dyn SharedStore,
    ) -> Result<bool, StoreFault> {
        let Some(duty) = self.duty else { return Ok(false) };
        let waits = duty.not_before_ms.saturating_sub(now_ms);
        if waits > 0 && waits <= MAX_LEAD_MS {
            return Ok(false);
        }
        let config = self.config.clone();
        let open = records::open_plan;
        let seen = desk.plan.read_own(store, &mut self.tally, config.digest, open)?;
        if seen.value.as_ref().is_some_and(|plan| is_ahead(&config, plan, now_ms)) {
            // A plan waits for its time: one at a time, or workers might skip it.
            return Ok(false);
        }
        self.duty = None;
        let Some(members) = self.members(desk, store)? else {
            return Ok(false);
        };
        let survey = self.survey(desk, duty.epoch, &members, now_ms, store)?;
        let version = self.next_version(desk, &seen, survey.newest_version, now_ms, store)?;
        let own = self.plan().cloned();
        let planned = self.make_plan(&Request {
            config: &config,
            members: &members,
            previous: seen.value.as_ref().or(own.as_deref()),
            loads: &survey.loads,
            epoch: duty.epoch,
            version,
            now_ms,
        });
        let published = match planned {
            Some(plan) => self.publish_plan(desk, &seen, plan, now_ms, store)?,
            None => false,
        };
        self.sample_history(desk, &members, &survey.loads, now_ms, store)?;
        Ok(published)
    }

    /// Publishes a plan that decides anything new, unless another planner was faster.
    fn publish_plan(
        &mut self,
        desk: &mut Desk,
        seen: &Seen<Plan>,
        mut plan: Plan,
        now_ms: u64,
        store: &mut dyn SharedStore,
    ) -> Result<bool, StoreFault> {
        let says_it_all =
            |last: &Plan| last.version + 1 == plan.version && last.decides_like(&plan);
        if seen.value.as_ref().is_some_and(says_it_all) {
            return Ok(false);
        }
        plan.activate_at_ms = now_ms + self.config.lead_ms();
        if let Some(last) = seen.value.as_ref().filter(|_| self.config.lead_ms() > 0) {
            self.keep_for_latecomers(desk, last, store)?;
        }
        let sealed = records::seal_plan(self.config.digest, &plan);
        let published = desk.plan.replace(store, &mut self.tally, seen.expect, &sealed)?;
        if published {
            self.count(Counter::PlansPublished);
            self.tell_of_servers(seen.value.as_ref(), &plan);
            self.consider(plan, now_ms);
        }
        Ok(published)
    }

    /// Until the new plan's time has come, the last one holds: a worker that has missed it finds it here.
    fn keep_for_latecomers(
        &mut self,
        desk: &mut Desk,
        last: &Plan,
        store: &mut dyn SharedStore,
    ) -> Result<(), StoreFault> {
        let config = self.config.digest;
        let seen = desk.before.read_own(store, &mut self.tally, config, records::open_plan)?;
        let sealed = records::seal_plan(config, last);
        // Whoever wins a race for this place puts the same plan there.
        desk.before.replace(store, &mut self.tally, seen.expect, &sealed)?;
        Ok(())
    }

    /// The planner alone logs that the last server went or the first came back, so it is logged once.
    fn tell_of_servers(&mut self, last: Option<&Plan>, plan: &Plan) {
        let had_none = last.is_some_and(|last| last.members.is_empty());
        let has_none = plan.members.is_empty();
        if has_none && !had_none {
            let text = "no server is usable: the fallback policy routes";
            self.actions.push(Action::Warn(text.into()));
        } else if had_none && !has_none {
            self.actions.push(Action::Inform("a server is usable again".into()));
        }
    }

    /// What all living workers published.
    fn survey(
        &mut self,
        desk: &Desk,
        epoch: u64,
        members: &Members,
        now_ms: u64,
        store: &mut dyn SharedStore,
    ) -> Result<Survey, StoreFault> {
        let (config, arena) = (self.config.digest, desk.slot.arena());
        let mut merge = Merge::new(&self.config, members, epoch);
        let (mut workers, mut newest_version) = (0, 0);
        slot::read_all(store, &mut self.tally, config, arena, now_ms, |slot| {
            merge.add(&slot.contribution);
            workers += 1;
            newest_version = newest_version.max(slot.plan_version);
        })?;
        self.gauge(Gauge::Workers, workers);
        Ok(Survey { loads: merge.finish(), newest_version })
    }

    /// Over every version that anyone here has seen.
    fn next_version(
        &mut self,
        desk: &mut Desk,
        seen: &Seen<Plan>,
        newest_in_slots: u64,
        now_ms: u64,
        store: &mut dyn SharedStore,
    ) -> Result<u64, StoreFault> {
        let known = newest_in_slots.max(desk.floor).max(self.newest_version());
        if let Some(plan) = &seen.value {
            return Ok(known.max(plan.version) + 1);
        }
        let highest = known.max(self.arena.highest_told(store, &mut self.tally)?);
        let peeked = desk.plan.read(store, &mut self.tally, records::peek_plan_version)?;
        let unreadable = peeked.value.is_none() && peeked.expect != Expect::Absent;
        Ok(if unreadable { highest.max(beyond_all_unseen(now_ms)) } else { highest } + 1)
    }

    pub(super) fn make_plan(&mut self, request: &Request<'_>) -> Option<Plan> {
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
}
