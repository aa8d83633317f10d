//! The epoch: who claims the next number plans it.

use super::arena::key;
use super::{SharedStore, Shelf, StoreFault, Tally};
use crate::wire::records::{self, Epoch};

/// The epoch of an arena.
#[derive(Debug)]
pub struct EpochClock {
    config: u64,
    shelf: Shelf,
    /// The highest number seen, so that a lost value does not turn the count back.
    last: u64,
}

impl EpochClock {
    #[must_use]
    pub fn new(config: u64, arena: usize) -> Self {
        Self { config, shelf: Shelf::new(key(arena, "epoch")), last: 0 }
    }

    /// The present epoch, and whether this worker has just claimed it: it does if the last one began `length_ms` ago
    /// or `urgent`ly. A clock that jumped either way ends an epoch too.
    pub fn advance(
        &mut self,
        store: &mut dyn SharedStore,
        tally: &mut Tally,
        now_ms: u64,
        length_ms: u64,
        urgent: bool,
    ) -> Result<(Epoch, bool), StoreFault> {
        let config = self.config;
        let seen = self.shelf.read_own(store, tally, config, records::open_epoch)?;
        let present = seen.value.unwrap_or(Epoch { number: self.last, began_ms: 0 });
        self.last = self.last.max(present.number);
        let over = now_ms.abs_diff(present.began_ms) >= length_ms;
        if seen.value.is_some() && !over && !urgent {
            return Ok((present, false));
        }
        let next = Epoch { number: self.last + 1, began_ms: now_ms };
        let sealed = records::seal_epoch(config, next);
        let claimed = self.shelf.replace(store, tally, seen.expect, &sealed)?;
        Ok(if claimed { (next, true) } else { (present, false) })
    }
}
