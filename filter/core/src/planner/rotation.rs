//! Phase 3 of `rotation`: turn the arcs to where the hottest server is least hot, unless that is far.

use super::Request;
use super::merge::LoadMap;
use crate::arcs::Arcs;
use crate::plan::{Placement, Plan};
use crate::servers::ServerId;

/// Picks, among the `c` rotations within half an arc of the present one, the lowest score
/// `n * peak share + lambda * |distance| / c`; the nearest of equals, backwards first.
///
/// The rotation is kept modulo all bins and not modulo `c`: a step of one then always moves one bin
/// a server, whichever way it goes. Without requests nothing turns.
#[must_use]
pub fn turn(request: &Request<'_>, plan: &Plan, loads: &LoadMap) -> Placement {
    let candidates = request.config.rotation.candidates;
    let arcs = Arcs::of(plan, candidates);
    let present = present_rotation(request, arcs.bins());
    let running = running_sums(&loads.bins);
    let total = running.last().copied().unwrap_or(0);
    if total == 0 {
        return Placement::Turned { rotation: present };
    }
    let lambda = request.config.rotation.lambda;
    let fair: Vec<f64> = fair_shares(plan);
    let mut best = (f64::INFINITY, present);
    for distance in by_distance(candidates) {
        let rotation = turned(present, distance, arcs.bins());
        let peak = arcs
            .loads(&running, rotation)
            .zip(&fair)
            .map(|(load, fair)| load as f64 / total as f64 / fair)
            .fold(0.0, f64::max);
        let score = peak + lambda * f64::from(distance.unsigned_abs()) / f64::from(candidates);
        if score < best.0 {
            best = (score, rotation);
        }
    }
    Placement::Turned { rotation: best.1 }
}

fn present_rotation(request: &Request<'_>, bins: u32) -> u32 {
    match request.previous.map(|plan| &plan.placement) {
        Some(Placement::Turned { rotation }) => rotation % bins,
        _ => 0,
    }
}

fn running_sums(counts: &[u64]) -> Vec<u64> {
    let mut sums = Vec::with_capacity(counts.len() + 1);
    let mut sum = 0;
    sums.push(0);
    for count in counts {
        sum += count;
        sums.push(sum);
    }
    sums
}

/// The part of all load that is each server's due; `1/n` with equal weights, so that dividing by it
/// multiplies a share by `n`.
fn fair_shares(plan: &Plan) -> Vec<f64> {
    let weights: Vec<f64> =
        (0..plan.members.len()).map(|i| plan.effective_weight(ServerId::from_index(i))).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

/// `0, -1, 1, -2, 2, ...`: every distance in `[-c/2, c/2)`, nearest first.
fn by_distance(candidates: u32) -> impl Iterator<Item = i32> {
    let back = (candidates / 2) as i32;
    let forward = candidates as i32 - back;
    (0..=back.max(forward)).flat_map(move |step| {
        let backwards = (step > 0 && step <= back).then_some(-step);
        let forwards = (step < forward).then_some(step);
        backwards.into_iter().chain(forwards)
    })
}

fn turned(present: u32, distance: i32, bins: u32) -> u32 {
    (i64::from(present) + i64::from(distance)).rem_euclid(i64::from(bins)) as u32
}
