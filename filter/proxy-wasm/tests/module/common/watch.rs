//! Watches the shared plans: looked at after every callback, they may never be two of one version nor go back.

use std::collections::BTreeMap;
use std::sync::Arc;

use rudolph_core::agreement::arena;
use rudolph_core::agreement::slot::{LEASE_MS, MAX_SLOTS};
use rudolph_core::plan::Plan;
use rudolph_core::wire::records::{self, MAX_ARENAS, Slot};
use rudolph_mock_host::Host;

/// The shared data of one configuration.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    host: Host,
    config: u64,
}

impl Shared {
    pub(crate) fn of(host: &Host, config: u64) -> Self {
        Self { host: host.clone(), config }
    }

    /// The arena of the configuration.
    pub(crate) fn arena(&self) -> Option<usize> {
        let bytes = self.host.shared_data().get(directory_key())?;
        let tenants = records::open_directory(&bytes).ok()?;
        tenants.iter().position(|tenant| tenant.config == self.config)
    }

    pub(crate) fn key(&self, what: &str) -> String {
        arena::key(self.arena().expect("the configuration has an arena"), what)
    }

    pub(crate) fn plan(&self) -> Option<Plan> {
        let key = arena::key(self.arena()?, "plan");
        let bytes = self.host.shared_data().get(key)?;
        records::open_plan(self.config, &bytes).ok()
    }

    /// The slots that can be read.
    pub(crate) fn slots(&self) -> Vec<Slot> {
        let Some(arena) = self.arena() else { return Vec::new() };
        let slot = |n| self.host.shared_data().get(arena::key(arena, &format!("slot/{n}")));
        (0..MAX_SLOTS)
            .map_while(slot)
            .filter_map(|bytes| records::open_slot(self.config, &bytes).ok())
            .collect()
    }

    /// The slots whose workers live.
    pub(crate) fn living(&self) -> usize {
        let now_ms = self.host.clock().nanos() / 1_000_000;
        let living =
            |slot: &&Slot| slot.heartbeat_ms != 0 && now_ms.abs_diff(slot.heartbeat_ms) < LEASE_MS;
        self.slots().iter().filter(living).count()
    }
}

pub(crate) fn directory_key() -> String {
    format!("rudolph/{}/directory", rudolph_core::wire::FORMAT)
}

/// The plans seen so far, by arena.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    stored: BTreeMap<usize, u32>,
    plans: BTreeMap<(usize, u64), Arc<[u8]>>,
    newest: BTreeMap<usize, u64>,
}

impl Watch {
    /// Looks at the plans of all arenas.
    pub(crate) fn look(&mut self, host: &Host) {
        for arena in 0..MAX_ARENAS {
            let key = arena::key(arena, "plan");
            let Some((bytes, stored)) = host.shared_data().get_versioned(key) else { break };
            if self.stored.insert(arena, stored) != Some(stored) {
                self.see(arena, bytes);
            }
        }
    }

    fn see(&mut self, arena: usize, bytes: Arc<[u8]>) {
        let version = records::peek_plan_version(&bytes).expect("published plans are sound");
        let newest = self.newest.entry(arena).or_default();
        assert!(version >= *newest, "plan {version} was published after plan {newest}");
        *newest = version;
        if let Some(other) = self.plans.insert((arena, version), bytes.clone()) {
            assert!(other == bytes, "two plans have version {version}");
        }
    }

    /// Takes what stands there now for given: the test wrote it.
    pub(crate) fn overlook(&mut self, host: &Host) {
        for arena in 0..MAX_ARENAS {
            let found = host.shared_data().get_versioned(arena::key(arena, "plan"));
            self.stored.extend(found.map(|(_, stored)| (arena, stored)));
        }
    }
}
