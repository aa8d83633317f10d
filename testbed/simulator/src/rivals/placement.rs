//! Which server a key belongs to, by its hash alone.

use rudolph_core::hash::KeyHash;
use rudolph_workload::Ranges;

use super::{jump, maglev, ring};
use crate::balancer::ServerNumber;

/// A way to place keys on the servers `0..n`.
#[derive(Clone, Debug)]
pub(super) enum Placement {
    Modulo(u64),
    Jump(u32),
    Ring(ring::Ring),
    Maglev(Vec<u16>),
    /// By the key's number, which stands in the hash's place.
    Range(Ranges),
}

impl Placement {
    pub(super) fn ring(members: &[ServerNumber]) -> Self {
        Self::Ring(ring::Ring::new(members))
    }

    pub(super) fn maglev(members: &[ServerNumber]) -> Self {
        Self::Maglev(maglev::table(members))
    }

    /// REQUIRES: there is a server.
    #[inline]
    pub(super) fn server(&self, key: KeyHash) -> usize {
        match self {
            Self::Modulo(servers) => (key.0 % servers) as usize,
            Self::Jump(servers) => jump::bucket(key.0, *servers) as usize,
            Self::Ring(ring) => ring.server(key.0),
            Self::Maglev(table) => usize::from(table[(key.0 % maglev::SIZE) as usize]),
            Self::Range(ranges) => ranges.part(key.0),
        }
    }
}
