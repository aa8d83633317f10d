//! What a server of the testbed keeps in memory.

mod hashed_key;
mod lru;

use std::fmt::Debug;

use bytes::Bytes;

pub use hashed_key::{HashedKey, KeyHasher};
pub use lru::LruCache;

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
