//! Arenas: which part of the store belongs to which configuration.
//!
//! Several configurations live in one process: several filters, or an old and a new one while Envoy drains. Each
//! uses an arena of its own, found by its digest in one directory, so they never disturb each other. The store
//! cannot delete, so arenas are few and an abandoned one is used again.

use super::{SharedStore, Shelf, StoreFault, Tally, slot};
use crate::wire::FORMAT;
use crate::wire::records::{self, MAX_ARENAS, Tenant};

/// How often a tenant says that it lives.
const HEARTBEAT_MS: u64 = 5_000;

/// After this silence an arena may be taken: longer than any stall, so that only the dead lose theirs.
const ABANDONED_MS: u64 = 120_000;

/// The heartbeat of an arena that its tenant gave up.
const RELEASED: u64 = 0;

/// A tenant of whom nothing is known: the directory was lost, and it has not come to write itself down again.
const UNKNOWN: u64 = 0;

/// Races for the directory that a worker may lose in one tick.
const ATTEMPTS: usize = 8;

/// What came of asking for an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Its number.
    Held(usize),
    /// All are taken by living tenants.
    Full,
    /// Others wrote the directory each time, so the next tick asks again.
    Outrun,
}

/// A worker's hold on its configuration's arena.
#[derive(Debug)]
pub struct Arena {
    config: u64,
    directory: Shelf,
    held: Option<(usize, u64)>,
}

impl Arena {
    #[must_use]
    pub fn new(config: u64) -> Self {
        Self { config, directory: Shelf::new(format!("rudolph/{FORMAT}/directory")), held: None }
    }

    /// The configuration's arena; claims one if needed.
    pub fn hold(
        &mut self,
        store: &mut dyn SharedStore,
        tally: &mut Tally,
        now_ms: u64,
    ) -> Result<Claim, StoreFault> {
        if let Some((arena, checked_ms)) = self.held
            && now_ms.abs_diff(checked_ms) < HEARTBEAT_MS
        {
            return Ok(Claim::Held(arena));
        }
        for _ in 0..ATTEMPTS {
            let seen = self.directory.read(store, tally, records::open_directory)?;
            let mut tenants = seen.value.unwrap_or_default();
            let Some(arena) = self.place(store, tally, &tenants, now_ms)? else {
                self.held = None;
                return Ok(Claim::Full);
            };
            while tenants.len() <= arena {
                tenants.push(Tenant { config: UNKNOWN, heartbeat_ms: now_ms });
            }
            tenants[arena] = Tenant { config: self.config, heartbeat_ms: now_ms };
            let sealed = records::seal_directory(&tenants);
            if self.directory.replace(store, tally, seen.expect, &sealed)? {
                self.held = Some((arena, now_ms));
                return Ok(Claim::Held(arena));
            }
        }
        Ok(self.held.map_or(Claim::Outrun, |(arena, _)| Claim::Held(arena)))
    }

    /// Where this configuration is or may be: its own place by the directory, where it was if nobody else is known to
    /// be there, one where nobody is, or the longest abandoned.
    fn place(
        &self,
        store: &mut dyn SharedStore,
        tally: &mut Tally,
        tenants: &[Tenant],
        now_ms: u64,
    ) -> Result<Option<usize>, StoreFault> {
        if let Some(named) = tenants.iter().position(|tenant| tenant.config == self.config) {
            return Ok(Some(named));
        }
        if let Some(was) = self.was_in(store, tally, tenants, now_ms)? {
            return Ok(Some(was));
        }
        let is_given_up = |arena: &usize| tenants[*arena].heartbeat_ms == RELEASED;
        let given_up = (0..tenants.len()).filter(is_given_up);
        for arena in given_up.chain(tenants.len()..MAX_ARENAS) {
            // Its tenants may be of whom the directory, if it was lost, does not know yet.
            if slot::inhabitants(store, arena, now_ms)?.is_empty() {
                return Ok(Some(arena));
            }
        }
        Ok(longest_abandoned(tenants, now_ms))
    }

