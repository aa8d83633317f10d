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

/// A worker that follows a plan and then hears of others whose times come so much later; which of them, by their order
/// from 1, it follows at each of these moments.
fn followed(leads_ms: &[u64], moments_ms: &[u64]) -> Vec<u64> {
    let config = config("static", &members(3), &[]);
    let mut store = Store::default();
    let mut worker = Worker::new(config.clone());
    for tick in 0..5 {
        worker.tick(NOW_MS + tick * config.tick_ms, &mut store);
    }
    let now_ms = NOW_MS + 5 * config.tick_ms;
    let first = (**worker.plan().unwrap()).clone();
    for (before, lead_ms) in (0..).zip(leads_ms) {
        let (version, activate_at_ms) = (first.version + before + 1, now_ms + lead_ms);
        let plan = Plan { version, activate_at_ms, ..first.clone() };
        store.put("rudolph/1/0/plan", records::seal_plan(config.digest, &plan));
        worker.tick(now_ms, &mut store);
    }
    let mut follow = |moment_ms: &u64| {
        worker.activate_due(now_ms + moment_ms);
        worker.plan().unwrap().version - first.version
    };
    moments_ms.iter().map(&mut follow).collect()
}

/// The next plan is adopted at its time although those of a planner whose clock is seconds ahead came after it.
#[test]
fn the_next_plan_is_not_skipped_for_one_that_waits_longer() {
    assert_eq!(followed(&[200, 4_000, 4_000], &[100, 200, 3_999, 4_000]), [0, 1, 1, 3]);
}

/// Nor is it skipped for an older one that waits longer.
#[test]
fn the_newest_plan_that_is_due_holds() {
    assert_eq!(followed(&[4_000, 200, 3_000], &[199, 200, 3_000, 4_000]), [0, 2, 3, 3]);
}
