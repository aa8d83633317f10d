//! What a worker does that finds no place in the shared store: it polls, and makes plans that only it follows.

use super::{Action, Worker};
use crate::agreement::{SharedStore, StoreFault};
use crate::config::Membership;
use crate::planner::Request;
use crate::planner::merge::Merge;
use crate::servers::Members;

impl Worker {
    pub(super) fn tick_alone(
        &mut self,
        now_ms: u64,
        store: &mut dyn SharedStore,
    ) -> Result<(), StoreFault> {
        self.desk = None;
        self.poll_alone(now_ms);
        let members = match &self.config.membership {
            Membership::Static(members) => Some(members.clone()),
            Membership::EnvoyAdmin { .. } => self.census.clone(),
        };
        match members {
            Some(members) if self.plan().is_none_or(|plan| plan.members != members) => {
                self.plan_alone(&members, now_ms, store)
            }
            _ => Ok(()),
        }
    }

    fn poll_alone(&mut self, now_ms: u64) {
        let config = self.config.clone();
        let Membership::EnvoyAdmin { admin_cluster, poll_interval_ms, .. } = &config.membership
        else {
            return;
        };
        let interval_ms = self.poll_interval_ms(*poll_interval_ms);
        if self.polled_ms.is_none_or(|at| now_ms.abs_diff(at) >= interval_ms) {
            self.polled_ms = Some(now_ms);
            self.actions.push(Action::Poll { admin_cluster: admin_cluster.clone() });
        }
    }

    fn plan_alone(
        &mut self,
        members: &Members,
        now_ms: u64,
        store: &mut dyn SharedStore,
    ) -> Result<(), StoreFault> {
        let config = self.config.clone();
        let highest = self.arena.highest_version(store, &mut self.tally)?;
        let previous = self.plan().cloned();
        let planned = self.make_plan(&Request {
            config: &config,
            members,
            previous: previous.as_deref(),
            loads: &Merge::new(&config, members, 1).finish(),
            epoch: 1,
            version: highest.max(self.newest_version()) + 1,
            now_ms,
        });
        if let Some(plan) = planned {
            self.consider(plan, now_ms);
        }
        Ok(())
    }
}
