//! Whether anybody may look. Workers leave nothing for the status page while no filter serves one.

use crate::agreement::{SharedStore, Shelf, StoreFault, Tally};
use crate::wire::{FORMAT, shown};

/// How often a status page says that it is there.
pub const HEARTBEAT_MS: u64 = 5_000;

/// After this silence nobody looks.
const LEASE_MS: u64 = 30_000;

/// Where that stands.
#[must_use]
pub fn shelf() -> Shelf {
    Shelf::new(format!("rudolph/{FORMAT}/watch"))
}

/// Whether a status page is there.
pub fn is_on(
    shelf: &mut Shelf,
    store: &mut dyn SharedStore,
    tally: &mut Tally,
    now_ms: u64,
) -> Result<bool, StoreFault> {
    let seen = shelf.read(store, tally, shown::open_watch)?;
    Ok(seen.value.is_some_and(|heartbeat| now_ms.abs_diff(heartbeat) < LEASE_MS))
}

/// Says that one is there, unless another just did.
pub fn keep_on(store: &mut dyn SharedStore, now_ms: u64) -> Result<(), StoreFault> {
    let tally = &mut Tally::default();
    let mut shelf = shelf();
    let seen = shelf.read(store, tally, shown::open_watch)?;
    if seen.value.is_none_or(|heartbeat| now_ms.abs_diff(heartbeat) >= HEARTBEAT_MS) {
        shelf.replace(store, tally, seen.expect, &shown::seal_watch(now_ms))?;
    }
    Ok(())
}
