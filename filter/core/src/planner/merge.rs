//! Phase 1: what each worker counted becomes one load map.

use crate::config::Config;
use crate::hash::KeyHash;
use crate::plan::Plan;
use crate::servers::{Members, ServerId};
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
        let peak =
            (self.sent.iter().enumerate()).map(|(i, sent)| sent / weight(i)).fold(0.0, f64::max);
        (peak * weights / total) as f32
    }
}

/// Adds contributions up, one at a time: all slots together would not fit a worker's memory.
#[derive(Debug)]
pub struct Merge {
    members_digest: u64,
    epoch: u64,
    map: LoadMap,
    in_flight: Vec<f64>,
    added: usize,
    informed: usize,
}

impl Merge {
    /// Nothing yet, for planning `epoch` on these members.
    #[must_use]
    pub fn new(config: &Config, members: &Members, epoch: u64) -> Self {
        let servers = members.len();
        let bins = config.rotation.candidates as usize * servers;
        Self {
            members_digest: members.digest(),
            epoch,
            map: LoadMap {
                bins: if config.counts_bins() { vec![0; bins] } else { Vec::new() },
                sent: vec![0.0; servers],
                homes: vec![0.0; servers],
                ..LoadMap::default()
            },
            in_flight: vec![0.0; servers],
            added: 0,
            informed: 0,
        }
    }

    /// Adds one. What it says of other members or bins than the present is left out; its keys count.
    pub fn add(&mut self, contribution: &Contribution) {
        self.added += 1;
        self.map.total += contribution.total;
        self.map.keys.extend(contribution.keys.iter().map(|tracked| MergedKey {
            key: tracked.key,
            count: tracked.count,
            guaranteed: tracked.guaranteed(),
        }));
        if contribution.members_digest != self.members_digest {
            return;
        }
        add(&mut self.map.sent, &contribution.sent);
        add(&mut self.map.homes, &contribution.homes);
        if !contribution.in_flight.is_empty() {
            add(&mut self.in_flight, &contribution.in_flight);
            self.informed += 1;
        }
        let same_bins = contribution.bins.len() == self.map.bins.len();
        if contribution.closed_epoch.checked_add(1) == Some(self.epoch) && same_bins {
            for (sum, count) in self.map.bins.iter_mut().zip(&contribution.bins) {
                *sum += u64::from(*count);
            }
        }
    }

    /// The sum of what was added.
    #[must_use]
    pub fn finish(mut self) -> LoadMap {
        if self.informed > 0 && self.informed == self.added {
            self.map.in_flight = self.in_flight;
        }
        merge_keys(&mut self.map.keys);
        self.map
    }
}

/// Adds all of them up.
#[must_use]
pub fn merge(config: &Config, members: &Members, epoch: u64, all: &[Contribution]) -> LoadMap {
    let mut merge = Merge::new(config, members, epoch);
    for contribution in all {
        merge.add(contribution);
    }
    merge.finish()
}

fn add(sums: &mut [f64], values: &[f32]) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += f64::from(*value);
    }
}

/// Makes one of a key's entries and puts the hottest first.
fn merge_keys(keys: &mut Vec<MergedKey>) {
    // A stable sort adds a key's parts in the order of the workers, so that equal inputs give equal sums.
    keys.sort_by_key(|merged| merged.key);
    keys.dedup_by(|later, first| {
        let same = later.key == first.key;
        if same {
            first.count += later.count;
            first.guaranteed += later.guaranteed;
        }
        same
    });
    keys.sort_unstable_by(|a, b| b.count.total_cmp(&a.count).then(a.key.cmp(&b.key)));
}