    /// Where this configuration is although the directory, which may have been lost, does not say so: where this
    /// worker has been, or where other workers or a plan of this configuration are. Without this a worker that starts then
    /// would sit down apart from the others, and until they looked again there would be two plans.
    fn was_in(
        &self,
        store: &mut dyn SharedStore,
        tally: &mut Tally,
        tenants: &[Tenant],
        now_ms: u64,
    ) -> Result<Option<usize>, StoreFault> {
        let is_open = |arena: &usize| tenants.get(*arena).is_none_or(is_vacant);
        if let Some((arena, _)) = self.held {
            return Ok(Some(arena).filter(is_open));
        }
        // A plan may have been left where the configuration lived before, and one damaged slot may seem to be its own: so
        // most workers tell, and then the newest plan.
        let mut best = None;
        for arena in (0..MAX_ARENAS).filter(is_open) {
            let inhabitants = slot::inhabitants(store, arena, now_ms)?;
            let own = inhabitants.iter().filter(|config| **config == self.config).count();
            if own == 0 && !inhabitants.is_empty() {
                continue;
            }
            let mut plan = Shelf::new(key(arena, "plan"));
            let plan = plan.read_own(store, tally, self.config, records::open_plan)?.value;
            let version = plan.map(|plan| plan.version);
            if own > 0 || version.is_some() {
                best = best.max(Some((own, version, arena)));
            }
        }
        Ok(best.map(|(.., arena)| arena))
    }

    /// Looks again at the next hold, whether the arena is still its own.
    pub fn distrust(&mut self) {
        if let Some((_, checked_ms)) = &mut self.held {
            *checked_ms = 0;
        }
    }

    /// Gives the arena up at once, for the next configuration.
    pub fn leave(
        &mut self,
        store: &mut dyn SharedStore,
        tally: &mut Tally,
    ) -> Result<(), StoreFault> {
        self.held = None;
        let seen = self.directory.read(store, tally, records::open_directory)?;
        let mut tenants = seen.value.unwrap_or_default();
        if let Some(own) = tenants.iter_mut().find(|tenant| tenant.config == self.config) {
            own.heartbeat_ms = RELEASED;
            let sealed = records::seal_directory(&tenants);
            self.directory.replace(store, tally, seen.expect, &sealed)?;
        }
        Ok(())
    }

    /// The highest version among all arenas' plans, so that a new configuration counts on from there. The directory
    /// is not asked: it may have been lost, and with it who the tenants were, but not how far they had counted.
    pub fn highest_version(
        &self,
        store: &mut dyn SharedStore,
        tally: &mut Tally,
    ) -> Result<u64, StoreFault> {
        let mut highest = 0;
        for arena in 0..MAX_ARENAS {
            highest = highest.max(version_at(store, tally, key(arena, "plan"))?);
        }
        Ok(highest)
    }

    /// The highest version that anything tells of: plans, those before them, and slots.
    pub fn highest_told(
        &self,
        store: &mut dyn SharedStore,
        tally: &mut Tally,
    ) -> Result<u64, StoreFault> {
        let mut highest = self.highest_version(store, tally)?;
        for arena in 0..MAX_ARENAS {
            highest = highest.max(version_at(store, tally, key(arena, "plan/before"))?);
            slot::peek_all(store, arena, |slot| highest = highest.max(slot.plan_version))?;
        }
        Ok(highest)
    }
}

fn version_at(
    store: &mut dyn SharedStore,
    tally: &mut Tally,
    key: String,
) -> Result<u64, StoreFault> {
    let seen = Shelf::new(key).read(store, tally, records::peek_plan_version)?;
    Ok(seen.value.unwrap_or(0))
}

/// Nobody is known to be there.
fn is_vacant(tenant: &Tenant) -> bool {
    tenant.config == UNKNOWN || tenant.heartbeat_ms == RELEASED
}

/// The arena of the tenant that has been silent for longest, if that is long.
fn longest_abandoned(tenants: &[Tenant], now_ms: u64) -> Option<usize> {
    let silence = |tenant: &Tenant| now_ms.abs_diff(tenant.heartbeat_ms);
    (tenants.iter().enumerate())
        .filter(|(_, tenant)| silence(tenant) > ABANDONED_MS)
        .max_by_key(|(_, tenant)| silence(tenant))
        .map(|(arena, _)| arena)
}

/// The key of a value in an arena.
#[must_use]
pub fn key(arena: usize, what: &str) -> String {
    format!("rudolph/{FORMAT}/{arena}/{what}")
}
