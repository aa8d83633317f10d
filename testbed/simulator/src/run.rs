//! Runs scenarios: each strategy with each seed, several at a time, always with the same figures.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rudolph_core::config::ConfigError;

use crate::core_driver::{self, CoreDriver};
use crate::engine::{Engine, Hashes, Keys, Measured, hashes_of};
use crate::rivals::RivalBalancer;
use crate::scenario::{Choice, Rival, Scenario, Strategy, Variant};

/// Why a run could not begin. A checked scenario gives no cause.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Workload(#[from] rudolph_workload::SpecError),
    #[error(transparent)]
    Filter(#[from] ConfigError),
    #[error("range has no place for a trace: the order of its keys is not known")]
    RangeOfTrace,
    #[error("histogram: {0}")]
    Histogram(#[from] hdrhistogram::CreationError),
}

/// One strategy under one variant's conditions, all seeds together.
#[derive(Debug)]
pub struct Outcome {
    /// Which of the variants.
    pub variant: usize,
    pub strategy: String,
    pub measured: Measured,
}

/// Runs everything, on so many threads; `on_done` is called after each run.
///
/// # Errors
/// The first run that could not begin.
pub fn run_all(
    variants: &[Variant],
    threads: usize,
    on_done: &(dyn Fn() + Sync),
) -> Result<Vec<Outcome>, RunError> {
    let hashes = all_hashes(variants)?;
    let jobs = jobs_of(variants);
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<Measured, RunError>>>> =
        jobs.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, jobs.len().max(1)) {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let scenario = &variants[job.variant].scenario;
                    let strategy = &scenario.strategies[job.strategy];
                    let result = keys_of(scenario, job.seed, &hashes[job.variant])
                        .and_then(|keys| run_one(scenario, strategy, job.seed, keys));
                    *results[job.number].lock().unwrap_or_else(PoisonError::into_inner) =
                        Some(result);
                    on_done();
                }
            });
        }
    });
    gather(variants, &jobs, results)
}

/// How many runs that is.
#[must_use]
pub fn count(variants: &[Variant]) -> usize {
    jobs_of(variants).len()
}

struct Job {
    number: usize,
    variant: usize,
    strategy: usize,
    seed: u64,
}

fn jobs_of(variants: &[Variant]) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (variant, Variant { scenario, .. }) in variants.iter().enumerate() {
        for strategy in 0..scenario.strategies.len() {
            for &seed in &scenario.seeds {
                jobs.push(Job { number: jobs.len(), variant, strategy, seed });
            }
        }
    }
    jobs
}

/// Hashes are made once for all variants with the same keys.
fn all_hashes(variants: &[Variant]) -> Result<Vec<Hashes>, RunError> {
    let mut made: Vec<Hashes> = Vec::with_capacity(variants.len());
    for (i, variant) in variants.iter().enumerate() {
        let alike = |other: &Variant| {
            let (a, b) = (&other.scenario, &variant.scenario);
            a.workload.keys == b.workload.keys
                && a.scan.keys == b.scan.keys
                && (a.scan.share > 0.0) == (b.scan.share > 0.0)
        };
        let known = variants[..i].iter().position(alike);
        made.push(match known {
            Some(at) => made[at].clone(),
            None => hashes_of(&variant.scenario)?,
        });
    }
    Ok(made)
}

fn keys_of(scenario: &Scenario, seed: u64, hashes: &Hashes) -> Result<Keys, RunError> {
    Ok(Keys::of(scenario, seed, hashes.clone())?)
}

/// One run of a checked scenario.
pub(crate) fn run_one(
    scenario: &Scenario,
    strategy: &Strategy,
    seed: u64,
    keys: Keys,
) -> Result<Measured, RunError> {
    match &strategy.choice {
        Choice::Filter(fields) => {
            let config = core_driver::config(fields, scenario)?;
            let core = CoreDriver::new(config, scenario, seed);
            Ok(Engine::new(scenario, seed, keys, core, false)?.run())
        }
        Choice::Rival(rival) => {
            let balancer = RivalBalancer::new(*rival, scenario, seed);
            let pooled = *rival == Rival::Bound;
            let keys = if *rival == Rival::Range { keys.by_number(scenario) } else { keys };
            Ok(Engine::new(scenario, seed, keys, balancer, pooled)?.run())
        }
    }
}

fn gather(
    variants: &[Variant],
    jobs: &[Job],
    results: Vec<Mutex<Option<Result<Measured, RunError>>>>,
) -> Result<Vec<Outcome>, RunError> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    let mut last = None;
    for (job, result) in jobs.iter().zip(results) {
        let Some(measured) = result.into_inner().unwrap_or_else(PoisonError::into_inner) else {
            continue;
        };
        let measured = measured?;
        match outcomes.last_mut() {
            Some(outcome) if last == Some((job.variant, job.strategy)) => {
                outcome.measured.add(&measured);
            }
            _ => {
                let strategy = variants[job.variant].scenario.strategies[job.strategy].name.clone();
                outcomes.push(Outcome { variant: job.variant, strategy, measured });
            }
        }
        last = Some((job.variant, job.strategy));
    }
    Ok(outcomes)
}
