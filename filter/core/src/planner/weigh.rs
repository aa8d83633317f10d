//! Phase 2 of `spread`: learn slow servers from how much they keep in flight (Little's law).
//!
//! Of servers that get equal shares the slow one has more requests in flight, so its weight falls until
//! it has not; once it has fewer than the others, it rises again.

use super::merge::LoadMap;
use crate::plan::{LEARNED_LEAST, LEARNED_ONE, Plan};

/// Between two changes of the learned factors.
pub const INTERVAL_MS: u64 = 5000;

/// A worker's window speaks once it holds so many samples: half of those that fit, and enough to tell anything.
#[must_use]
pub fn least_samples(tick_ms: u64) -> u32 {
    (INTERVAL_MS / tick_ms / 2).max(3) as u32
}

/// With fewer requests seen in flight on the mean server, over all samples, nothing can be told.
const LEAST_SEEN: f64 = 10.0;

/// A server is slow from this ratio to the mean on, and no longer slow under its inverse.
const SLOW: f64 = 1.3;

/// Or from this many times what chance does to the ratio.
const CHANCE: f64 = 3.5;

/// How much of the distance one step goes.
const RATE: f64 = 0.1;

/// Adapts the plan's learned factors to the in-flight counts, at most once an interval.
pub fn learn(plan: &mut Plan, loads: &LoadMap, tick_ms: u64, now_ms: u64) {
    // A clock that jumped back must not stop the learning for good.
    let waited = now_ms.abs_diff(plan.learned_at_ms);
    if waited < INTERVAL_MS || loads.in_flight.len() != plan.members.len() {
        return;
    }
    let samples = INTERVAL_MS / tick_ms.max(1);
    let mean = loads.in_flight.iter().sum::<f64>() / plan.members.len() as f64;
    let seen = mean * samples as f64;
    if seen < LEAST_SEEN {
        return;
    }
    // Of so many, chance adds or takes a part of one over their root.
    let slow_from = SLOW.max(1.0 + CHANCE / seen.sqrt());
    let mut factors: Vec<f64> = plan.learned.iter().map(|&f| f64::from(f)).collect();
    let mut changed = false;
    for (factor, ratio) in factors.iter_mut().zip(relative_in_flight(plan, &loads.in_flight)) {
        let slow = ratio > slow_from;
        let recovered = ratio < 1.0 / slow_from && *factor < f64::from(LEARNED_ONE);
        if slow || recovered {
            *factor *= exponential_of_small(-RATE * (ratio - 1.0).clamp(-0.5, 1.0));
            changed = true;
        }
    }
    if changed {
        plan.learned = normalised(&factors);
        plan.learned_at_ms = now_ms;
    }
}

/// In flight per configured weight, over the mean of it.
fn relative_in_flight(plan: &Plan, in_flight: &[f64]) -> Vec<f64> {
    let servers = plan.members.servers();
    let weights: f64 = servers.iter().map(|server| f64::from(server.weight)).sum();
    let total: f64 = in_flight.iter().sum();
    let ratio = |(server, in_flight): (&crate::servers::Server, &f64)| {
        in_flight / f64::from(server.weight) * weights / total
    };
    servers.iter().zip(in_flight).map(ratio).collect()
}

/// The fastest server counts for full; only ratios matter.
fn normalised(factors: &[f64]) -> Vec<u16> {
    let fastest = factors.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let one = f64::from(LEARNED_ONE);
    factors
        .iter()
        .map(|factor| ((factor / fastest * one + 0.5) as u16).clamp(LEARNED_LEAST, LEARNED_ONE))
        .collect()
}

/// `e^x` for |x| up to a tenth, to ten digits: the same on every platform, unlike a library's.
fn exponential_of_small(x: f64) -> f64 {
    1.0 + x * (1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0 * (1.0 + x / 5.0))))
}
