//! The keys that a plan treats one by one, found in a probe or two.

use crate::hash::KeyHash;

/// Most keys that one plan names: a worker's whole sketch.
pub const MAX_HOT_KEYS: usize = crate::sketch::CAPACITY;

/// A key of a plan with what the plan says of it: under `spread` on how many servers it is, under `pin`
/// the index of the server it is pinned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HotKey {
    /// The key.
    pub key: KeyHash,
    /// A number of servers, or a server.
    pub value: u16,
}

/// An immutable map from hot keys to their values; open addressing, at most half full.
#[derive(Clone, Debug)]
pub struct HotTable {
    slots: Vec<Option<HotKey>>,
    shift: u32,
}

impl HotTable {
    /// Of two entries with one key the first counts.
    #[must_use]
    pub fn new(keys: &[HotKey]) -> Self {
        let size = (keys.len() * 2).next_power_of_two().max(2);
        let mut table = Self { slots: vec![None; size], shift: 64 - size.ilog2() };
        for hot in keys {
            table.insert(*hot);
        }
        table
    }

    fn insert(&mut self, hot: HotKey) {
        let mut at = self.home(hot.key);
        while let Some(taken) = self.slots[at] {
            if taken.key == hot.key {
                return;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = Some(hot);
    }

    /// The value of a key, if it is hot.
    #[inline]
    #[must_use]
    pub fn get(&self, key: KeyHash) -> Option<u16> {
        let mut at = self.home(key);
        while let Some(hot) = self.slots[at] {
            if hot.key == key {
                return Some(hot.value);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        None
    }

    #[inline]
    fn home(&self, key: KeyHash) -> usize {
        (key.0 >> self.shift) as usize
    }
}
