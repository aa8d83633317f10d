use std::sync::{Arc, Mutex, PoisonError};

use super::partition::{Partition, owner};
use crate::protocol::{Op, Protocol, Sum};

/// What a thread works on.
#[derive(Debug)]
pub(crate) enum Store {
    /// Its own part of the keys, of so many.
    Own { partition: Partition, index: usize, of: usize },
    /// All keys, shared with the other threads. Locked for each operation, as who adds a lock to a cache would.
    Shared(Arc<Mutex<Partition>>),
}

impl Store {
    /// The thread that owns the key, if it is another one.
    #[inline]
    pub(crate) fn owner_elsewhere(&self, key: &[u8]) -> Option<usize> {
        match self {
            Self::Own { of: 1, .. } | Self::Shared(_) => None,
            Self::Own { index, of, .. } => Some(owner(key, *of)).filter(|owner| owner != index),
        }
    }

    /// How many other threads must be asked what concerns all keys.
    pub(crate) fn others(&self) -> usize {
        match self {
            Self::Own { of, .. } => of - 1,
            Self::Shared(_) => 0,
        }
    }

    #[inline]
    pub(crate) fn perform(&mut self, op: Op, data: &[u8], protocol: Protocol, out: &mut Vec<u8>) {
        match self {
            Self::Own { partition, .. } => partition.perform(op, data, protocol, out),
            Self::Shared(partition) => {
                let mut partition = partition.lock().unwrap_or_else(PoisonError::into_inner);
                partition.perform(op, data, protocol, out);
            }
        }
    }

    /// Before several operations are performed; those that belong elsewhere are looked for in vain.
    #[inline]
    pub(crate) fn glance(&self, ops: impl Iterator<Item = Op>, data: &[u8]) {
        let keys = ops.filter_map(|op| op.key()).map(|key| key.of(data));
        match self {
            Self::Own { partition, .. } => partition.glance(keys),
            Self::Shared(partition) => {
                partition.lock().unwrap_or_else(PoisonError::into_inner).glance(keys);
            }
        }
    }

    pub(crate) fn sum(&mut self, sum: Sum, data: &[u8]) -> u64 {
        match self {
            Self::Own { partition, .. } => partition.sum(sum, data),
            Self::Shared(partition) => {
                partition.lock().unwrap_or_else(PoisonError::into_inner).sum(sum, data)
            }
        }
    }
}
