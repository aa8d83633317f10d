//! Slots: where each worker publishes what it counted.
//!
//! There is no name for a worker, so it takes the first slot that is free: never used, released, silent for a
//! whole lease, unreadable, or left by another configuration. Whoever overslept its lease finds its compare-and-swap lost and takes another.
//! A slot says which plan is the newest that is known in it, and goes on saying so when its worker has ended: if the
//! plan itself is lost, nothing else may tell.

use super::arena::key;
use super::{Expect, SharedStore, Shelf, StoreFault, Tally};
use crate::wire::records::{self, Slot, SlotHead};

/// After this silence a slot may be taken and no longer counts.
pub const LEASE_MS: u64 = 10_000;

/// Most workers of an arena.
pub const MAX_SLOTS: usize = 256;

/// A worker's hold on a slot.
#[derive(Debug)]
pub struct OwnSlot {
    config: u64,
    arena: usize,
    held: Option<(usize, Shelf, Expect)>,
    /// The newest plan that was known in the slots that it took over, be it another configuration's.
    inherited: u64,
}

impl OwnSlot {
    #[must_use]
    pub fn new(config: u64, arena: usize) -> Self {
        Self { config, arena, held: None, inherited: 0 }
    }

    /// The arena it is in.
    #[must_use]
    pub fn arena(&self) -> usize {
        self.arena
    }

    /// The number of the slot that it holds.
    #[must_use]
    pub fn number(&self) -> Option<usize> {
        self.held.as_ref().map(|(number, ..)| *number)
    }

    /// Publishes under the held slot, or under a free one. Says whether it did: all slots may be taken.
    pub fn publish(
        &mut self,
        store: &mut dyn SharedStore,
        tally: &mut Tally,
        slot: &Slot,
    ) -> Result<bool, StoreFault> {
        if let Some((number, shelf, expect)) = self.held.take()
            && self.put(store, tally, (number, shelf), expect, &self.sealed(slot))?
        {
            return Ok(true);
        }
        for number in 0..MAX_SLOTS {
            let mut shelf = shelf(self.arena, number);
            let seen = shelf.read(store, tally, records::peek_slot)?;
            let lives = |other: SlotHead| {
                other.config == self.config && alive(other.heartbeat_ms, slot.heartbeat_ms)
            };
            if seen.value.is_some_and(lives) {
                continue;
            }
            self.inherited = self.inherited.max(seen.value.map_or(0, |other| other.plan_version));
            if self.put(store, tally, (number, shelf), seen.expect, &self.sealed(slot))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn sealed(&self, slot: &Slot) -> Vec<u8> {
        let sealed = |slot: &Slot| records::seal_slot(self.config, slot);
        if slot.plan_version >= self.inherited {
            return sealed(slot);
        }
        sealed(&Slot { plan_version: self.inherited, ..slot.clone() })
    }

    /// Stores, and reads back to learn the version that the next compare-and-swap must name.
    fn put(
        &mut self,
        store: &mut dyn SharedStore,
        tally: &mut Tally,
        (number, shelf): (usize, Shelf),
        expect: Expect,
        sealed: &[u8],
    ) -> Result<bool, StoreFault> {
        if !shelf.replace(store, tally, expect, sealed)? {
            return Ok(false);
        }
        let Some(now) = store.get(shelf.key())? else {
            return Ok(false);
        };
        let mine = now.bytes == sealed;
        if mine {
            self.held = Some((number, shelf, Expect::Version(now.version)));
        }
        Ok(mine)
    }

    /// Gives the slot up, so that the next worker need not wait for the lease to end.
    pub fn release(&mut self, store: &mut dyn SharedStore, plan_version: u64) {
        if let Some((_, shelf, expect)) = self.held.take() {
            let sealed = self.sealed(&Slot { plan_version, ..Slot::default() });
            // Nothing can be done about a failure here: the lease ends by itself.
            let _ = shelf.replace(store, &mut Tally::default(), expect, &sealed);
        }
    }
}

/// Hands out the slots of all living workers, one at a time.
pub fn read_all(
    store: &mut dyn SharedStore,
    tally: &mut Tally,
    config: u64,
    arena: usize,
    now_ms: u64,
    mut take: impl FnMut(Slot),
) -> Result<(), StoreFault> {
    read_numbered(store, tally, config, arena, now_ms, |_, slot| take(slot))
}

/// The same with the slots' numbers.
pub fn read_numbered(
    store: &mut dyn SharedStore,
    tally: &mut Tally,
    config: u64,
    arena: usize,
    now_ms: u64,
    mut take: impl FnMut(usize, Slot),
) -> Result<(), StoreFault> {
    for number in 0..MAX_SLOTS {
        let seen = shelf(arena, number).read_own(store, tally, config, records::open_slot)?;
        if seen.expect == Expect::Absent {
            break;
        }
        if let Some(slot) = seen.value.filter(|slot| alive(slot.heartbeat_ms, now_ms)) {
            take(number, slot);
        }
    }
    Ok(())
}

/// What all slots of an arena say first, also those of workers that ended and of other configurations.
pub fn peek_all(
    store: &mut dyn SharedStore,
    arena: usize,
    mut take: impl FnMut(SlotHead),
) -> Result<(), StoreFault> {
    for number in 0..MAX_SLOTS {
        // Who reads an unreadable slot as its own counts it; a look around does not.
        let seen = shelf(arena, number).read(store, &mut Tally::default(), records::peek_slot)?;
        if seen.expect == Expect::Absent {
            break;
        }
        seen.value.into_iter().for_each(&mut take);
    }
    Ok(())
}

/// The configurations of all living workers in an arena, whatever the directory says of it.
pub fn inhabitants(
    store: &mut dyn SharedStore,
    arena: usize,
    now_ms: u64,
) -> Result<Vec<u64>, StoreFault> {
    let mut configs = Vec::new();
    peek_all(store, arena, |slot| {
        if alive(slot.heartbeat_ms, now_ms) {
            configs.push(slot.config);
        }
    })?;
    Ok(configs)
}

fn shelf(arena: usize, number: usize) -> Shelf {
    Shelf::new(key(arena, &format!("slot/{number}")))
}

/// A heartbeat of the future is as good as one of the past: clocks jump.
fn alive(heartbeat_ms: u64, now_ms: u64) -> bool {
    heartbeat_ms != 0 && heartbeat_ms.abs_diff(now_ms) < LEASE_MS
}
