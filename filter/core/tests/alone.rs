//! A worker that finds no place in the shared store, and how it comes back to the others.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod common;

use common::gateway::{Gateway, admin_config};
use common::store::Store;
use common::{config, members};
use rudolph_core::agreement::{Expect, SharedStore, StoreFault, Stored, Versioned};
use rudolph_core::wire::records::{self, MAX_ARENAS, Tenant};
use rudolph_core::worker::Worker;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const NOW_MS: u64 = 1_700_000_000_000;
const DIRECTORY: &str = "rudolph/1/directory";

#[test]
fn with_all_arenas_taken_a_worker_plans_alone_until_one_is_abandoned() {
    let mut store = Store::default();
    let mut gateway = Gateway::new(config("static", &members(3), &[]), 1, 1);
    let tenants: Vec<Tenant> = (0..MAX_ARENAS as u64)
        .map(|config| Tenant { config: config + 7, heartbeat_ms: gateway.now_ms + config })
        .collect();
    store.put("rudolph/1/directory", records::seal_directory(&tenants));
    gateway.run(&mut store, 60_000);
    assert_eq!(gateway.agreed(&mut store, "alone").version, 0);
    assert_eq!(store.values.len(), 1, "it wrote nothing");
    assert_eq!(gateway.seats[0].log.len(), 1, "{:?}", gateway.seats[0].log);
    gateway.run(&mut store, 70_000);
    assert_eq!(store.keys_with("rudolph/1/0/slot").len(), 1, "the longest abandoned is taken");
    assert_eq!(gateway.seats[0].log.len(), 2, "{:?}", gateway.seats[0].log);
    gateway.agreed(&mut store, "and goes on");
}

#[test]
fn alone_a_worker_polls_for_itself() {
    let mut store = Store::default();
    let mut gateway = Gateway::new(admin_config("pin", ""), 1, 1);
    let taken = Tenant { config: 7, heartbeat_ms: gateway.now_ms };
    store.put("rudolph/1/directory", records::seal_directory(&vec![taken; MAX_ARENAS]));
    for count in [3, 5, 0, 2] {
        gateway.cluster = Some(members(count));
        gateway.run(&mut store, 1_000);
        assert_eq!(gateway.agreed(&mut store, "alone").members, members(count));
    }
    assert_eq!(store.values.len(), 1, "it wrote nothing");
}

/// What it planned for itself counts for nothing once it has a place, though it was made later.
#[test]
fn with_a_place_it_follows_the_others() {
    let config = config("rotation", &members(3), &[]);
    let (mut store, mut other) = (Store::default(), Worker::new(config.clone()));
    for tick in 0..5 {
        other.tick(NOW_MS + tick * config.tick_ms, &mut store);
    }
    let directory = store.values[DIRECTORY].bytes.clone();
    let taken = Tenant { config: 7, heartbeat_ms: NOW_MS };
    store.put(DIRECTORY, records::seal_directory(&vec![taken; MAX_ARENAS]));
    let mut alone = Worker::new(config);
    alone.tick(NOW_MS + 900, &mut store);
    assert_eq!(alone.plan().unwrap().version, 0);
    store.put(DIRECTORY, directory);
    alone.tick(NOW_MS + 1_000, &mut store);
    assert_eq!(alone.plan(), other.plan());
}

/// Others are always faster with the directory.
struct Contended(Store);

impl SharedStore for Contended {
    fn get(&mut self, key: &str) -> Result<Option<Versioned>, StoreFault> {
        self.0.get(key)
    }

    fn set(&mut self, key: &str, value: &[u8], expect: Expect) -> Result<Stored, StoreFault> {
        if key == DIRECTORY { Ok(Stored::Lost) } else { self.0.set(key, value, expect) }
    }
}

#[test]
fn lost_races_for_the_directory_are_no_want_of_a_place() {
    let config = config("spread", &members(3), &[]);
    let (mut store, mut other) = (Store::default(), Worker::new(config.clone()));
    other.tick(NOW_MS, &mut store);
    let (mut contended, mut late) = (Contended(store), Worker::new(config));
    let actions = late.tick(NOW_MS + 20, &mut contended);
    assert_eq!(late.plan(), None, "it waits");
    assert_eq!(actions, [], "and does not say that the store is full");
    for tick in 2..6 {
        late.tick(NOW_MS + 20 * tick, &mut contended);
    }
    assert_eq!(late.plan().unwrap().version, 0, "in the end it routes all the same");
    late.tick(NOW_MS + 120, &mut contended.0);
    assert_eq!(late.plan(), other.plan());
}
