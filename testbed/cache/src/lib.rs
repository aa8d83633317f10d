//! What a server of the testbed keeps in memory.

use std::fmt::Debug;

use bytes::Bytes;
use lru::LruCache as Lru;

/// What a server keeps in memory. Not shared between threads: whoever owns it decides about locks.
pub trait Cache: Debug + Send {
    /// The value, marking the key as used.
    fn get(&mut self, key: &[u8]) -> Option<Bytes>;
    /// Puts a value that was written: it replaces what is there.
    fn store(&mut self, key: &[u8], value: Bytes);
    fn forget(&mut self, key: &[u8]);
    fn len(&self) -> usize;
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Whichever limit is reached first evicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLimits {
    /// 0 keeps nothing: every read is a miss.
    pub entries: usize,
    /// Keys and values together.
    pub bytes: usize,
}

/// Least recently used goes first, as in the model that the figures are compared with.
#[derive(Debug)]
pub struct LruCache {
    entries: Lru<Box<[u8]>, Bytes>,
    limits: CacheLimits,
    bytes: usize,
}

impl LruCache {
    #[must_use]
    pub fn new(limits: CacheLimits) -> Self {
        Self { entries: Lru::unbounded(), limits, bytes: 0 }
    }

    /// Like [`Cache::get`], for who only looks: nothing is counted up or down.
    pub fn view(&mut self, key: &[u8]) -> Option<&[u8]> {
        self.entries.get(key).map(Bytes::as_ref)
    }

    fn shrink(&mut self) {
        while self.entries.len() > self.limits.entries || self.bytes > self.limits.bytes {
            let Some((key, value)) = self.entries.pop_lru() else {
                return;
            };
            self.bytes -= key.len() + value.len();
        }
    }
}

impl Cache for LruCache {
    fn get(&mut self, key: &[u8]) -> Option<Bytes> {
        self.entries.get(key).cloned()
    }

    fn store(&mut self, key: &[u8], value: Bytes) {
        match self.entries.get_mut(key) {
            Some(old) => {
                self.bytes = self.bytes + value.len() - old.len();
                *old = value;
            }
            None => {
                self.bytes += key.len() + value.len();
                self.entries.put(key.into(), value);
            }
        }
        self.shrink();
    }

    fn forget(&mut self, key: &[u8]) {
        if let Some(value) = self.entries.pop(key) {
            self.bytes -= key.len() + value.len();
        }
    }

    fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(entries: usize, bytes: usize) -> LruCache {
        LruCache::new(CacheLimits { entries, bytes })
    }

    #[test]
    fn evicts_the_least_recently_used() {
        let mut cache = cache(2, 1_000);
        cache.store(b"a", Bytes::from_static(b"1"));
        cache.store(b"b", Bytes::from_static(b"2"));
        assert_eq!(cache.view(b"a"), Some(&b"1"[..]));
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
        cache.forget(b"k");
        cache.forget(b"never there");
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
}
