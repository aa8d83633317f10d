use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

/// Hashes keys in a way that is its own and its clones', so that nobody outside can choose keys that meet.
#[derive(Clone, Debug, Default)]
pub struct KeyHasher(DefaultHashBuilder);

impl KeyHasher {
    #[inline]
    #[must_use]
    pub fn hash(&self, key: &[u8]) -> u64 {
        self.0.hash_one(key)
    }
}

/// A key and its hash by the cache's own [`KeyHasher`]: who needs it for something else too does not hash twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashedKey<'k> {
    pub key: &'k [u8],
    pub hash: u64,
}
