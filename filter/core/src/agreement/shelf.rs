//! One value of the store.

use super::{Expect, SharedStore, StoreFault, Stored, Tally};
use crate::wire::WireFault;

/// What stands at a key.
#[derive(Clone, Debug)]
pub struct Seen<T> {
    /// The value; `None` if there is none or it was refused.
    pub value: Option<T>,
    /// What a replacement must expect.
    pub expect: Expect,
}

/// A key of the store. It remembers which version it refused, so that one bad value counts once.
#[derive(Clone, Debug)]
pub struct Shelf {
    key: String,
    refused: Option<u32>,
}

impl Shelf {
    #[must_use]
    pub fn new(key: String) -> Self {
        Self { key, refused: None }
    }

    /// Reads and opens the value.
    pub fn read<T>(
        &mut self,
        store: &mut dyn SharedStore,
        tally: &mut Tally,
        open: impl FnOnce(&[u8]) -> Result<T, WireFault>,
    ) -> Result<Seen<T>, StoreFault> {
        let Some(found) = store.get(&self.key)? else {
            return Ok(Seen { value: None, expect: Expect::Absent });
        };
        let value = match open(&found.bytes) {
            Ok(value) => Some(value),
            Err(fault) => {
                if self.refused != Some(found.version) {
                    self.refused = Some(found.version);
                    tally.refuse(fault);
                }
                None
            }
        };
        Ok(Seen { value, expect: Expect::Version(found.version) })
    }

    /// Reads and opens the value as one that this configuration wrote.
    pub fn read_own<T>(
        &mut self,
        store: &mut dyn SharedStore,
        tally: &mut Tally,
        config: u64,
        open: fn(u64, &[u8]) -> Result<T, WireFault>,
    ) -> Result<Seen<T>, StoreFault> {
        self.read(store, tally, |bytes| open(config, bytes))
    }

    /// Replaces the value if it is still the one that was seen; says whether it did.
    pub fn replace(
        &self,
        store: &mut dyn SharedStore,
        tally: &mut Tally,
        expect: Expect,
        sealed: &[u8],
    ) -> Result<bool, StoreFault> {
        let stored = store.set(&self.key, sealed, expect)? == Stored::Yes;
        tally.lost += u64::from(!stored);
        Ok(stored)
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }
}
