//! Phase 1: what each worker counted becomes one load map.

use super::Request;
use crate::hash::KeyHash;
use crate::plan::Plan;
use crate::servers::ServerId;
use crate::sketch::Tracked;

/// What one worker published of itself. Vectors by server are in the order of the members whose digest stands here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contribution {
    /// The members that it routed over.
    pub members_digest: u64,
    /// Decayed requests sent to each server.
    pub sent: Vec<f32>,
    /// Decayed requests by home.
    pub homes: Vec<f32>,
    /// Mean requests in flight over its learning window; empty while the window is young.
    pub in_flight: Vec<f32>,
    /// The decayed number of its keyed requests.
    pub total: f32,
    /// Its hottest keys.
    pub keys: Vec<Tracked>,
    /// The last epoch whose counts it closed.
    pub closed_epoch: u64,
    /// Requests of each bin in that epoch.
    pub bins: Vec<u32>,
}

/// A key with its load over all workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MergedKey {
    /// The key.
    pub key: KeyHash,
    /// At least its true count in the workers that track it.
    pub count: f32,
    /// The part of it that is certain.
    pub guaranteed: f32,
}

/// The load of an epoch over all workers.
#[derive(Clone, Debug, Default)]
pub struct LoadMap {
    /// Requests of each bin.
    pub bins: Vec<u64>,
    /// Decayed requests sent to each member.
    pub sent: Vec<f64>,
    /// Decayed requests by home.
    pub homes: Vec<f64>,
    /// Mean requests in flight of each member; empty until every worker knows enough.
    pub in_flight: Vec<f64>,
    /// Decayed keyed requests.
    pub total: f32,
    /// Tracked keys, hottest first.
    pub keys: Vec<MergedKey>,
}

impl LoadMap {
    /// The highest load over the mean, each by weight; 0 when nothing was sent.
    #[must_use]
    pub fn peak_over_mean(&self, plan: &Plan) -> f32 {
        let total: f64 = self.sent.iter().sum();
        if total <= 0.0 || self.sent.len() != plan.members.len() {
            return 0.0;
        }
        let weight = |i: usize| plan.effective_weight(ServerId::from_index(i));
        let weights: f64 = (0..self.sent.len()).map(weight).sum();
        let peak = (self.sent.iter().enumerate())
            .map(|(i, sent)| sent / weight(i))
            .fold(0.0, f64::max);
        (peak * weights / total) as f32
    }
}

/// Adds the contributions up. One that speaks of other members or bins than the present is left out
/// where it would be misread, and counts where it would not.
#[must_use]
pub fn merge(request: &Request<'_>) -> LoadMap {
    let servers = request.members.len();
    let bins = request.config.rotation.candidates as usize * servers;
    let mut map = LoadMap {
        sent: vec![0.0; servers],
        homes: vec![0.0; servers],
        ..LoadMap::default()
    };
    if request.config.counts_bins() {
        map.bins = vec![0; bins];
    }
    let mut in_flight = vec![0.0; servers];
    let mut informed = 0;
    for contribution in request.contributions {
        map.total += contribution.total;
        if contribution.members_digest != request.members.digest() {
            continue;
        }
        add(&mut map.sent, &contribution.sent);
        add(&mut map.homes, &contribution.homes);
        if !contribution.in_flight.is_empty() {
            add(&mut in_flight, &contribution.in_flight);
            informed += 1;
        }
        if contribution.closed_epoch + 1 == request.epoch && contribution.bins.len() == bins {
            for (sum, count) in map.bins.iter_mut().zip(&contribution.bins) {
                *sum += u64::from(*count);
            }
        }
    }
    if informed > 0 && informed == request.contributions.len() {
        map.in_flight = in_flight;
    }
    map.keys = merge_keys(request.contributions);
    map
}

fn add(sums: &mut [f64], values: &[f32]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += f64::from(*value);
    }
}

fn merge_keys(contributions: &[Contribution]) -> Vec<MergedKey> {
    let mut all: Vec<MergedKey> = contributions
        .iter()
        .flat_map(|contribution| &contribution.keys)
        .map(|tracked| MergedKey {
            key: tracked.key,
            count: tracked.count,
            guaranteed: tracked.guaranteed(),
        })
        .collect();
    // A stable sort adds a key's parts in the order of the workers, so that equal inputs give equal sums.
    all.sort_by_key(|merged| merged.key);
    all.dedup_by(|later, first| {
        let same = later.key == first.key;
        if same {
            first.count += later.count;
            first.guaranteed += later.guaranteed;
        }
        same
    });
    all.sort_unstable_by(|a, b| b.count.total_cmp(&a.count).then(a.key.cmp(&b.key)));
    all
}
