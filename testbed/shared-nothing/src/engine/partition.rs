use rudolph_cache::{CacheLimits, LruCache};
use smallvec::SmallVec;
use xxhash_rust::xxh64::xxh64;

use crate::protocol::{Answer, Op, Protocol, Sum};

/// A value of so many bytes, with memcached's flags before it, lies beside its key.
const SHORT_VALUE: usize = 24;
/// What Redis calls populated keys, if the client has no name for them.
const DEFAULT_PREFIX: &[u8] = b"key";

/// The part of the keys that one thread owns.
#[derive(Debug)]
pub(crate) struct Partition {
    cache: LruCache<SmallVec<[u8; SHORT_VALUE]>>,
    index: usize,
    of: usize,
}

/// Which of `partitions` owns a key: a slice of the hash's range each.
#[inline]
pub(crate) fn owner(key: &[u8], partitions: usize) -> usize {
    ((u128::from(xxh64(key, 0)) * partitions as u128) >> 64) as usize
}

impl Partition {
    /// The `index`-th of `of`; the limits are its own.
    pub(crate) fn new(index: usize, of: usize, limits: CacheLimits) -> Self {
        Self { cache: LruCache::new(limits), index, of }
    }

    /// Does what is asked of one key and writes the answer.
    #[inline]
    pub(crate) fn perform(&mut self, op: Op, data: &[u8], protocol: Protocol, out: &mut Vec<u8>) {
        match op {
            Op::Get { key } => {
                let key = key.of(data);
                let stored = self.cache.view(key).and_then(|stored| stored.split_first_chunk());
                let answer = match stored {
                    Some((flags, value)) => {
                        Answer::Value { key, value, flags: u32::from_le_bytes(*flags) }
                    }
                    None => Answer::NoValue,
                };
                answer.write(protocol, out);
            }
            Op::Set { key, value, flags, quiet } => {
                self.store(key.of(data), value.of(data), flags);
                if !quiet {
                    Answer::Stored.write(protocol, out);
                }
            }
            Op::Say { .. } | Op::Sum(_) => {}
        }
    }

    /// Looks at what will be asked next. The looks wait for memory together, and what is done then finds it near.
    #[inline]
    pub(crate) fn glance<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) {
        for key in keys {
            std::hint::black_box(self.cache.contains(key));
        }
    }

    #[inline]
    fn store(&mut self, key: &[u8], value: &[u8], flags: u32) {
        self.cache.put(key, |stored| {
            stored.clear();
            stored.extend_from_slice(&flags.to_le_bytes());
            stored.extend_from_slice(value);
        });
    }

    /// This partition's part of a sum.
    pub(crate) fn sum(&mut self, sum: Sum, data: &[u8]) -> u64 {
        if let Sum::Populate { count, prefix, value_bytes } = sum {
            let prefix = prefix.map_or(DEFAULT_PREFIX, |prefix| prefix.of(data));
            self.populate(count, prefix, value_bytes);
        }
        self.cache.len() as u64
    }

    /// `prefix:0` and so on with `value:0` and so on, cut or filled with zero bytes; keys that are there stay, as in Redis.
    fn populate(&mut self, count: u64, prefix: &[u8], value_bytes: usize) {
        let mut key = prefix.to_vec();
        for i in 0..count {
            key.truncate(prefix.len());
            key.extend_from_slice(format!(":{i}").as_bytes());
            if owner(&key, self.of) != self.index || self.cache.contains(&key) {
                continue;
            }
            let mut value = format!("value:{i}").into_bytes();
            if value_bytes > 0 {
                value.resize(value_bytes, 0);
            }
            self.store(&key, &value, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_one_owner_and_all_own_alike() {
        let mut owned = [0; 4];
        for i in 0..40_000 {
            owned[owner(format!("key:{i}").as_bytes(), 4)] += 1;
        }
        assert!(owned.iter().all(|count| (9_500..10_500).contains(count)), "{owned:?}");
    }

    #[test]
    fn partitions_fill_their_own_part() {
        let limits = CacheLimits { entries: 1_000_000, bytes: 1 << 30 };
        let sum = Sum::Populate { count: 1_000, prefix: None, value_bytes: 8 };
        let mut total = 0;
        for index in 0..3 {
            total += Partition::new(index, 3, limits).sum(sum, b"");
        }
        assert_eq!(total, 1_000);
    }
}
