//! What a worker looks owners up in: the placement of a plan, spelled out for every bin.

use crate::arcs::Arcs;
use crate::config::Config;
use crate::hash::{GOLDEN_GAMMA, KeyHash, mix};
use crate::plan::{Placement, Plan};
use crate::rendezvous::{self, Contender};
use crate::servers::ServerId;

/// Owners of every bin.
#[derive(Clone, Debug)]
pub struct Table {
    bins: u64,
    /// `bins - 1` where that is a mask: a division would cost as much as the rest of a look-up.
    mask: Option<u64>,
    width: usize,
    rows: Vec<u16>,
    contenders: Vec<Contender>,
    servers: u16,
}

impl Table {
    /// Spells out a sound plan.
    #[must_use]
    pub fn of(plan: &Plan, config: &Config) -> Self {
        let servers = plan.members.len() as u16;
        let contenders = match plan.placement {
            Placement::Rendezvous => contenders(plan),
            Placement::Turned { .. } | Placement::Dealt { .. } => Vec::new(),
        };
        let (rows, width) = match &plan.placement {
            Placement::Rendezvous => rendezvous::race(&contenders, config.row_width()),
            Placement::Turned { rotation } => {
                let arcs = Arcs::of(plan, config.rotation.candidates);
                (arcs.owners(*rotation), 1)
            }
            Placement::Dealt { owners } => (owners.clone(), 1),
        };
        let bins = (rows.len() / width.max(1)) as u64;
        Self {
            bins,
            mask: bins.is_power_of_two().then(|| bins - 1),
            width,
            rows,
            contenders,
            servers,
        }
    }

    /// How many bins there are.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.bins as usize
    }

    /// The bin of a key.
    #[inline]
    #[must_use]
    pub fn bin(&self, key: KeyHash) -> usize {
        match self.mask {
            Some(mask) => (key.0 & mask) as usize,
            None => (key.0 % self.bins) as usize,
        }
    }

    /// The owner of a bin.
    #[inline]
    #[must_use]
    pub fn home(&self, bin: usize) -> ServerId {
        ServerId(self.rows[bin * self.width])
    }

    /// The owners of a bin that the table itself holds, home first.
    #[inline]
    #[must_use]
    pub fn row(&self, bin: usize) -> &[u16] {
        &self.rows[bin * self.width..(bin + 1) * self.width]
    }

    /// The `place`-th owner of a bin, from 0: from the row, and where that ends, on around the ring of servers.
    #[inline]
    #[must_use]
    pub fn owner(&self, bin: usize, place: usize) -> u16 {
        if place < self.width {
            return self.rows[bin * self.width + place];
        }
        let last = u32::from(self.rows[(bin + 1) * self.width - 1]);
        let step = (place - self.width + 1) as u32;
        ((last + step) % u32::from(self.servers)) as u16
    }

    /// How many servers there are.
    #[inline]
    #[must_use]
    pub fn servers(&self) -> usize {
        usize::from(self.servers)
    }

    /// The first `count` servers of a key's rendezvous order.
    #[must_use]
    pub fn order_of_key(&self, key: KeyHash, count: usize) -> Vec<u16> {
        rendezvous::order_of_key(&self.contenders, key, self.row(self.bin(key)), count)
    }

    /// The part of the key space whose home differs under another table, sampled evenly. `same` tells
    /// whether a server here and a server there are one.
    pub fn moved_share(&self, other: &Self, same: impl Fn(ServerId, ServerId) -> bool) -> f32 {
        const SAMPLES: u64 = 1 << 14;
        let moved = (0..SAMPLES)
            .map(|i| KeyHash(mix(i.wrapping_mul(GOLDEN_GAMMA))))
            .filter(|key| !same(self.home(self.bin(*key)), other.home(other.bin(*key))))
            .count();
        moved as f32 / SAMPLES as f32
    }
}

fn contenders(plan: &Plan) -> Vec<Contender> {
    plan.members
        .servers()
        .iter()
        .enumerate()
        .map(|(i, server)| {
            Contender::new(&server.address, plan.effective_weight(ServerId::from_index(i)))
        })
        .collect()
}
