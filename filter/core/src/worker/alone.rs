//! What a worker does that finds no place in the shared store: it polls, and makes plans that only it follows.

use std::sync::Arc;

use super::{Action, Worker};
use crate::config::Membership;
use crate::planner::Request;
use crate::planner::merge::Merge;
use crate::servers::Members;

/// The version of a plan that a worker made for itself. Versions of published plans begin at 1, so that any of them is
/// newer, and the worker follows the others as soon as it has a place.
const OWN_VERSION: u64 = 0;

/// Who is outrun at the directory so often will not get a place. One tick alone says little: many workers start at once.
pub(super) const PATIENCE_TICKS: u32 = 5;

impl Worker {
    pub(super) fn tick_alone(&mut self, now_ms: u64) {
        self.desk = None;
        self.poll_alone(now_ms);
        let members = match &self.config.membership {
            Membership::Static(members) => Some(members.clone()),
            Membership::EnvoyAdmin { .. } => self.census.clone(),
        };
        let differ = |members: &Members| self.plan().is_none_or(|plan| plan.members != *members);
        if let Some(members) = members.filter(differ) {
            self.plan_alone(&members, now_ms);
        }
    }

    fn poll_alone(&mut self, now_ms: u64) {
        let config = self.config.clone();
        let Membership::EnvoyAdmin { admin_cluster, poll_interval_ms, .. } = &config.membership
        else {
            return;
        };
        if self.polled_ms.is_none_or(|at| now_ms.abs_diff(at) >= *poll_interval_ms) {
            self.polled_ms = Some(now_ms);
            self.actions.push(Action::Poll { admin_cluster: admin_cluster.clone() });
        }
    }

    fn plan_alone(&mut self, members: &Members, now_ms: u64) {
        let config = self.config.clone();
        let previous = self.plan().cloned();
        let planned = self.make_plan(&Request {
            config: &config,
            members,
            previous: previous.as_deref(),
            loads: &Merge::new(&config, members, 1).finish(),
            epoch: 1,
            version: OWN_VERSION,
            now_ms,
        });
        if let Some(plan) = planned {
            let table = self.table_of(&plan);
            self.draft = None;
            self.pending.clear();
            self.adopt(Arc::new(plan), table);
        }
    }
}
