use std::sync::{Arc, Mutex, PoisonError};

use rudolph_cache::{HashedKey, KeyHasher};

use super::partition::{Partition, owner};
use crate::protocol::{Op, Protocol, Sum};

/// What a thread works on.
#[derive(Debug)]
pub(crate) struct Store {
    /// The thread, one of `threads`.
    index: usize,
    threads: usize,
    hasher: KeyHasher,
    keys: Keys,
}

#[derive(Debug)]
pub(crate) enum Keys {
    /// The thread's own part.
    Own(Partition),
    /// All, shared with the other threads. Locked for each operation, as who adds a lock to a cache would.
    Shared(Arc<Mutex<Partition>>),
}

/// Where a key belongs, which is asked once a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home {
    pub(crate) hash: u64,
    pub(crate) thread: usize,
}

impl Store {
    /// The `hasher` is that of the keys and every other thread's.
    pub(crate) fn new(index: usize, threads: usize, hasher: KeyHasher, keys: Keys) -> Self {
        Self { index, threads, hasher, keys }
    }

    #[inline]
    pub(crate) fn home(&self, key: &[u8]) -> Home {
        let hash = self.hasher.hash(key);
        let thread = match self.keys {
            Keys::Own(_) => owner(hash, self.threads),
            Keys::Shared(_) => self.index,
        };
        Home { hash, thread }
    }

    #[inline]
    pub(crate) fn is_here(&self, home: Home) -> bool {
        home.thread == self.index
    }

    /// How many other threads must be asked what concerns all keys.
    pub(crate) fn others(&self) -> usize {
        match self.keys {
            Keys::Own(_) => self.threads - 1,
            Keys::Shared(_) => 0,
        }
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
        match &mut self.keys {
            Keys::Own(partition) => partition.perform(op, hash, data, protocol, out),
            Keys::Shared(partition) => {
                let mut partition = partition.lock().unwrap_or_else(PoisonError::into_inner);
                partition.perform(op, hash, data, protocol, out);
            }
        }
    }

    /// Before several operations are performed.
    #[inline]
    pub(crate) fn glance<'k>(&self, keys: impl Iterator<Item = HashedKey<'k>>) {
        match &self.keys {
            Keys::Own(partition) => partition.glance(keys),
            Keys::Shared(partition) => {
                partition.lock().unwrap_or_else(PoisonError::into_inner).glance(keys);
            }
        }
    }

    pub(crate) fn sum(&mut self, sum: Sum, data: &[u8]) -> u64 {
        match &mut self.keys {
            Keys::Own(partition) => partition.sum(sum, data),
            Keys::Shared(partition) => {
                partition.lock().unwrap_or_else(PoisonError::into_inner).sum(sum, data)
            }
        }
    }
}
