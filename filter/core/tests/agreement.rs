//! Workers that agree over shared data: one plan, versions that rise, one planner an epoch.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod common;

use common::gateway::{Gateway, admin_config};
use common::store::Store;
use common::{config, members, seeds};
use rudolph_core::agreement::SharedStore;
use rudolph_core::plan::Placement;
use rudolph_core::telemetry::Counter;
use rudolph_core::wire::records;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const STRATEGIES: [&str; 5] = common::STRATEGIES;

#[test]
fn workers_start_and_agree() {
    for (seed, strategy) in seeds(5).zip(STRATEGIES.iter().cycle()) {
        for workers in [1, 2, 8, 32] {
            let mut store = Store::default();
            let mut gateway = Gateway::new(config(strategy, &members(5), &[]), workers, seed);
            gateway.ticks(&mut store, 3);
            let plan = gateway.agreed(&mut store, strategy);
            assert_eq!(plan.members.len(), 5);
            assert_eq!(store.keys_with("/slot/").len(), workers, "{strategy}: a slot each");
            assert_eq!(gateway.living(&mut store), workers, "{strategy}");
            assert_eq!(gateway.counted(Counter::SharedRefused), 0, "{strategy}");
        }
    }
}

#[test]
fn a_plan_that_says_nothing_new_is_not_published() {
    for strategy in STRATEGIES {
        let mut store = Store::default();
        let mut gateway = Gateway::new(config(strategy, &members(5), &[]), 4, 1);
        gateway.run(&mut store, 10_000);
        assert_eq!(gateway.agreed(&mut store, strategy).version, 1, "{strategy}");
        assert!(gateway.counted(Counter::EpochsPlanned) > 5, "{strategy}");
    }
}

#[test]
fn an_epoch_has_one_planner() {
    for (seed, strategy) in seeds(5).zip(STRATEGIES.iter().cycle()) {
        let mut store = Store::default();
        let mut gateway = Gateway::new(config(strategy, &members(3), &[]), 8, seed);
        gateway.traffic = 20;
        gateway.run(&mut store, 6_000);
        let config = gateway.config.digest;
        let epoch = store.get("rudolph/1/0/epoch").unwrap().unwrap();
        let epoch = records::open_epoch(config, &epoch.bytes).unwrap().number;
        let planned = gateway.counted(Counter::EpochsPlanned);
        assert!(planned <= epoch, "seed {seed} {strategy}: {planned} plans in {epoch} epochs");
        assert!(planned + 3 >= epoch * 9 / 10, "seed {seed} {strategy}: {planned} of {epoch}");
        let mut epochs: Vec<u64> = gateway.plans.values().map(|plan| plan.epoch).collect();
        assert!(epochs.is_sorted(), "seed {seed} {strategy}");
        epochs.dedup();
        assert_eq!(epochs.len(), gateway.plans.len(), "seed {seed} {strategy}: a plan an epoch");
    }
}

/// Under all but `spread` a key has one owner at any time: before every request all follow one plan.
#[test]
fn where_one_owner_is_promised_all_change_at_once() {
    for (seed, strategy) in seeds(6).zip(["rotation", "lpt", "pin"].iter().cycle()) {
        let mut store = Store::default();
        let mut gateway = Gateway::new(config(strategy, &members(4), &[]), 6, seed);
        gateway.traffic = 30;
        gateway.ticks(&mut store, 4);
        for step in 0..400 {
            if step % 40 == 7 {
                gateway.stall(step / 40 % 6, 150 * (step as u64 / 40));
            }
            gateway.run(&mut store, 17);
            gateway.agreed(&mut store, &format!("{strategy} step {step}"));
        }
        assert!(gateway.plans.len() > 3, "seed {seed} {strategy}: it did plan");
    }
}

