use std::hint::black_box;
use std::time::Instant;

use rudolph_experiments::median;

use crate::MEMORY;
use crate::chooser::{Batch, ChooserError, WAYS};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub(crate) keys: usize,
    pub(crate) rounds: usize,
}

/// What one way costs among so many servers: medians.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) choose_ns: f64,
    pub(crate) bytes: usize,
    pub(crate) rebuild_us: f64,
}

/// Builds are fewer than rounds of choosing: some take milliseconds.
const BUILDS: usize = 3;
/// Of a way whose cost grows with the servers, so many scores a batch.
const MOST_SCORES: usize = 1 << 20;

/// Every way in turn, round after round; the costs are in the order of [`WAYS`].
pub(crate) fn measure(servers: usize, round: Round) -> Result<Vec<Cost>, ChooserError> {
    let keys: Vec<Vec<u8>> = (0..round.keys).map(|i| format!("user:{i:07}").into_bytes()).collect();
    let mut ways: Vec<(Batch, Cost)> = Vec::new();
    for way in &WAYS {
        let mut builds = Vec::new();
        let mut built = None;
        let mut bytes = 0;
        for _ in 0..BUILDS {
            drop(built.take());
            let (before, began) = (MEMORY.current_usage(), Instant::now());
            built = Some((way.build)(servers)?);
            builds.push(began.elapsed().as_secs_f64() * 1e6);
            bytes = MEMORY.current_usage().saturating_sub(before);
        }
        let cost = Cost { choose_ns: 0.0, bytes, rebuild_us: median(builds) };
        ways.extend(built.map(|batch| (batch, cost)));
    }
    let mut samples = vec![Vec::new(); ways.len()];
    for turn in 0..=round.rounds {
        for place in 0..ways.len() {
            let place = (place + turn) % ways.len();
            let keys = match WAYS[place].is_linear {
                true => &keys[..keys.len().min(MOST_SCORES / servers)],
                false => &keys,
            };
            let began = Instant::now();
            black_box(ways[place].0(keys));
            let nanos = began.elapsed().as_secs_f64() * 1e9 / keys.len() as f64;
            // The first turn warms caches and does not count.
            if turn > 0 {
                samples[place].push(nanos);
            }
        }
    }
    let costs = ways.iter().zip(samples);
    Ok(costs.map(|((_, cost), samples)| Cost { choose_ns: median(samples), ..*cost }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_is_measured() {
        let costs = measure(50, Round { keys: 100, rounds: 1 }).unwrap();
        assert_eq!(costs.len(), WAYS.len());
        assert!(costs.iter().all(|cost| cost.choose_ns > 0.0 && cost.rebuild_us > 0.0));
    }
}
