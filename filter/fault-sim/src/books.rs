//! How many requests of each outcome there were, and how many of them the metrics may lack: those of a VM that died
//! before its next tick wrote them.

use rudolph_core::telemetry::Counter;
use rudolph_mock_host::Host;

use crate::broken::Broken;

/// What is counted: the outcomes of requests, and published plans.
pub(crate) const COUNTED: [Counter; 7] = [
    Counter::RequestsOwner,
    Counter::RequestsSpread,
    Counter::RequestsSpilled,
    Counter::RequestsNoKey,
    Counter::RequestsNoPlan,
    Counter::RequestsNoServer,
    Counter::PlansPublished,
];

/// The place of published plans.
pub(crate) const PLANS: usize = 6;

pub(crate) type Counts = [u64; COUNTED.len()];

/// The place of an outcome.
pub(crate) fn place(reason: &str) -> Option<usize> {
    COUNTED.iter().position(|counter| counter.name().strip_prefix("requests.") == Some(reason))
}

#[derive(Debug, Default)]
pub(crate) struct Books {
    made: Counts,
    lost: Counts,
    /// Requests whose outcome a fault hid.
    hidden: u64,
}

impl Books {
    pub(crate) fn made(&mut self, place: usize) {
        self.made[place] += 1;
    }

    pub(crate) fn hidden(&mut self) {
        self.hidden += 1;
    }

    pub(crate) fn lost(&mut self, counts: &Counts) {
        for (lost, count) in self.lost.iter_mut().zip(counts) {
            *lost += count;
        }
    }

    /// Holds once every living worker has written its counts.
    pub(crate) fn check(&self, host: &Host) -> Result<(), Broken> {
        for (place, counter) in COUNTED.iter().enumerate() {
            let metric = format!("rudolph.{}", counter.name());
            let value = host.metrics().counter(&metric).unwrap_or(0);
            let hidden = if place == PLANS { 0 } else { self.hidden };
            let (least, most) = (self.made[place] - self.lost[place], self.made[place] + hidden);
            if !(least..=most).contains(&value) {
                return Err(Broken::Metric { metric, value, least, most });
            }
        }
        Ok(())
    }
}
