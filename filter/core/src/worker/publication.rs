//! What this worker tells the others of itself.

use super::Worker;
use crate::config::Strategy;
use crate::planner::merge::Contribution;
use crate::planner::weigh;
use crate::sketch::Tracked;
use crate::wire::records::Slot;

/// Keys under this count are not worth telling the others.
const LEAST_TOLD: f32 = 0.5;

/// Closed counts are published for so many ticks: until the planner, which waits two, has surely read them.
const TICKS_TOLD: u32 = 5;

/// What this worker has counted and not yet told, or keeps telling.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    counting_epoch: u64,
    closed_epoch: u64,
    closed: Vec<u32>,
    ticks_left: u32,
    window_began_ms: u64,
    /// Mean requests in flight of each server over the last whole window.
    in_flight: Vec<f32>,
}

impl Ledger {
    /// Homes changed: what was seen in flight before speaks of other shares.
    pub(super) fn forget_in_flight(&mut self) {
        self.in_flight = Vec::new();
    }
}

impl Worker {
    /// Counts belong to the epoch in which they were taken; they are closed once, when its number has passed.
    pub(super) fn close_epoch(&mut self, present: u64) {
        let ledger = &mut self.ledger;
        ledger.ticks_left = ledger.ticks_left.saturating_sub(1);
        if ledger.ticks_left == 0 {
            ledger.closed = Vec::new();
        }
        if present > ledger.counting_epoch {
            ledger.counting_epoch = present;
            ledger.closed_epoch = present - 1;
            ledger.closed = self.router.close_bins();
            ledger.ticks_left = TICKS_TOLD;
        }
    }

    pub(super) fn sample_in_flight(&mut self, now_ms: u64) {
        self.router.loads_mut().sample_in_flight();
        if now_ms.abs_diff(self.ledger.window_began_ms) < weigh::INTERVAL_MS {
            return;
        }
        self.ledger.window_began_ms = now_ms;
        let enough = weigh::least_samples(self.config.tick_ms);
        let (loads, local) = (self.router.loads(), self.router.local());
        self.ledger.in_flight =
            if loads.samples() >= enough { loads.mean_in_flight(local) } else { Vec::new() };
        self.router.loads_mut().start_window();
    }

    pub(super) fn own_slot(&self, now_ms: u64) -> Slot {
        let (loads, local) = (self.router.loads(), self.router.local());
        let homes = match self.config.strategy {
            Strategy::Pin => loads.homes(local),
            _ => Vec::new(),
        };
        let told = |tracked: &&Tracked| tracked.count >= LEAST_TOLD;
        let sketch = self.router.sketch();
        let plan = self.plan();
        Slot {
            heartbeat_ms: now_ms,
            plan_version: self.newest_version(),
            contribution: Contribution {
                members_digest: plan.map_or(0, |plan| plan.members.digest()),
                sent: loads.sent(local),
                homes,
                in_flight: self.ledger.in_flight.clone(),
                total: sketch.total(),
                keys: sketch.entries().iter().filter(told).copied().collect(),
                closed_epoch: self.ledger.closed_epoch,
                bins: self.ledger.closed.clone(),
            },
        }
    }
}
