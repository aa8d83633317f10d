//! Disturbances: ticks within ticks, torn values, stalls, reloads, clocks that jump.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod common;

use common::gateway::{Gateway, admin_config};
use common::store::Store;
use common::{Rng, STRATEGIES, config, members, seeds};
use rudolph_core::agreement::{Expect, SharedStore, StoreFault, Stored, Versioned};
use rudolph_core::telemetry::Counter;
use rudolph_core::worker::Worker;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// Lets another worker tick in the middle of a tick, after so many calls of the store.
struct Racing<'a> {
    store: &'a mut Store,
    other: &'a mut Worker,
    now_ms: u64,
    calls_left: usize,
}

impl Racing<'_> {
    fn step(&mut self) {
        if self.calls_left == 0 {
            self.other.tick(self.now_ms, self.store);
        }
        self.calls_left = self.calls_left.wrapping_sub(1);
    }
}

impl SharedStore for Racing<'_> {
    fn get(&mut self, key: &str) -> Result<Option<Versioned>, StoreFault> {
        self.step();
        self.store.get(key)
    }

    fn set(&mut self, key: &str, value: &[u8], expect: Expect) -> Result<Stored, StoreFault> {
        self.step();
        self.store.set(key, value, expect)
    }
}

#[test]
fn two_workers_in_the_middle_of_each_other_s_ticks() {
    for strategy in STRATEGIES {
        let config = config(strategy, &members(3), &[]);
        for begun_ms in [0, 100, 1_000] {
            // Spelling out a rendezvous table is slow, and the ticks are the same.
            let every = if config.is_rendezvous() { 5 } else { 1 };
            for calls in (0..24).step_by(every) {
                let mut store = Store::default();
                let mut gateway = Gateway::new(config.clone(), 2, calls as u64 + 1);
                gateway.run(&mut store, begun_ms);
                let now_ms = gateway.now_ms + 1_000;
                gateway.run(&mut store, 0);
                gateway.jump(now_ms);
                let [first, second] = &mut gateway.seats[..] else { panic!("two") };
                let (other, store_ref) = (&mut second.worker, &mut store);
                let mut racing = Racing { store: store_ref, other, now_ms, calls_left: calls };
                first.worker.tick(now_ms, &mut racing);
                gateway.ticks(&mut store, 4);
                let context = format!("{strategy} after {begun_ms} ms, call {calls}");
                gateway.agreed(&mut store, &context);
                assert_eq!(store.keys_with("/slot/").len(), 2, "{context}");
            }
        }
    }
}

/// Tears one value: cut, flipped, foreign, or of another configuration.
fn tear(store: &mut Store, key: &str, rng: &mut Rng) {
    let Some(value) = store.values.get(key) else { return };
    let mut bytes = value.bytes.clone();
    // One that was torn before may be too short for more.
    let way = if bytes.len() < 24 { 2 } else { rng.below(5) };
    match way {
        0 => bytes.truncate(rng.below(bytes.len())),
        1 => *bytes.last_mut().unwrap() ^= 1,
        2 => bytes = b"somebody else's words, long enough to be read".to_vec(),
        3 => bytes = Vec::new(),
        _ => bytes[4] = bytes[4].wrapping_sub(1),
    }
    store.put(key, bytes);
}

#[test]
fn each_torn_value_is_refused_counted_and_replaced() {
    for what in ["/plan", "/epoch", "/slot/0", "/slot/2", "/roster", "/poll", "/directory"] {
        for (seed, strategy) in seeds(5).zip(STRATEGIES.iter().cycle()) {
            let context = format!("{strategy} {what}");
            let mut rng = Rng::new(seed);
            let mut store = Store::default();
            let mut gateway = Gateway::new(admin_config(strategy, ""), 4, seed);
            gateway.cluster = Some(members(3));
            gateway.run(&mut store, 2_000);
            let version = gateway.agreed(&mut store, &context).version;
            let key = store.keys_with(what).remove(0);
            tear(&mut store, &key, &mut rng);
            let torn = store.values[&key].bytes.clone();
            // The heartbeat of the directory is slow; the others are met within a tick and a poll.
            gateway.run(&mut store, if what == "/directory" { 6_000 } else { 1_000 });
            let plan = gateway.agreed(&mut store, &context);
            assert!(plan.version >= version, "seed {seed} {context}");
            assert_eq!(plan.members, members(3), "seed {seed} {context}");
            assert_ne!(store.values[&key].bytes, torn, "seed {seed} {context}: replaced");
            let refused = gateway.counted(Counter::SharedRefused);
            assert!((1..=8).contains(&refused), "seed {seed} {context}: {refused} refused");
        }
    }
}

