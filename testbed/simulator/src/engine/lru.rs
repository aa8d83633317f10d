//! A least-recently-used cache of keys, which here are small numbers: one list through an array, and an index that is
//! an array too where that is affordable.

const NONE: u32 = u32::MAX;

/// Past this many keys in all caches together, an index by array costs too much memory.
const MOST_DENSE: usize = 64 << 20;

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u32,
    newer: u32,
    older: u32,
}

/// The cache of one server.
#[derive(Clone, Debug)]
pub(crate) struct Lru {
    capacity: usize,
    entries: Vec<Entry>,
    newest: u32,
    oldest: u32,
    index: Index,
}

impl Lru {
    /// A cache for `capacity` of the keys `0..keys`; one of `caches` alike.
    pub(crate) fn new(capacity: usize, keys: usize, caches: usize) -> Self {
        let capacity = capacity.min(keys);
        let dense = keys.saturating_mul(caches) <= MOST_DENSE;
        let index = if dense { Index::dense(keys) } else { Index::hashed(capacity) };
        Self { capacity, entries: Vec::with_capacity(capacity), newest: NONE, oldest: NONE, index }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = u32> {
        self.entries.iter().map(|entry| entry.key)
    }

    /// Whether the key is there; then it is the newest.
    #[inline]
    pub(crate) fn touch(&mut self, key: u32) -> bool {
        let at = self.index.get(key, &self.entries);
        if at == NONE {
            return false;
        }
        if at != self.newest {
            self.unlink(at);
            self.link_newest(at);
        }
        true
    }

    /// Puts the key in, in the place of the oldest if there is no other.
    pub(crate) fn insert(&mut self, key: u32) {
        if self.capacity == 0 || self.touch(key) {
            return;
        }
        let at = if self.entries.len() < self.capacity {
            self.entries.push(Entry { key, newer: NONE, older: NONE });
            (self.entries.len() - 1) as u32
        } else {
            let at = self.oldest;
            self.index.remove(self.entries[at as usize].key, &self.entries);
            self.unlink(at);
            self.entries[at as usize].key = key;
            at
        };
        self.index.put(key, at);
        self.link_newest(at);
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        (self.newest, self.oldest) = (NONE, NONE);
        self.index.clear();
    }

    fn unlink(&mut self, at: u32) {
        let Entry { newer, older, .. } = self.entries[at as usize];
        match newer {
            NONE => self.newest = older,
            _ => self.entries[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            _ => self.entries[older as usize].newer = newer,
        }
    }

    fn link_newest(&mut self, at: u32) {
        let entry = &mut self.entries[at as usize];
        (entry.newer, entry.older) = (NONE, self.newest);
        match self.newest {
            NONE => self.oldest = at,
            newest => self.entries[newest as usize].newer = at,
        }
        self.newest = at;
    }
}

/// From a key to its entry.
#[derive(Clone, Debug)]
enum Index {
    /// By key.
    Dense(Vec<u32>),
    /// Open addressing with linear probing, at most half full; the length is a power of two.
    Hashed(Vec<u32>),
}

impl Index {
    fn dense(keys: usize) -> Self {
        Self::Dense(vec![NONE; keys])
    }

    fn hashed(capacity: usize) -> Self {
        Self::Hashed(vec![NONE; (2 * capacity).next_power_of_two().max(2)])
    }

    #[inline]
    fn get(&self, key: u32, entries: &[Entry]) -> u32 {
        match self {
            Self::Dense(by_key) => by_key[key as usize],
            Self::Hashed(slots) => slots[probe(slots, key, entries)],
        }
    }

    fn put(&mut self, key: u32, at: u32) {
        match self {
            Self::Dense(by_key) => by_key[key as usize] = at,
            Self::Hashed(slots) => {
                // The entry bears the key already: only an empty slot ends the search.
                let mut slot = first_slot(slots, key);
                while slots[slot] != NONE {
                    slot = (slot + 1) & (slots.len() - 1);
                }
                slots[slot] = at;
            }
        }
    }

    fn remove(&mut self, key: u32, entries: &[Entry]) {
        match self {
            Self::Dense(by_key) => by_key[key as usize] = NONE,
            Self::Hashed(slots) => {
                let slot = probe(slots, key, entries);
                close_gap(slots, slot, entries);
            }
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Dense(slots) | Self::Hashed(slots) => slots.fill(NONE),
        }
    }
}

fn first_slot(slots: &[u32], key: u32) -> usize {
    (u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (slots.len() - 1)
}

/// The slot of the key, or the empty one where it would be.
fn probe(slots: &[u32], key: u32, entries: &[Entry]) -> usize {
    let mut slot = first_slot(slots, key);
    while slots[slot] != NONE && entries[slots[slot] as usize].key != key {
        slot = (slot + 1) & (slots.len() - 1);
    }
    slot
}

/// Empties a slot and moves up what would no longer be found behind it.
fn close_gap(slots: &mut [u32], mut gap: usize, entries: &[Entry]) {
    let mask = slots.len() - 1;
    let mut slot = (gap + 1) & mask;
    while slots[slot] != NONE {
        let home = first_slot(slots, entries[slots[slot] as usize].key);
        if slot.wrapping_sub(home) & mask >= slot.wrapping_sub(gap) & mask {
            slots[gap] = slots[slot];
            gap = slot;
        }
        slot = (slot + 1) & mask;
    }
    slots[gap] = NONE;
}

/// The share of hits of one cache that sees these keys; the first half only warms it.
pub(crate) fn hit_share(keys: &[u32], capacity: usize, different: usize) -> f64 {
    let mut cache = Lru::new(capacity, different, 1);
    let (warming, counted) = keys.split_at(keys.len() / 2);
    let mut look = |key: u32| {
        let hit = cache.touch(key);
        if !hit {
            cache.insert(key);
        }
        hit
    };
    warming.iter().for_each(|&key| _ = look(key));
    let hits = counted.iter().filter(|&&key| look(key)).count();
    hits as f64 / counted.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rudolph_workload::SplitMix64;

    /// The obvious version: the newest key stands last.
    struct Naive(Vec<u32>, usize);

    impl Naive {
        fn touch(&mut self, key: u32) -> bool {
            let found = self.0.iter().position(|&other| other == key);
            found.map(|at| self.0.remove(at)).map(|key| self.0.push(key)).is_some()
        }

        fn insert(&mut self, key: u32) {
            if self.1 == 0 || self.touch(key) {
                return;
            }
            if self.0.len() == self.1 {
                self.0.remove(0);
            }
            self.0.push(key);
        }
    }

    fn compare(mut lru: Lru, capacity: usize, keys: u64, seed: u64) {
        let mut naive = Naive(Vec::new(), capacity);
        let mut rng = SplitMix64::new(seed);
        for step in 0..20_000 {
            let key = rng.next_below(keys) as u32;
            let (hit, expected) = (lru.touch(key), naive.touch(key));
            assert_eq!(hit, expected, "seed {seed}, step {step}, key {key}");
            if !hit {
                lru.insert(key);
                naive.insert(key);
            }
        }
        assert_eq!(lru.len(), naive.0.len(), "seed {seed}");
    }

    #[test]
    fn both_indexes_do_as_the_obvious_version() {
        for (seed, capacity) in [(1, 1), (2, 7), (3, 40), (4, 0)] {
            compare(Lru::new(capacity, 100, 1), capacity, 100, seed);
            compare(Lru::new(capacity, 100, MOST_DENSE), capacity, 100, seed);
        }
    }

    #[test]
    fn a_cleared_cache_is_as_new() {
        let mut lru = Lru::new(3, 10, 1);
        (0..5).for_each(|key| lru.insert(key));
        lru.clear();
        assert!(lru.len() == 0 && !lru.touch(4));
        lru.insert(4);
        assert!(lru.touch(4));
    }
}
