//! Phase 3 of `lpt`: the heaviest bin first, each to the server that has least so far.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::Request;
use super::merge::LoadMap;
use crate::arcs::Arcs;
use crate::plan::{Placement, Plan};
use crate::servers::ServerId;

/// Deals the bins by load, so that no server has over 4/3 of the best possible peak. A bin that nobody
/// asked for stays where it was, or, if that server is gone, where the arcs put it.
#[must_use]
pub fn deal(request: &Request<'_>, plan: &Plan, loads: &LoadMap) -> Placement {
    let mut owners = idle_owners(request, plan);
    let mut asked: Vec<(Reverse<u64>, u32)> = (loads.bins.iter().zip(0..))
        .filter(|(load, _)| **load > 0)
        .map(|(load, bin)| (Reverse(*load), bin))
        .collect();
    asked.sort_unstable();
    let mut servers: BinaryHeap<Pile> = (0..plan.members.len())
        .map(|i| Pile {
            relative: 0.0,
            weight: plan.effective_weight(ServerId::from_index(i)),
            server: i as u16,
        })
        .collect();
    for (Reverse(load), bin) in asked {
        let Some(mut pile) = servers.peek_mut() else { break };
        owners[bin as usize] = pile.server;
        pile.relative += load as f64 / pile.weight;
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

/// A server with the load dealt to it, by weight; the heap's greatest has the least.
#[derive(Clone, Copy, Debug)]
struct Pile {
    relative: f64,
    weight: f64,
    server: u16,
}

impl Ord for Pile {
    fn cmp(&self, other: &Self) -> Ordering {
        other.relative.total_cmp(&self.relative).then(other.server.cmp(&self.server))
    }
}

impl PartialOrd for Pile {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Pile {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Pile {}
