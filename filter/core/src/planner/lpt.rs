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
    let mut asked: Vec<usize> = (0..owners.len())
        .filter(|&bin| loads.bins[bin] > 0)
        .collect();
    asked.sort_unstable_by_key(|&bin| (Reverse(loads.bins[bin]), bin));
    let mut servers: BinaryHeap<Pile> = (0..plan.members.len())
        .map(|i| Pile {
            load: 0,
            weight: plan.effective_weight(ServerId::from_index(i)),
            server: i as u16,
        })
        .collect();
    for bin in asked {
        let Some(mut pile) = servers.pop() else { break };
        owners[bin] = pile.server;
        pile.load += loads.bins[bin];
        servers.push(pile);
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

/// A server with the load dealt to it; the heap's greatest is the least loaded by weight.
#[derive(Clone, Copy, Debug)]
struct Pile {
    load: u64,
    weight: f64,
    server: u16,
}

impl Ord for Pile {
    fn cmp(&self, other: &Self) -> Ordering {
        let (mine, theirs) = (
            self.load as f64 / self.weight,
            other.load as f64 / other.weight,
        );
        theirs.total_cmp(&mine).then(other.server.cmp(&self.server))
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