/// A plan that only its planner has seen is torn: no other may take the same version for another plan.
#[test]
fn a_plan_torn_right_after_it_was_published() {
    for (seed, strategy) in seeds(12).zip(["rotation", "lpt"].iter().cycle()) {
        let mut rng = Rng::new(seed);
        let mut store = Store::default();
        let mut gateway = Gateway::new(config(strategy, &members(4), &[]), 4, seed);
        gateway.traffic = 20;
        gateway.run(&mut store, 1_500);
        for _ in 0..6 {
            let plan = |store: &Store| store.values["rudolph/1/0/plan"].version;
            let before = plan(&store);
            while plan(&store) == before {
                gateway.run(&mut store, 1);
            }
            tear(&mut store, "rudolph/1/0/plan", &mut rng);
            gateway.ticks(&mut store, 8);
            gateway.agreed(&mut store, strategy);
        }
    }
}

#[test]
fn a_torn_or_late_gateway_agrees_again_within_three_ticks() {
    for (seed, strategy) in seeds(15).zip(STRATEGIES.iter().cycle()) {
        let mut store = Store::default();
        let mut gateway = Gateway::new(config(strategy, &members(4), &[]), 6, seed);
        gateway.run(&mut store, 2_000);
        let mut rng = Rng::new(seed);
        for step in 0..12 {
            let at = rng.below(6);
            match step % 4 {
                0 => tear(&mut store, "rudolph/1/0/plan", &mut rng),
                1 => tear(&mut store, "rudolph/1/0/epoch", &mut rng),
                2 => gateway.reload(at),
                _ => {
                    gateway.stall(at, 12_000);
                    gateway.run(&mut store, 12_000);
                }
            }
            gateway.ticks(&mut store, 3);
            gateway.agreed(&mut store, &format!("{strategy} step {step}"));
        }
    }
}

#[test]
fn the_clock_jumps() {
    for (seed, strategy) in seeds(5).zip(STRATEGIES.iter().cycle()) {
        let mut store = Store::default();
        let mut gateway = Gateway::new(admin_config(strategy, ""), 4, seed);
        gateway.cluster = Some(members(3));
        // Under `spread` each tick finds other hot keys, and workers follow a tick apart.
        gateway.traffic = if *strategy == "spread" { 0 } else { 5 };
        gateway.run(&mut store, 3_000);
        let hour = 3_600_000;
        for (i, by) in [hour, -hour, -24 * hour, 10_000, -3_000, -150, 150].into_iter().enumerate()
        {
            let to = gateway.now_ms.saturating_add_signed(by);
            gateway.jump(to);
            let found = members(2 + i % 3);
            gateway.cluster = Some(found.clone());
            gateway.run(&mut store, 500 + 500 + by.unsigned_abs().min(4_000));
            gateway.ticks(&mut store, 4);
            let plan = gateway.agreed(&mut store, &format!("{strategy} by {by}"));
            assert_eq!(plan.members, found, "seed {seed} {strategy} by {by}");
        }
    }
}

#[test]
fn everything_at_once() {
    for seed in seeds(24) {
        let mut rng = Rng::new(seed);
        let strategy =
            ["rotation", "lpt", "static", "rotation", "lpt", "spread"][seed as usize % 6];
        let workers = rng.between(2, 9);
        let mut store = Store::default();
        let mut gateway = Gateway::new(admin_config(strategy, ""), workers, seed);
        gateway.cluster = Some(members(4));
        for _ in 0..40 {
            let at = rng.below(gateway.seats.len());
            match rng.below(9) {
                0 => gateway.stall(at, rng.between(100, 15_000) as u64),
                1 => gateway.reload(at),
                2 => store.broken = true,
                3 | 4 => {
                    let keys = store.keys_with("/");
                    if !keys.is_empty() {
                        tear(&mut store, &keys[rng.below(keys.len())], &mut rng);
                    }
                }
                5 => gateway.cluster = Some(members(rng.below(6))),
                6 => gateway.cluster = None,
                7 => gateway.traffic = rng.below(20),
                _ => gateway.jump(gateway.now_ms + rng.below(20_000) as u64 - 10_000),
            }
            gateway.run(&mut store, rng.between(1, 1_500) as u64);
            store.broken = false;
        }
        let found = members(5);
        gateway.cluster = Some(found.clone());
        gateway.traffic = 0;
        gateway.run(&mut store, 16_000);
        assert_eq!(gateway.agreed(&mut store, strategy).members, found, "seed {seed} {strategy}");
        gateway.run(&mut store, 11_000);
        assert_eq!(gateway.living(&mut store), workers, "seed {seed} {strategy}");
    }
}
