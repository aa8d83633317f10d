//! Two hundred seeds: half of them fixed, half of them new each day.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::{SystemTime, UNIX_EPOCH};

use rudolph_fault_sim::run_many;
use rudolph_mock_host::FilterModule;

/// Seeds that once showed a defect, and the first ones.
const FIXED: u64 = 100;

fn module() -> FilterModule {
    let built = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/rudolph.wasm");
    let path = std::env::var_os("RUDOLPH_WASM").map_or_else(|| built.into(), PathBuf::from);
    FilterModule::from_file(path).expect("the module is built: scripts/build-filter.sh")
}

#[test]
fn every_promise_holds_under_two_hundred_schedules() {
    let days = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 86_400;
    let today = (0..100).map(|i| days * 10_000_000 + i);
    let seeds: Vec<u64> = (0..FIXED).chain(today).collect();
    let threads = available_parallelism().map_or(1, usize::from);
    let outcome = run_many(&module(), &seeds, threads, 1, |_, _| ());
    for failure in &outcome.failures {
        for step in &failure.steps {
            eprintln!("{step}");
        }
        eprintln!("seed {}: {}", failure.seed, failure.broken);
        eprintln!("again, with every step: make sim SEED={}", failure.seed);
    }
    assert!(outcome.failures.is_empty());
    assert_eq!(outcome.seeds, 200);
}
