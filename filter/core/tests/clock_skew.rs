//! Workers read one clock, but a step of it can come between two of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod common;

use common::store::Store;
use common::{config, members};
use rudolph_core::plan::Plan;
use rudolph_core::wire::records;
use rudolph_core::worker::Worker;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const NOW_MS: u64 = 1_700_000_000_000;

/// The clock is set back by less than the time that an activation is trusted over; then a worker starts.
fn started_after_a_step_back(strategy: &str) -> bool {
    let config = config(strategy, &members(3), &[]);
    let (mut store, mut before) = (Store::default(), Worker::new(config.clone()));
    for tick in 0..5 {
        before.tick(NOW_MS + 3_000 + tick * config.tick_ms, &mut store);
    }
    assert!(before.plan().is_some());
    let mut after = Worker::new(config);
    after.tick(NOW_MS, &mut store);
    after.plan().is_some()
}

/// Under `spread` a plan holds when it is read: a worker that starts does not wait for the planner's clock.
#[test]
fn a_plan_without_a_lead_holds_at_once() {
    assert!(started_after_a_step_back("spread"));
}

/// With one owner a key, all change at one moment, so the moment is waited for.
#[test]
fn a_plan_with_a_lead_is_waited_for() {
    assert!(!started_after_a_step_back("rotation"));
}

/// The next plan is adopted at its time although one of a planner whose clock is seconds ahead came after it.
#[test]
fn the_next_plan_is_not_skipped_for_one_that_waits_longer() {
    let config = config("static", &members(3), &[]);
    let mut store = Store::default();
    let mut worker = Worker::new(config.clone());
    for tick in 0..5 {
        worker.tick(NOW_MS + tick * config.tick_ms, &mut store);
    }
    let now_ms = NOW_MS + 5 * config.tick_ms;
    let first = (**worker.plan().unwrap()).clone();
    let publish = |version: u64, activate_at_ms: u64, store: &mut Store| {
        let plan = Plan { version, activate_at_ms, ..first.clone() };
        store.put("rudolph/1/0/plan", records::seal_plan(config.digest, &plan));
    };
    publish(first.version + 1, now_ms + 200, &mut store);
    worker.tick(now_ms, &mut store);
    for late in 2..4 {
        publish(first.version + late, now_ms + 4_000, &mut store);
        worker.tick(now_ms + 100, &mut store);
    }
    let followed = |worker: &Worker| worker.plan().unwrap().version - first.version;
    assert_eq!(followed(&worker), 0);
    worker.activate_due(now_ms + 200);
    assert_eq!(followed(&worker), 1, "the next");
    worker.activate_due(now_ms + 4_000);
    assert_eq!(followed(&worker), 3, "the newest");
}
