//! Two hundred fixed seeds. `make sim` takes new ones each day.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

use std::path::PathBuf;
use std::thread::available_parallelism;

use rudolph_fault_sim::run_many;
use rudolph_mock_host::FilterModule;

/// Among them those that once showed a defect.
const SEEDS: u64 = 200;

fn module() -> FilterModule {
    let built = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/rudolph.wasm");
    let path = std::env::var_os("RUDOLPH_WASM").map_or_else(|| built.into(), PathBuf::from);
    FilterModule::from_file(path).expect("the module is built: scripts/build-filter.sh")
}

#[test]
fn every_promise_holds_under_two_hundred_schedules() {
    let seeds: Vec<u64> = (0..SEEDS).collect();
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
    assert_eq!(outcome.seeds, SEEDS);
}
