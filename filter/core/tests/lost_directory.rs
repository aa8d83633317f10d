//! The directory of arenas is lost while several configurations use theirs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod common;

use std::sync::Arc;

use common::gateway::admin_config;
use common::store::Store;
use common::{config, members};
use rudolph_core::config::Config;
use rudolph_core::wire::records;
use rudolph_core::worker::Worker;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const NOW_MS: u64 = 1_700_000_000_000;
const DIRECTORY: &str = "rudolph/1/directory";

struct Rig {
    store: Store,
    first: Arc<Config>,
    second: Arc<Config>,
    worker: Worker,
}

/// Two configurations, each in its arena, and then no directory.
fn lost() -> Rig {
    let (first, second) = (config("spread", &members(3), &[]), config("spread", &members(4), &[]));
    let mut store = Store::default();
    let (mut one, mut two) = (Worker::new(first.clone()), Worker::new(second.clone()));
    for tick in 0..5 {
        one.tick(NOW_MS + tick * 100, &mut store);
        two.tick(NOW_MS + tick * 100, &mut store);
    }
    store.put(DIRECTORY, Vec::new());
    Rig { store, first, second, worker: two }
}

fn version(worker: &Worker) -> u64 {
    worker.plan().map_or(0, |plan| plan.version)
}

#[test]
fn a_worker_that_starts_finds_the_others() {
    let mut rig = lost();
    let mut late = Worker::new(rig.second.clone());
    late.tick(NOW_MS + 600, &mut rig.store);
    rig.worker.tick(NOW_MS + 650, &mut rig.store);
    assert_eq!(version(&late), version(&rig.worker));
    let directory = &rig.store.values[DIRECTORY].bytes;
    let tenants = records::open_directory(directory).unwrap();
    assert_eq!(tenants[1].config, rig.second.digest, "where it was");
    assert_ne!(tenants[0].config, rig.first.digest, "nobody has said so yet");
}

#[test]
fn each_configuration_comes_back_to_its_own_arena() {
    let mut rig = lost();
    let before = version(&rig.worker);
    for tick in 0..60 {
        rig.worker.tick(NOW_MS + 600 + tick * 100, &mut rig.store);
    }
    let mut first = Worker::new(rig.first.clone());
    first.tick(NOW_MS + 7_000, &mut rig.store);
    let tenants = records::open_directory(&rig.store.values[DIRECTORY].bytes).unwrap();
    let configs: Vec<u64> = tenants.iter().map(|tenant| tenant.config).collect();
    assert_eq!(configs, [rig.first.digest, rig.second.digest]);
    assert!(version(&first) > 0 && version(&rig.worker) >= before);
}

/// Versions count on from those of arenas that the directory no longer names.
#[test]
fn no_version_is_used_again() {
    let mut rig = lost();
    let newest = version(&rig.worker);
    let mut other = Worker::new(config("spread", &members(5), &[]));
    for tick in 0..3 {
        other.tick(NOW_MS + 600 + tick * 100, &mut rig.store);
    }
    assert!(version(&other) > newest, "{} after {newest}", version(&other));
}

/// A configuration that comes then does not sit down where another lives, whose workers have yet to say so.
#[test]
fn nobody_sits_down_among_others() {
    let mut rig = lost();
    let third = config("spread", &members(5), &[]);
    let mut other = Worker::new(third.clone());
    other.tick(NOW_MS + 600, &mut rig.store);
    let tenants = records::open_directory(&rig.store.values[DIRECTORY].bytes).unwrap();
    let place = tenants.iter().position(|tenant| tenant.config == third.digest);
    assert_eq!(place, Some(2), "arenas 0 and 1 are lived in");
}

/// Also a configuration that has no plan yet is found by those who live there.
#[test]
fn a_worker_that_starts_finds_the_others_without_a_plan() {
    let mut store = Store::default();
    let mut first = Worker::new(config("spread", &members(3), &[]));
    first.tick(NOW_MS, &mut store);
    let polled = admin_config("spread", "");
    let mut early = Worker::new(polled.clone());
    early.tick(NOW_MS, &mut store);
    assert!(early.plan().is_none(), "nobody has told of servers");
    store.put(DIRECTORY, Vec::new());
    Worker::new(polled.clone()).tick(NOW_MS + 50, &mut store);
    let tenants = records::open_directory(&store.values[DIRECTORY].bytes).unwrap();
    assert_eq!(tenants.iter().position(|tenant| tenant.config == polled.digest), Some(1));
}

/// A configuration that was given up and taken up again may have left a plan where it lived before.
#[test]
fn workers_tell_before_plans_that_were_left_behind() {
    let mut rig = lost();
    let left_behind = rig.store.values["rudolph/1/1/plan"].bytes.clone();
    let mut later = records::open_plan(rig.second.digest, &left_behind).unwrap();
    later.version += 1;
    rig.store.put("rudolph/1/0/plan", left_behind);
    let mut late = Worker::new(rig.second.clone());
    late.tick(NOW_MS + 600, &mut rig.store);
    let named = |rig: &Rig| {
        let tenants = records::open_directory(&rig.store.values[DIRECTORY].bytes).unwrap();
        tenants.iter().position(|tenant| tenant.config == rig.second.digest)
    };
    assert_eq!(named(&rig), Some(1), "its workers live there");
    rig.store.put(DIRECTORY, Vec::new());
    rig.store.put("rudolph/1/1/plan", records::seal_plan(rig.second.digest, &later));
    let after_all_ended = NOW_MS + 60_000;
    Worker::new(rig.second.clone()).tick(after_all_ended, &mut rig.store);
    assert_eq!(named(&rig), Some(1), "the newest plan is there");
}
