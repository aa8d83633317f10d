//! Least recently used goes first, with few waits for memory: entries lie in one block, with short keys in them, and are
//! linked by their positions. A look touches the index and one entry; that an entry was used is written to its
//! neighbours, which nobody waits for.

use bytes::Bytes;
use hashbrown::HashTable;
use smallvec::SmallVec;

use crate::{Cache, CacheLimits, HashedKey, KeyHasher};

/// A key of so many bytes lies in its entry.
const SHORT_KEY: usize = 24;

/// No position.
const NONE: u32 = u32::MAX;

/// A bounded cache, as in the model that the figures are compared with.
#[derive(Debug)]
pub struct LruCache<V = Bytes> {
    /// Positions of entries, by the hash of the key.
    index: HashTable<u32>,
    hasher: KeyHasher,
    entries: Vec<Entry<V>>,
    newest: u32,
    oldest: u32,
    limits: CacheLimits,
    bytes: usize,
}

#[derive(Debug)]
struct Entry<V> {
    key: SmallVec<[u8; SHORT_KEY]>,
    value: V,
    hash: u64,
    newer: u32,
    older: u32,
}

impl<V: AsRef<[u8]> + Default> LruCache<V> {
    #[must_use]
    pub fn new(limits: CacheLimits) -> Self {
        Self::with_hasher(limits, KeyHasher::default())
    }

    #[must_use]
    pub fn with_hasher(limits: CacheLimits, hasher: KeyHasher) -> Self {
        // A position more is needed for a moment, before the oldest entry goes.
        let entries = limits.entries.min(NONE as usize - 1);
        Self {
            index: HashTable::new(),
            hasher,
            entries: Vec::new(),
            newest: NONE,
            oldest: NONE,
            limits: CacheLimits { entries, ..limits },
            bytes: 0,
        }
    }

    #[inline]
    #[must_use]
    pub fn hashed<'k>(&self, key: &'k [u8]) -> HashedKey<'k> {
        HashedKey { key, hash: self.hasher.hash(key) }
    }

    /// The value, marking the key as used.
    #[inline]
    pub fn view(&mut self, key: HashedKey<'_>) -> Option<&V> {
        let at = self.find(key)?;
        self.make_newest(at);
        Some(&self.entries[at as usize].value)
    }

    /// Whether the key is there, which does not use it.
    #[inline]
    #[must_use]
    pub fn contains(&self, key: HashedKey<'_>) -> bool {
        self.find(key).is_some()
    }

    /// Puts what `write` makes of the value that is there, whose memory may serve again, or of an empty one.
    #[inline]
    pub fn put(&mut self, key: HashedKey<'_>, write: impl FnOnce(&mut V)) {
        let at = match self.find(key) {
            Some(at) => {
                self.make_newest(at);
                at
            }
            None => self.insert(key),
        };
        let value = &mut self.entries[at as usize].value;
        self.bytes -= value.as_ref().len();
        write(value);
        self.bytes += value.as_ref().len();
        while self.entries.len() > self.limits.entries || self.bytes > self.limits.bytes {
            self.remove(self.oldest);
        }
    }

    pub fn forget(&mut self, key: HashedKey<'_>) {
        if let Some(at) = self.find(key) {
            self.remove(at);
        }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[inline]
    fn find(&self, HashedKey { key, hash }: HashedKey<'_>) -> Option<u32> {
        self.index.find(hash, |at| *self.entries[*at as usize].key == *key).copied()
    }

    fn insert(&mut self, HashedKey { key, hash }: HashedKey<'_>) -> u32 {
        let at = self.entries.len() as u32;
        let key = SmallVec::from_slice(key);
        self.bytes += key.len();
        self.entries.push(Entry { key, value: V::default(), hash, newer: NONE, older: NONE });
        self.index.insert_unique(hash, at, |at| self.entries[*at as usize].hash);
        self.link_newest(at);
        at
    }

    fn remove(&mut self, at: u32) {
        self.unlink(at);
        let last = self.entries.len() as u32 - 1;
        let gone = self.entries.swap_remove(at as usize);
        self.bytes -= gone.key.len() + gone.value.as_ref().len();
        if let Ok(place) = self.index.find_entry(gone.hash, |known| *known == at) {
            place.remove();
        }
        if at != last {
            self.moved(last, at);
        }
    }

    /// What named the entry by its position before names it by the one after.
    fn moved(&mut self, before: u32, after: u32) {
        let Entry { hash, newer, older, .. } = self.entries[after as usize];
        if let Some(known) = self.index.find_mut(hash, |known| *known == before) {
            *known = after;
        }
        *self.older_of(newer) = after;
        *self.newer_of(older) = after;
    }

    #[inline]
    fn make_newest(&mut self, at: u32) {
        if self.newest != at {
            self.unlink(at);
            self.link_newest(at);
        }
    }

    #[inline]
    fn unlink(&mut self, at: u32) {
        let Entry { newer, older, .. } = self.entries[at as usize];
        *self.older_of(newer) = older;
        *self.newer_of(older) = newer;
    }

    #[inline]
    fn link_newest(&mut self, at: u32) {
        let before = self.newest;
        let entry = &mut self.entries[at as usize];
        (entry.newer, entry.older) = (NONE, before);
        *self.newer_of(before) = at;
        self.newest = at;
    }

    /// Where it stands what is older than the entry; than none is the newest.
    #[inline]
    fn older_of(&mut self, at: u32) -> &mut u32 {
        match at {
            NONE => &mut self.newest,
            at => &mut self.entries[at as usize].older,
        }
    }

    /// Where it stands what is newer than the entry; than none is the oldest.
    #[inline]
    fn newer_of(&mut self, at: u32) -> &mut u32 {
        match at {
            NONE => &mut self.oldest,
            at => &mut self.entries[at as usize].newer,
        }
    }
}

