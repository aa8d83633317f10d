//! Many seeds, on all cores.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;

use rudolph_mock_host::FilterModule;

use crate::{Failure, run};

/// What came of many seeds.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Seeds that were run.
    pub seeds: u64,
    /// Steps of all of them.
    pub steps: u64,
    /// Those that broke a promise, in the order of their seeds.
    pub failures: Vec<Failure>,
}

/// Runs seeds on so many threads, and ends early after so many failures. `told` hears how many are done, and of each
/// failure at once.
pub fn run_many(
    module: &FilterModule,
    seeds: &[u64],
    threads: usize,
    most_failures: usize,
    told: impl Fn(u64, Option<&Failure>) + Sync,
) -> Outcome {
    let (next, done, steps) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let enough = AtomicBool::new(false);
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                while !enough.load(Relaxed) {
                    let Some(seed) = seeds.get(next.fetch_add(1, Relaxed) as usize) else { break };
                    match run(module, *seed, KEPT_STEPS) {
                        Ok(more) => {
                            steps.fetch_add(more, Relaxed);
                            told(done.fetch_add(1, Relaxed) + 1, None);
                        }
                        Err(failure) => {
                            told(done.fetch_add(1, Relaxed) + 1, Some(&failure));
                            let mut failures =
                                failures.lock().unwrap_or_else(PoisonError::into_inner);
                            failures.push(*failure);
                            enough.store(failures.len() >= most_failures, Relaxed);
                        }
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.sort_by_key(|failure| failure.seed);
    Outcome { seeds: done.into_inner(), steps: steps.into_inner(), failures }
}

/// A failure shows so many of its last steps.
const KEPT_STEPS: usize = 40;
