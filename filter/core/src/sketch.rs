//! The Space-Saving sketch: the hottest of any number of keys in bounded memory.
//!
//! Each of the few tracked keys has a count and an error: its true count lies in
//! `count - error ..= count`. A new key takes the place of one with (nearly) the smallest count and inherits that
//! count as its error. Counts decay, so that the sketch tells what is hot now.

use crate::hash::KeyHash;

/// Tracked keys.
pub const CAPACITY: usize = 512;

/// Buckets of the index: a quarter full, so probes are short.
const BUCKETS: usize = CAPACITY * 4;
const EMPTY: u16 = u16::MAX;

/// How far over the smallest count a key may be and still be replaced. Exactness here would cost a heap;
/// the guaranteed lower bound holds all the same, since the error inherits the count that was replaced.
const SLACK: f32 = 0.25;

/// Below this a count is forgotten; it also keeps decaying numbers out of the denormal range.
const FORGOTTEN: f32 = 1e-3;

/// A tracked key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tracked {
    /// The key.
    pub key: KeyHash,
    /// Never under the key's true (decayed) count.
    pub count: f32,
    /// The most by which `count` may exceed it.
    pub error: f32,
}

impl Tracked {
    /// The part of the count that is certain.
    #[inline]
    #[must_use]
    pub fn guaranteed(&self) -> f32 {
        self.count - self.error
    }
}

/// The sketch of one worker.
#[derive(Clone, Debug)]
pub struct Sketch {
    entries: Vec<Tracked>,
    /// Key to entry, open addressing with linear probing.
    index: Vec<u16>,
    total: f32,
    /// No count is known to be smaller.
    floor: f32,
    /// Where the search for a replaceable entry goes on.
    cursor: usize,
}

impl Default for Sketch {
    fn default() -> Self {
        Self {
            entries: Vec::with_capacity(CAPACITY),
            index: vec![EMPTY; BUCKETS],
            total: 0.0,
            floor: 0.0,
            cursor: 0,
        }
    }
}

impl Sketch {
    /// Counts one occurrence of a key and returns the entry that holds it now.
    #[inline]
    pub fn add(&mut self, key: KeyHash) -> usize {
        self.total += 1.0;
        let mut bucket = home_bucket(key);
        loop {
            let slot = self.index[bucket];
            if slot == EMPTY {
                return self.insert(key, bucket);
            }
            let entry = &mut self.entries[usize::from(slot)];
            if entry.key == key {
                entry.count += 1.0;
                return usize::from(slot);
            }
            bucket = next_bucket(bucket);
        }
    }

    /// The entry at a position that [`Sketch::add`] returned.
    #[inline]
    #[must_use]
    pub fn entry(&self, slot: usize) -> Tracked {
        self.entries[slot]
    }

    /// All tracked keys, in no order.
    #[must_use]
    pub fn entries(&self) -> &[Tracked] {
        &self.entries
    }

    /// The decayed number of all occurrences.
    #[inline]
    #[must_use]
    pub fn total(&self) -> f32 {
        self.total
    }

    /// Multiplies everything by `factor`.
    pub fn decay(&mut self, factor: f32) {
        let settle = |value: f32| if value < FORGOTTEN { 0.0 } else { value };
        for entry in &mut self.entries {
            entry.count = settle(entry.count * factor);
            entry.error = (entry.error * factor).min(entry.count);
        }
        self.total = settle(self.total * factor);
        self.floor *= factor;
        if self.floor < FORGOTTEN {
            self.floor = 0.0;
        }
    }

    fn insert(&mut self, key: KeyHash, bucket: usize) -> usize {
        if self.entries.len() < CAPACITY {
            let slot = self.entries.len();
            self.entries.push(Tracked { key, count: 1.0, error: 0.0 });
            self.index[bucket] = slot as u16;
            return slot;
        }
        let slot = self.replaceable();
        let old = self.entries[slot];
        self.unindex(old.key);
        // The key may have been here before and left with a count up to the slack over the floor.
        let inherited = old.count.max(self.floor + SLACK);
        self.entries[slot] = Tracked { key, count: inherited + 1.0, error: inherited };
        let mut bucket = home_bucket(key);
        while self.index[bucket] != EMPTY {
            bucket = next_bucket(bucket);
        }
        self.index[bucket] = slot as u16;
        slot
    }

    /// Finds an entry whose count is within the slack of the smallest. A round without one has seen every count,
    /// so it leaves the true minimum for a floor and the next step succeeds.
    fn replaceable(&mut self) -> usize {
        loop {
            let mut smallest = f32::INFINITY;
            for _ in 0..self.entries.len() {
                let slot = self.cursor;
                self.cursor = (slot + 1) % CAPACITY;
                let count = self.entries[slot].count;
                if count <= self.floor + SLACK {
                    return slot;
                }
                smallest = smallest.min(count);
            }
            self.floor = smallest;
        }
    }

    /// Takes a key out of the index, closing the gap so that later probes still find their keys.
    fn unindex(&mut self, key: KeyHash) {
        let mut gap = home_bucket(key);
        while self.index[gap] == EMPTY || self.entries[usize::from(self.index[gap])].key != key {
            gap = next_bucket(gap);
        }
        let mut probe = next_bucket(gap);
        while self.index[probe] != EMPTY {
            let home = home_bucket(self.entries[usize::from(self.index[probe])].key);
            let displaced = probe.wrapping_sub(home) % BUCKETS;
            let over_gap = probe.wrapping_sub(gap) % BUCKETS;
            if displaced >= over_gap {
                self.index[gap] = self.index[probe];
                gap = probe;
            }
            probe = next_bucket(probe);
        }
        self.index[gap] = EMPTY;
    }
}

#[inline]
fn home_bucket(key: KeyHash) -> usize {
    (key.0 >> 32) as usize % BUCKETS
}

#[inline]
fn next_bucket(bucket: usize) -> usize {
    (bucket + 1) % BUCKETS
}
