//! Who the servers are: from the configuration, or from a poll that one worker makes for all.

use super::{Action, Desk, Worker};
use crate::admin::{self, AdminFault};
use crate::agreement::{SharedStore, StoreFault};
use crate::config::Membership;
use crate::servers::Members;
use crate::telemetry::{Counter, Gauge, PollEnd};
use crate::wire::records::{self, Poll};

/// While no server is usable the admin interface is asked this often: servers are first found before their health is
/// known, and each moment until it is goes to the fallback policy.
const EAGER_POLL_MS: u64 = 200;

impl Worker {
    pub(super) fn members(
        &mut self,
        desk: &mut Desk,
        store: &mut dyn SharedStore,
    ) -> Result<Option<Members>, StoreFault> {
        if let Membership::Static(members) = &self.config.membership {
            return Ok(Some(members.clone()));
        }
        let config = self.config.digest;
        let open = records::open_roster;
        Ok(desk.roster.read_own(store, &mut self.tally, config, open)?.value)
    }

    pub(super) fn poll_if_due(
        &mut self,
        desk: &mut Desk,
        now_ms: u64,
        store: &mut dyn SharedStore,
    ) -> Result<(), StoreFault> {
        let Membership::EnvoyAdmin { admin_cluster, poll_interval_ms, .. } =
            &self.config.membership
        else {
            return Ok(());
        };
        let serves = self.plan().is_some_and(|plan| !plan.members.is_empty());
        let every_ms =
            if serves { *poll_interval_ms } else { EAGER_POLL_MS.min(*poll_interval_ms) };
        let recent = |at: u64| now_ms.abs_diff(at) < every_ms;
        if self.polled_ms.is_some_and(recent) {
            return Ok(());
        }
        let config = self.config.digest;
        let seen = desk.poll.read_own(store, &mut self.tally, config, records::open_poll)?;
        if let Some(poll) = seen.value.filter(|poll| recent(poll.asked_ms)) {
            self.polled_ms = Some(poll.asked_ms);
            return Ok(());
        }
        let ended = seen.value.map_or(PollEnd::Well, |poll| poll.ended);
        let sealed = records::seal_poll(config, Poll { asked_ms: now_ms, ended });
        if desk.poll.replace(store, &mut self.tally, seen.expect, &sealed)? {
            self.polled_ms = Some(now_ms);
            self.actions.push(Action::Poll { admin_cluster: admin_cluster.clone() });
        }
        Ok(())
    }

    /// A poll could not be sent, or was not answered, or not with 200.
    pub fn on_poll_failed(&mut self, store: &mut dyn SharedStore) -> Vec<Action> {
        self.note_poll_end(PollEnd::Silent, store);
        std::mem::take(&mut self.actions)
    }

    /// The admin interface answered a poll: publishes the members if they changed.
    pub fn on_clusters(&mut self, body: &[u8], store: &mut dyn SharedStore) -> Vec<Action> {
        let Membership::EnvoyAdmin { cluster, .. } = &self.config.membership else {
            return Vec::new();
        };
        let ended = match admin::read_clusters(body, cluster) {
            Ok(census) => {
                self.gauge(Gauge::ServersUnusable, census.unusable as u64);
                let published = self
                    .publish_roster(&census.usable, store)
                    .and_then(|()| self.show_left_out(&census.left_out, store));
                if published.is_err() {
                    self.count(Counter::SharedFailed);
                }
                PollEnd::Well
            }
            Err(AdminFault::Malformed(_)) => PollEnd::Unreadable,
            Err(AdminFault::NoCluster) => PollEnd::NoCluster,
        };
        self.note_poll_end(ended, store);
        std::mem::take(&mut self.actions)
    }

    fn note_poll_end(&mut self, ended: PollEnd, store: &mut dyn SharedStore) {
        let well = ended == PollEnd::Well;
        self.count(if well { Counter::PollsAnswered } else { Counter::PollsFailed });
        match self.change_poll_end(ended, store) {
            Ok(true) if well => self.actions.push(Action::Inform(ended.text().into())),
            Ok(true) => self.actions.push(Action::Warn(ended.text().into())),
            Ok(false) => {}
            Err(_) => self.count(Counter::SharedFailed),
        }
    }

    /// Whether this ends otherwise than the poll before, and no other worker has noted so yet.
    fn change_poll_end(
        &mut self,
        ended: PollEnd,
        store: &mut dyn SharedStore,
    ) -> Result<bool, StoreFault> {
        let Some(desk) = &mut self.desk else {
            return Ok(false);
        };
        let config = self.config.digest;
        let seen = desk.poll.read_own(store, &mut self.tally, config, records::open_poll)?;
        let Some(poll) = seen.value.filter(|poll| poll.ended != ended) else {
            return Ok(false);
        };
        let sealed = records::seal_poll(config, Poll { ended, ..poll });
        desk.poll.replace(store, &mut self.tally, seen.expect, &sealed)
    }

    fn publish_roster(
        &mut self,
        found: &Members,
        store: &mut dyn SharedStore,
    ) -> Result<(), StoreFault> {
        let Some(desk) = &mut self.desk else {
            self.census = Some(found.clone());
            return Ok(());
        };
        let config = self.config.digest;
        let seen = desk.roster.read_own(store, &mut self.tally, config, records::open_roster)?;
        if seen.value.as_ref() == Some(found) {
            return Ok(());
        }
        let sealed = records::seal_roster(config, found);
        if desk.roster.replace(store, &mut self.tally, seen.expect, &sealed)? {
            self.urgent = true;
        }
        Ok(())
    }
}
