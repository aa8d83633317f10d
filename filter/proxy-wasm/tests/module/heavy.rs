//! The heaviest load there may be: 200,000 different keys a second, and all of 1,000 servers replaced every second.

use std::collections::BTreeSet;

use crate::common::admin::Endpoint;
use crate::common::{Gateway, STRATEGIES, Setup, address};
use crate::limits::within_limits;

const WORKERS: usize = 4;
const SERVERS: usize = 1000;
const KEYS_A_SECOND: usize = 200_000;
const TICKS_A_SECOND: usize = 10;
/// A roster and a plan of 1,000 servers, and a slot for each worker.
const MOST_SHARED: usize = 512 << 10;
/// Of all workers together, after the second second: one that plans or polls for the first time takes a table and an answer
/// of the admin interface. Five bytes for each key that came meanwhile would be found.
const MOST_GROWTH: usize = 4 << 20;

/// The servers of a second: none of them was there the second before.
fn servers_of(second: usize) -> impl Iterator<Item = String> {
    let first = second % 2 * SERVERS;
    (first..first + SERVERS).map(address)
}

/// So many new keys, a share to each worker in each tick. Returns how many requests had no owner.
fn one_second(gateway: &mut Gateway, second: usize) -> usize {
    let known: BTreeSet<String> = (0..2).flat_map(servers_of).collect();
    let mut without = 0;
    for tick in 0..TICKS_A_SECOND {
        let a_tick = KEYS_A_SECOND / TICKS_A_SECOND;
        for number in 0..a_tick {
            let key = format!("{second}-{tick}-{number}");
            let routed = gateway.request(number % WORKERS, &key);
            assert!(routed.owners.iter().all(|owner| known.contains(owner)), "{routed:?}");
            without += usize::from(routed.owners.is_empty());
        }
        gateway.tick_all();
    }
    without
}

fn replace_servers(gateway: &mut Gateway, second: usize) {
    let endpoints = servers_of(second).map(|server| Endpoint::healthy(&server));
    gateway.admin.endpoints = endpoints.collect();
}

fn heavy(strategy: &str, seconds: usize) {
    let mut gateway = Gateway::cold(WORKERS, &Setup::admin().strategy(strategy));
    replace_servers(&mut gateway, 0);
    gateway.tick_rounds(TICKS_A_SECOND);
    let memory = |gateway: &Gateway| -> usize {
        gateway.workers.iter().map(|worker| worker.memory_bytes()).sum()
    };
    let (mut values, mut bytes) = (0, 0);
    for second in 1..=seconds {
        replace_servers(&mut gateway, second);
        assert_eq!(one_second(&mut gateway, second), 0, "{strategy}: requests without an owner");
        within_limits(&gateway, strategy);
        let shared = gateway.host.shared_data().total_bytes();
        assert!(shared < MOST_SHARED, "{strategy}: shared data of {shared} bytes");
        if second == 2 {
            (values, bytes) = (gateway.host.shared_data().keys().len(), memory(&gateway));
        }
    }
    // Two seconds have seen both halves of the servers.
    assert_eq!(gateway.host.shared_data().keys().len(), values, "{strategy}: shared data grew");
    let grew = memory(&gateway).saturating_sub(bytes);
    assert!(grew < MOST_GROWTH, "{strategy}: memory grew by {grew} bytes");
    gateway.tick_rounds(2 * TICKS_A_SECOND);
    let members = gateway.shared().plan().expect("a plan").members;
    assert_eq!(members.len(), SERVERS, "{strategy}");
    gateway.agreed_version();
    assert!(gateway.host.metrics().distinct_names() < 40, "{strategy}");
}

#[test]
fn the_default_bears_the_heaviest_load_there_may_be() {
    heavy("spread", 6);
}

#[test]
fn the_other_strategies_bear_it_too() {
    for strategy in STRATEGIES.into_iter().filter(|strategy| *strategy != "spread") {
        heavy(strategy, 3);
    }
}
