//! A thousand servers, many keys, many configurations, clocks that jump: bounded in memory and time.

use rudolph_mock_host::Callback;

use crate::common::admin::Endpoint;
use crate::common::{Gateway, STRATEGIES, Setup, address};

const SERVERS: usize = 1000;
const MOST_MEMORY: usize = 8 << 20;

/// A callback may take 20 ms. Fuel stands for time, since it does not depend on what else the machine does.
const MOST_MS: u64 = 20;

/// Measured on an idle machine: tables burn 16 units a nanosecond or more, the short loops of `lpt` 30.
fn fuel_per_ms(strategy: &str) -> u64 {
    if strategy == "lpt" { 25_000_000 } else { 15_000_000 }
}

const CALLBACKS: [Callback; 5] = [
    Callback::Configure,
    Callback::Tick,
    Callback::RequestHeaders,
    Callback::HttpCallResponse,
    Callback::Delete,
];

pub(crate) fn within_limits(gateway: &Gateway, strategy: &str) {
    for worker in &gateway.workers {
        let memory = worker.memory_bytes();
        assert!(memory < MOST_MEMORY, "{strategy}: a worker holds {memory} bytes");
        for callback in CALLBACKS {
            let totals = worker.totals(callback);
            let (ms, name) = (totals.longest_fuel / fuel_per_ms(strategy), callback.name());
            let measured = totals.longest_wall;
            assert!(
                ms < MOST_MS,
                "{strategy}: {name} takes {ms} ms by fuel ({measured:?} measured)"
            );
        }
    }
}

/// 20,000 different keys over 200 ticks, some of them hot.
fn many_keys(gateway: &mut Gateway) {
    for round in 0..200 {
        for i in 0..100 {
            let worker = i % gateway.workers.len();
            gateway.request(worker, &format!("key-{}", round * 100 + i));
            if i % 4 == 0 {
                gateway.request(worker, &format!("hot-{}", i % 12));
            }
        }
        gateway.tick_all();
    }
}

#[test]
fn a_thousand_servers_and_many_keys_stay_in_bounds() {
    for strategy in STRATEGIES {
        let setup = Setup::servers(SERVERS).strategy(strategy);
        let mut gateway = Gateway::start(2, &setup);
        many_keys(&mut gateway);
        within_limits(&gateway, strategy);
        gateway.agreed_version();
        assert!(gateway.host.metrics().distinct_names() < 40);
    }
}

#[test]
fn a_thousand_servers_that_come_and_go_stay_in_bounds() {
    for strategy in STRATEGIES {
        let mut gateway = Gateway::cold(2, &Setup::admin().strategy(strategy));
        let all: Vec<Endpoint> = (0..SERVERS).map(|i| Endpoint::healthy(&address(i))).collect();
        for round in 0..10 {
            gateway.admin.endpoints = all.clone();
            gateway.admin.endpoints.drain(..round * 7);
            gateway.admin.endpoints[500].weight = 1 + round as u32;
            for i in 0..200 {
                gateway.request(i % 2, &format!("key-{i}"));
            }
            gateway.tick_rounds(15);
        }
        within_limits(&gateway, strategy);
        assert_eq!(gateway.shared().plan().unwrap().members.len(), SERVERS - 63, "{strategy}");
    }
}

#[test]
fn thirty_two_workers_on_a_thousand_servers_stay_in_bounds() {
    for strategy in STRATEGIES {
        let mut gateway = Gateway::start(32, &Setup::servers(SERVERS).strategy(strategy));
        for round in 0..25 {
            for i in 0..640 {
                gateway.request(i % 32, &format!("key-{}", round * 640 + i));
            }
            gateway.tick_all();
        }
        within_limits(&gateway, strategy);
        gateway.tick_rounds(5);
        assert_eq!(gateway.gauge("workers"), Some(32), "{strategy}");
    }
}

#[test]
fn owners_of_a_hot_key_on_a_thousand_servers_stay_in_bounds() {
    let mut gateway = Gateway::start(1, &Setup::servers(SERVERS));
    for _ in 0..50 {
        gateway.request(0, "hot");
    }
    let open: Vec<_> = (0..3000).map(|_| gateway.open(0, "hot")).collect();
    open.into_iter().for_each(|stream| gateway.finish(0, stream));
    within_limits(&gateway, "spread");
}

#[test]
fn large_requests_do_not_grow_the_memory() {
    let mut gateway = Gateway::start(1, &Setup::servers(5));
    let mut memory = 0;
    for round in 0..2000 {
        gateway.request(0, &format!("{round}{}", "x".repeat(60_000)));
        if round == 100 {
            memory = gateway.workers[0].memory_bytes();
        }
    }
    assert_eq!(gateway.workers[0].memory_bytes(), memory);
}

#[test]
fn a_clock_that_jumps_is_survived() {
    const HOUR_MS: u64 = 3_600_000;
    for strategy in STRATEGIES {
        for setup in [Setup::servers(5), Setup::admin()] {
            let mut gateway = Gateway::start(3, &setup.strategy(strategy));
            for jump in [HOUR_MS, 2500, 200] {
                let now = gateway.host.clock().nanos();
                gateway.advance_ms(jump);
                steady(&mut gateway, &format!("{strategy}, forward {jump}"));
                let back = gateway.host.clock().nanos().min(now);
                gateway.host.clock().set_nanos(back);
                steady(&mut gateway, &format!("{strategy}, back {jump}"));
            }
        }
    }
}

/// Requests go on, new plans are made, and all agree.
fn steady(gateway: &mut Gateway, context: &str) {
    let planned = gateway.counter("epochs_planned");
    let polls = gateway.admin.polls.len();
    for _ in 0..40 {
        gateway.tick_all();
        for worker in 0..3 {
            assert_eq!(gateway.request(worker, "k").owners.len(), 3, "{context}");
        }
    }
    gateway.agreed_version();
    assert_eq!(gateway.shared().living(), 3, "{context}");
    assert!(gateway.counter("epochs_planned") > planned, "{context}: nothing was planned");
    let polled = gateway.admin.polls.len() - polls;
    assert!(polls == 0 || (2..=6).contains(&polled), "{context}: {polled} polls in 4 s");
}