impl Cache for LruCache {
    fn get(&mut self, key: &[u8]) -> Option<Bytes> {
        self.view(self.hashed(key)).cloned()
    }

    fn store(&mut self, key: &[u8], value: Bytes) {
        self.put(self.hashed(key), |stored| *stored = value);
    }

    fn forget(&mut self, key: &[u8]) {
        Self::forget(self, self.hashed(key));
    }

    fn len(&self) -> usize {
        Self::len(self)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    fn cache(entries: usize, bytes: usize) -> LruCache {
        LruCache::new(CacheLimits { entries, bytes })
    }

    #[test]
    fn evicts_the_least_recently_used() {
        let mut cache = cache(2, 1_000);
        cache.store(b"a", Bytes::from_static(b"1"));
        cache.store(b"b", Bytes::from_static(b"2"));
        assert_eq!(cache.get(b"a").as_deref(), Some(&b"1"[..]));
        cache.store(b"c", Bytes::from_static(b"3"));
        assert!(cache.get(b"b").is_none());
        assert!(cache.get(b"a").is_some() && cache.get(b"c").is_some());
    }

    #[test]
    fn counts_bytes_through_overwrites() {
        let mut cache = cache(100, 10);
        for _ in 0..50 {
            cache.store(b"k", Bytes::from_static(b"12345"));
        }
        assert_eq!((cache.len(), cache.bytes), (1, 6));
        cache.store(b"k", Bytes::from_static(b"1"));
        cache.store(b"m", Bytes::from_static(b"12345"));
        assert_eq!((cache.len(), cache.bytes), (2, 8));
        Cache::forget(&mut cache, b"k");
        Cache::forget(&mut cache, b"never there");
        assert_eq!((cache.len(), cache.bytes), (1, 6));
        cache.store(b"n", Bytes::from_static(b"12345678901"));
        assert_eq!((cache.len(), cache.bytes), (0, 0), "larger than the whole cache");
    }

    #[test]
    fn a_cache_of_nothing_keeps_nothing() {
        let mut cache = cache(0, 1_000);
        cache.store(b"k", Bytes::from_static(b"1"));
        assert!(cache.is_empty());
    }

    /// The obvious way: a queue that is searched from one end to the other, the newest in front.
    #[derive(Default)]
    struct Model(VecDeque<(Vec<u8>, Bytes)>);

    impl Model {
        fn take(&mut self, key: &[u8]) -> Option<(Vec<u8>, Bytes)> {
            let at = self.0.iter().position(|(known, _)| known == key)?;
            self.0.remove(at)
        }

        fn get(&mut self, key: &[u8]) -> Option<Bytes> {
            let found = self.take(key)?;
            self.0.push_front(found.clone());
            Some(found.1)
        }

        fn store(&mut self, key: &[u8], value: Bytes, limits: CacheLimits) {
            self.take(key);
            self.0.push_front((key.to_vec(), value));
            while self.0.len() > limits.entries || self.bytes() > limits.bytes {
                self.0.pop_back();
            }
        }

        fn bytes(&self) -> usize {
            self.0.iter().map(|(key, value)| key.len() + value.len()).sum()
        }
    }

    #[test]
    fn does_what_a_searched_queue_does() {
        for seed in 1..=20_u64 {
            let limits = CacheLimits { entries: 12, bytes: 400 };
            let (mut cache, mut model) = (LruCache::<Bytes>::new(limits), Model::default());
            let mut state = seed;
            let mut below = |bound: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) % bound
            };
            for step in 0..5_000 {
                // Some keys are too long to lie in their entry.
                let number = below(24);
                let key = format!("{number}").repeat(1 + number as usize).into_bytes();
                match below(10) {
                    0 => {
                        Cache::forget(&mut cache, &key);
                        model.take(&key);
                    }
                    1..=4 => {
                        let value = Bytes::from(vec![step as u8; below(60) as usize]);
                        cache.store(&key, value.clone());
                        model.store(&key, value, limits);
                    }
                    5 => {
                        let is_there = model.0.iter().any(|(known, _)| *known == key);
                        let key = cache.hashed(&key);
                        assert_eq!(cache.contains(key), is_there, "seed {seed}, step {step}");
                    }
                    _ => assert_eq!(cache.get(&key), model.get(&key), "seed {seed}, step {step}"),
                }
                let (len, bytes) = (model.0.len(), model.bytes());
                assert_eq!((cache.len(), cache.bytes), (len, bytes), "seed {seed}, step {step}");
            }
        }
    }
}
