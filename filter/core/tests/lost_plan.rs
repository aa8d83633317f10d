//! The published plan is lost more than once, and with it its version: slots tell, also those of workers that ended.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod common;

use std::sync::Arc;

use common::gateway::{admin_config, clusters};
use common::store::Store;
use common::{config, members};
use rudolph_core::config::Config;
use rudolph_core::wire::records;
use rudolph_core::worker::Worker;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const PLAN: &str = "rudolph/1/0/plan";

/// Longer than a lease.
const LONG_MS: u64 = 60_000;

struct Rig {
    store: Store,
    config: Arc<Config>,
    now_ms: u64,
}

impl Rig {
    fn new() -> Self {
        let config = config("static", &members(3), &[]);
        Self { store: Store::default(), config, now_ms: 1_700_000_000_000 }
    }

    fn start(&mut self) -> Worker {
        self.start_with(self.config.clone())
    }

    fn start_with(&mut self, config: Arc<Config>) -> Worker {
        let mut worker = Worker::new(config);
        self.tick(&mut worker);
        worker
    }

    fn tick(&mut self, worker: &mut Worker) {
        self.now_ms += self.config.tick_ms;
        worker.tick(self.now_ms, &mut self.store);
    }

    fn lose_plan(&mut self) {
        self.store.put(PLAN, Vec::new());
    }

    fn published(&self) -> u64 {
        records::peek_plan_version(&self.store.values[PLAN].bytes).unwrap()
    }

    /// The plan is lost; this worker publishes another, which is lost too. Returns the version that nothing but a slot
    /// tells of.
    fn lose_two_plans(&mut self, worker: &mut Worker) -> u64 {
        let first = self.published();
        self.lose_plan();
        self.tick(worker);
        let version = self.published();
        assert!(version > first);
        self.lose_plan();
        version
    }
}

#[test]
fn a_silent_slot_still_tells() {
    let mut rig = Rig::new();
    let (mut sleeper, mut last) = (rig.start(), rig.start());
    let lost = rig.lose_two_plans(&mut last);
    drop(last);
    rig.now_ms += LONG_MS;
    rig.tick(&mut sleeper);
    assert!(rig.published() > lost, "{} after {lost}", rig.published());
}

#[test]
fn who_takes_a_slot_goes_on_telling() {
    let mut rig = Rig::new();
    let mut last = rig.start();
    let lost = rig.lose_two_plans(&mut last);
    drop(last);
    rig.now_ms += LONG_MS;
    rig.start();
    assert!(rig.published() > lost, "{} after {lost}", rig.published());
}

#[test]
fn a_slot_that_was_given_up_still_tells() {
    let mut rig = Rig::new();
    let mut last = rig.start();
    let lost = rig.lose_two_plans(&mut last);
    last.release(&mut rig.store);
    rig.start();
    assert!(rig.published() > lost, "{} after {lost}", rig.published());
}

/// Versions are counted over all configurations, so whose slot tells of one does not matter.
#[test]
fn a_slot_tells_other_configurations() {
    let mut rig = Rig::new();
    let mut last = rig.start();
    let lost = rig.lose_two_plans(&mut last);
    last.release(&mut rig.store);
    let other = config("static", &members(4), &[]);
    let mut worker = rig.start_with(other);
    assert!(rig.published() > lost, "{} after {lost}", rig.published());
    let told = rig.published();
    rig.lose_plan();
    worker.release(&mut rig.store);
    rig.start();
    assert!(rig.published() > told, "{} after {told}", rig.published());
}

#[test]
fn the_plan_before_tells_where_no_slot_does() {
    let mut rig = Rig::new();
    let mut last = rig.start();
    rig.lose_plan();
    for _ in 0..5 {
        rig.tick(&mut last);
    }
    let newest = rig.published();
    let plan = rig.store.values[PLAN].bytes.clone();
    rig.store.put("rudolph/1/0/plan/before", plan);
    rig.lose_plan();
    for slot in rig.store.keys_with("/slot/") {
        rig.store.put(&slot, Vec::new());
    }
    rig.start();
    assert!(rig.published() > newest, "{} after {newest}", rig.published());
}

/// Nobody is left that could know; the clock is.
#[test]
fn where_nothing_tells_the_clock_does() {
    let mut rig = Rig::new();
    let mut versions = Vec::new();
    for _ in 0..5 {
        let last = rig.start();
        versions.push(rig.published());
        drop(last);
        for key in rig.store.keys_with("rudolph/1/0/") {
            rig.store.put(&key, vec![0]);
        }
    }
    assert!(versions.is_sorted_by(|before, after| before < after), "{versions:?}");
}

/// A worker that was away finds the published plan lost and no servers to plan for: the plan before holds.
#[test]
fn the_plan_before_holds_where_the_published_one_is_lost() {
    let mut store = Store::default();
    let config = admin_config("static", "");
    let mut away = Worker::new(config.clone());
    let mut now_ms = 1_700_000_000_000;
    let mut tick = |worker: &mut Worker, store: &mut Store| {
        now_ms += config.tick_ms;
        worker.tick(now_ms, store);
    };
    let mut planner = Worker::new(config.clone());
    tick(&mut planner, &mut store);
    tick(&mut away, &mut store);
    let mut versions = Vec::new();
    for count in [3, 4, 5] {
        planner.on_clusters(&clusters(&members(count)), &mut store);
        for _ in 0..10 {
            tick(&mut planner, &mut store);
        }
        versions.push(planner.plan().unwrap().version);
        if count == 3 {
            tick(&mut away, &mut store);
        }
    }
    store.put(PLAN, Vec::new());
    store.put("rudolph/1/0/roster", Vec::new());
    tick(&mut away, &mut store);
    assert_eq!(away.plan().unwrap().version, versions[1]);
}
