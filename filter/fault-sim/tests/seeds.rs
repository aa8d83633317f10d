//! The seeds that once showed a defect, and 200 new ones each day, the first of those that `make sim` takes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

use std::path::PathBuf;
use std::thread::available_parallelism;

use rudolph_fault_sim::{first_seed_of_today, run_many};
use rudolph_mock_host::FilterModule;

/// docs/reliability.md tells what each of them found.
const FOUND: &[u64] = &[
    16,
    25,
    33,
    90,
    108,
    109,
    149,
    302,
    362,
    401,
    800,
    822,
    207_770_000_063,
    207_770_000_780,
    207_780_000_189,
    207_790_000_717,
    207_790_000_766,
];

const OF_TODAY: u64 = 200;

fn module() -> FilterModule {
    let built = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/rudolph.wasm");
    let path = std::env::var_os("RUDOLPH_WASM").map_or_else(|| built.into(), PathBuf::from);
    FilterModule::from_file(path).expect("the module is built: scripts/build-filter.sh")
}

fn hold(seeds: &[u64]) {
    let threads = available_parallelism().map_or(1, usize::from);
    let outcome = run_many(&module(), seeds, threads, 1, |_, _| ());
    for failure in &outcome.failures {
        for step in &failure.steps {
            eprintln!("{step}");
        }
        eprintln!("seed {}: {}", failure.seed, failure.broken);
        eprintln!("again, with every step: make sim SEED={}", failure.seed);
    }
    assert!(outcome.failures.is_empty());
    assert_eq!(outcome.seeds, seeds.len() as u64);
}

#[test]
fn what_once_broke_holds() {
    hold(FOUND);
}

#[test]
fn every_promise_holds_under_the_schedules_of_the_day() {
    let first = first_seed_of_today();
    println!("seeds {first} to {}", first + OF_TODAY - 1);
    hold(&(first..first + OF_TODAY).collect::<Vec<_>>());
}