#[test]
fn a_skewed_load_turns_the_rotation_and_the_counts_of_all_workers_tell() {
    let mut store = Store::default();
    let mut gateway = Gateway::new(config("rotation", &members(5), &[]), 8, 3);
    gateway.traffic = 50;
    gateway.run(&mut store, 8_000);
    let plan = gateway.agreed(&mut store, "skewed");
    assert_ne!(plan.placement, Placement::Turned { rotation: 0 });
}

#[test]
fn eight_workers_find_a_hot_key_as_fast_as_one() {
    let found = |workers: usize| {
        let more = [r#""spread": {"online": false}"#];
        let mut store = Store::default();
        let mut gateway = Gateway::new(config("spread", &members(5), &more), workers, 5);
        gateway.ticks(&mut store, 4);
        gateway.traffic = 64 / workers;
        (1..50).find(|_| {
            gateway.ticks(&mut store, 1);
            gateway.agreed(&mut store, "hot").hot.len() > 5
        })
    };
    let (one, eight) = (found(1).unwrap(), found(8).unwrap());
    assert!(eight <= one + 2, "{eight} ticks against {one}");
}

#[test]
fn members_that_a_poll_finds_reach_all_in_three_ticks() {
    for (seed, strategy) in seeds(5).zip(STRATEGIES.iter().cycle()) {
        let mut store = Store::default();
        let mut gateway = Gateway::new(admin_config(strategy, ""), 8, seed);
        gateway.run(&mut store, 2_000);
        assert!(gateway.followed(&mut store).is_empty(), "{strategy}: silent, so no plan");
        for count in [3, 5, 0, 1, 4] {
            let found = members(count);
            gateway.cluster = Some(found.clone());
            // Until the next poll is due, and then three ticks.
            gateway.run(&mut store, 500);
            gateway.ticks(&mut store, 4);
            let plan = gateway.agreed(&mut store, &format!("{strategy} {count}"));
            assert_eq!(plan.members, found, "seed {seed} {strategy}");
        }
        gateway.cluster = None;
        gateway.run(&mut store, 3_000);
        assert_eq!(gateway.agreed(&mut store, "silent").members.len(), 4, "the last known stay");
    }
}

#[test]
fn one_worker_polls_for_all_and_troubles_are_told_once() {
    let mut store = Store::default();
    let mut gateway = Gateway::new(admin_config("spread", ""), 16, 1);
    gateway.cluster = Some(members(2));
    gateway.run(&mut store, 10_000);
    assert!((15..=22).contains(&gateway.polls), "{} polls in 10 s at 500 ms", gateway.polls);
    let lines = |gateway: &Gateway| gateway.seats.iter().map(|seat| seat.log.len()).sum::<usize>();
    let before = lines(&gateway);
    gateway.cluster = None;
    gateway.run(&mut store, 10_000);
    assert_eq!(lines(&gateway) - before, 1, "silence is logged once in the gateway");
    gateway.cluster = Some(members(2));
    gateway.run(&mut store, 3_000);
    assert_eq!(lines(&gateway) - before, 2, "and so is its end");
}

#[test]
fn a_worker_that_is_replaced_rejoins_and_slots_are_used_again() {
    let mut store = Store::default();
    let mut gateway = Gateway::new(config("rotation", &members(3), &[]), 4, 2);
    gateway.run(&mut store, 1_000);
    gateway.seats[1].worker.release(&mut store);
    gateway.reload(1);
    gateway.ticks(&mut store, 3);
    gateway.agreed(&mut store, "released");
    assert_eq!(store.keys_with("/slot/").len(), 4, "a released slot is taken at once");
    gateway.reload(0);
    gateway.ticks(&mut store, 3);
    gateway.agreed(&mut store, "trapped");
    assert_eq!(store.keys_with("/slot/").len(), 5, "a trapped worker's lease goes on");
    gateway.run(&mut store, 11_000);
    assert_eq!(gateway.living(&mut store), 4);
    gateway.reload(0);
    gateway.ticks(&mut store, 3);
    assert_eq!(store.keys_with("/slot/").len(), 5, "and then its slot is free");
}

#[test]
fn faults_of_the_store_are_survived_and_told_once() {
    for strategy in STRATEGIES {
        let mut store = Store::default();
        let mut gateway = Gateway::new(config(strategy, &members(3), &[]), 3, 4);
        gateway.traffic = 5;
        gateway.run(&mut store, 2_000);
        store.broken = true;
        gateway.run(&mut store, 20_000);
        assert!(gateway.seats.iter().all(|seat| seat.worker.plan().is_some()), "{strategy}");
        store.broken = false;
        // The last hot keys cool, so that no plan is on its way when all are compared.
        gateway.traffic = 0;
        gateway.ticks(&mut store, 60);
        gateway.agreed(&mut store, strategy);
        for seat in &gateway.seats {
            assert_eq!(seat.log.len(), 2, "{strategy}: {:?}", seat.log);
        }
    }
}

#[test]
fn a_store_that_fails_from_the_start_gives_no_plan_and_no_panic() {
    let mut store = Store::default();
    store.broken = true;
    let mut gateway = Gateway::new(config("spread", &members(3), &[]), 2, 4);
    gateway.run(&mut store, 5_000);
    store.broken = false;
    gateway.ticks(&mut store, 3);
    gateway.agreed(&mut store, "repaired");
}

#[test]
fn configurations_do_not_disturb_each_other() {
    let mut store = Store::default();
    let mut gateways: Vec<Gateway> = (0..6)
        .map(|i| {
            let servers = members(2 + i);
            Gateway::new(config(STRATEGIES[i % 5], &servers, &[]), 3, i as u64 + 1)
        })
        .collect();
    for _ in 0..60 {
        for gateway in &mut gateways {
            gateway.traffic = 3;
            gateway.run(&mut store, 200);
        }
    }
    for (i, gateway) in gateways.iter_mut().enumerate() {
        let plan = gateway.agreed(&mut store, "each its own");
        assert_eq!(plan.members.len(), 2 + i);
        assert_eq!(gateway.counted(Counter::SharedRefused), 0, "gateway {i}");
    }
    let plans = store.values.keys().filter(|key| key.ends_with("/plan"));
    assert_eq!(plans.count(), 6);
}

#[test]
fn a_new_configuration_counts_versions_on() {
    let mut store = Store::default();
    let mut old = Gateway::new(config("rotation", &members(3), &[]), 2, 1);
    old.traffic = 50;
    old.run(&mut store, 10_000);
    let last = old.agreed(&mut store, "old").version;
    assert!(last > 1);
    let mut new = Gateway::new(config("rotation", &members(3), &[r#""owners": 2"#]), 2, 2);
    new.now_ms = old.now_ms;
    new.seats.clear();
    new.start();
    new.ticks(&mut store, 4);
    assert!(new.agreed(&mut store, "new").version > last);
}

#[test]
fn who_leaves_last_gives_the_arena_up() {
    let mut store = Store::default();
    let mut old = Gateway::new(config("rotation", &members(3), &[]), 3, 1);
    old.run(&mut store, 2_000);
    let version = old.agreed(&mut store, "old").version;
    for seat in &mut old.seats[1..] {
        seat.worker.release(&mut store);
    }
    let mut third = Gateway::new(config("static", &members(2), &[]), 1, 3);
    third.now_ms = old.now_ms;
    third.reload(0);
    third.run(&mut store, 1_000);
    assert!(!store.keys_with("rudolph/1/1/").is_empty(), "one is still there");
    old.seats[0].worker.release(&mut store);
    let mut new = Gateway::new(config("lpt", &members(4), &[]), 2, 2);
    new.now_ms = old.now_ms + 1_000;
    (0..2).for_each(|_| new.reload(0));
    new.run(&mut store, 1_000);
    assert!(new.agreed(&mut store, "new").version > version);
    assert_eq!(new.living(&mut store), 2, "in the same arena");
    assert!(store.keys_with("rudolph/1/2/").is_empty());
}
