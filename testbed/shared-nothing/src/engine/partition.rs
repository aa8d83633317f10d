use rudolph_cache::{CacheLimits, HashedKey, KeyHasher, LruCache};
use smallvec::SmallVec;

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

/// Which of `partitions` owns a key of this hash. The bits that it looks at are not those by which a partition finds its
/// own keys: the lowest ones and the highest seven.
#[inline]
pub(crate) fn owner(hash: u64, partitions: usize) -> usize {
    let middle = u64::from((hash >> 25) as u32);
    ((middle * partitions as u64) >> 32) as usize
}

impl Partition {
    /// The `index`-th of `of`; the limits are its own.
    pub(crate) fn new(index: usize, of: usize, limits: CacheLimits, hasher: KeyHasher) -> Self {
        Self { cache: LruCache::with_hasher(limits, hasher), index, of }
    }

    /// Does what is asked of one key, which has this hash, and writes the answer.
    #[inline]
    pub(crate) fn perform(
        &mut self,
        op: Op,
        hash: u64,
        data: &[u8],
        protocol: Protocol,
        out: &mut Vec<u8>,
    ) {
        match op {
            Op::Get { key } => {
                let key = key.of(data);
                let stored = self.cache.view(HashedKey { key, hash });
                let stored = stored.and_then(|stored| stored.split_first_chunk());
                let answer = match stored {
                    Some((flags, value)) => {
                        Answer::Value { key, value, flags: u32::from_le_bytes(*flags) }
                    }
                    None => Answer::NoValue,
                };
                answer.write(protocol, out);
            }
            Op::Set { key, value, flags, quiet } => {
                self.store(HashedKey { key: key.of(data), hash }, value.of(data), flags);
                if !quiet {
                    Answer::Stored.write(protocol, out);
                }
            }
            Op::Say { .. } | Op::Sum(_) => {}
        }
    }

    /// Looks at what will be asked next. The looks wait for memory together, and what is done then finds it near.
    #[inline]
    pub(crate) fn glance<'k>(&self, keys: impl Iterator<Item = HashedKey<'k>>) {
        for key in keys {
            std::hint::black_box(self.cache.contains(key));
        }
    }

    #[inline]
    fn store(&mut self, key: HashedKey<'_>, value: &[u8], flags: u32) {
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
            let key = self.cache.hashed(&key);
            if owner(key.hash, self.of) != self.index || self.cache.contains(key) {
                continue;
            }
            let mut value = format!("value:{i}").into_bytes();
            if value_bytes > 0 {
                value.resize(value_bytes, 0);
            }
            self.store(key, &value, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_one_owner_and_all_own_alike() {
        let (mut owned, hasher) = ([0; 4], KeyHasher::default());
        for i in 0..40_000 {
            owned[owner(hasher.hash(format!("key:{i}").as_bytes()), 4)] += 1;
        }
        assert!(owned.iter().all(|count| (9_500..10_500).contains(count)), "{owned:?}");
    }

    #[test]
    fn partitions_fill_their_own_part() {
        let limits = CacheLimits { entries: 1_000_000, bytes: 1 << 30 };
        let sum = Sum::Populate { count: 1_000, prefix: None, value_bytes: 8 };
        let (mut total, hasher) = (0, KeyHasher::default());
        for index in 0..3 {
            total += Partition::new(index, 3, limits, hasher.clone()).sum(sum, b"");
        }
        assert_eq!(total, 1_000);
    }
}
