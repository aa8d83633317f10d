//! Phase 3 of `lpt`: the heaviest bin first, each to the server that has least so far.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Request;
use super::merge::LoadMap;
use crate::arcs::Arcs;
use crate::plan::{Placement, Plan};
use crate::servers::ServerId;

/// Deals the bins by load, each to the server that it makes least loaded by weight: with equal weights no server gets
/// over 4/3 of the best possible peak, with unlike ones over 5/3. A bin that nobody asked for stays where it was, or,
/// if that server is gone, where the arcs put it.
#[must_use]
pub fn deal(request: &Request<'_>, plan: &Plan, loads: &LoadMap) -> Placement {
    let mut owners = idle_owners(request, plan);
    let mut asked: Vec<(Reverse<u64>, u32)> = (loads.bins.iter().zip(0..))
        .filter(|(load, _)| **load > 0)
        .map(|(load, bin)| (Reverse(*load), bin))
        .collect();
    asked.sort_unstable();
    let mut piles = Piles::new(plan);
    for (Reverse(load), bin) in asked {
        if let Some(server) = piles.put(load) {
            owners[bin as usize] = server;
        }
    }
    Placement::Dealt { owners }
}

fn idle_owners(request: &Request<'_>, plan: &Plan) -> Vec<u16> {
    let arcs = Arcs::of(plan, request.config.rotation.candidates);
    let mut owners = arcs.owners(0);
    let Some(previous) = request.previous else {
        return owners;
    };
    let Placement::Dealt { owners: before } = &previous.placement else {
        return owners;
    };
    if previous.members.len() != plan.members.len() {
        return owners;
    }
    for (owner, before) in owners.iter_mut().zip(before) {
        let stayed = (previous.members.servers().get(usize::from(*before)))
            .and_then(|server| plan.members.find(&server.address));
        if let Some(id) = stayed {
            *owner = id.0;
        }
    }
    owners
}

/// Servers by dealt load, the least loaded on top.
type Heap = BinaryHeap<Reverse<(u64, u16)>>;

/// The loads dealt so far. Servers of one weight share a heap, since among them the least loaded is always best; only
/// the heads of the heaps need comparing, and weights are few.
struct Piles {
    by_weight: Vec<(f64, Heap)>,
}

impl Piles {
    fn new(plan: &Plan) -> Self {
        let mut by_weight: Vec<(f64, Heap)> = Vec::new();
        for i in 0..plan.members.len() {
            let server = ServerId::from_index(i);
            let weight = plan.effective_weight(server);
            let pile = Reverse((0, server.0));
            match by_weight.iter_mut().find(|(other, _)| *other == weight) {
                Some((_, heap)) => heap.push(pile),
                None => by_weight.push((weight, BinaryHeap::from([pile]))),
            }
        }
        Self { by_weight }
    }

    /// The server that has the least by weight once the load is on it, the earlier of equals; the load is put there.
    fn put(&mut self, load: u64) -> Option<u16> {
        let with_load = |(weight, heap): &(f64, Heap)| {
            let Reverse((dealt, server)) = heap.peek()?;
            Some(((dealt + load) as f64 / weight, *server))
        };
        let (best, _) = (self.by_weight.iter().enumerate())
            .filter_map(|(i, group)| Some((i, with_load(group)?)))
            .min_by(|(_, a), (_, b)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
        let mut head = self.by_weight[best].1.peek_mut()?;
        head.0.0 += load;
        Some(head.0.1)
    }
}
