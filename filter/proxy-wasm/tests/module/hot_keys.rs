//! Hot keys: found as fast by eight workers as by one, on several servers under `spread` and on one elsewhere.

use std::collections::BTreeSet;

use rudolph_core::hash::KeyHash;
use rudolph_mock_host::Stream;

use crate::common::gateway::Routed;
use crate::common::{Gateway, ONE_OWNER, Setup, address};

const HOT: &str = "the-hot-key";

/// Servers that so many unfinished requests of a key go to, in order, in one worker.
fn servers_of(gateway: &mut Gateway, worker: usize, key: &str, requests: usize) -> Vec<String> {
    let open: Vec<Stream> = (0..requests).map(|_| gateway.open(worker, key)).collect();
    let servers = open.iter().map(|stream| Routed::of(stream).owner().to_owned()).collect();
    open.into_iter().for_each(|stream| gateway.finish(worker, stream));
    servers
}

fn distinct(servers: &[String]) -> usize {
    servers.iter().collect::<BTreeSet<_>>().len()
}

/// Rounds until the shared plan names the key. A tenth of the load is for it; each worker sees its part.
fn rounds_to_find(workers: usize) -> usize {
    let mut gateway = Gateway::start(workers, &Setup::servers(5));
    let key = KeyHash::of(HOT.as_bytes());
    for round in 1..100 {
        for i in 0..200 {
            let cold = format!("cold-{round}-{i}");
            gateway.request(i % workers, if i % 10 == 0 { HOT } else { &cold });
        }
        gateway.tick_all();
        let plan = gateway.shared().plan().unwrap();
        if plan.hot.iter().any(|hot| hot.key == key) {
            return round;
        }
    }
    panic!("{workers} workers: not found in 100 rounds");
}

#[test]
fn eight_workers_find_a_hot_key_about_as_fast_as_one() {
    let (one, eight) = (rounds_to_find(1), rounds_to_find(8));
    assert!(eight <= one + 2, "one worker needs {one} ticks and eight need {eight}");
}

#[test]
fn a_worker_that_never_saw_a_hot_key_spreads_it_all_the_same() {
    let mut gateway = Gateway::start(4, &Setup::servers(5));
    assert_eq!(distinct(&servers_of(&mut gateway, 3, "another", 3)), 1);
    for round in 0..10 {
        for i in 0..100 {
            let cold = format!("cold-{round}-{i}");
            gateway.request(i % 3, if i % 4 == 0 { HOT } else { &cold });
        }
        gateway.tick_all();
    }
    assert!(distinct(&servers_of(&mut gateway, 3, HOT, 2)) == 2, "its first two requests");
    gateway.tick_rounds(150);
    assert_eq!(gateway.gauge("hot_keys"), Some(0), "a key that cools is no longer hot");
    assert_eq!(distinct(&servers_of(&mut gateway, 3, HOT, 2)), 1);
}

#[test]
fn a_hot_key_goes_to_the_server_with_the_least_in_flight_and_a_cold_one_home() {
    let mut gateway = Gateway::start(1, &Setup::servers(5));
    for _ in 0..50 {
        gateway.request(0, HOT);
    }
    let servers = servers_of(&mut gateway, 0, HOT, 20);
    for i in 0..5 {
        let count = servers.iter().filter(|server| **server == address(i)).count();
        assert_eq!(count, 4, "{servers:?}");
    }
    for i in 0..100 {
        let servers = servers_of(&mut gateway, 0, &format!("cold-{i}"), 2);
        assert_eq!(distinct(&servers), 1, "cold-{i}: {servers:?}");
    }
    gateway.tick_all();
    assert!(gateway.counter("requests.spread") >= 16);
}

#[test]
fn hot_keys_have_no_more_copies_than_allowed() {
    for (setting, most) in
        [("{\"max_copies\":2}", 2), ("{\"proportional\":false}", 2), ("{\"hot_keys\":false}", 1)]
    {
        let setup = Setup::servers(5).with("spread", setting);
        let mut gateway = Gateway::start(2, &setup);
        for _ in 0..5 {
            (0..50).for_each(|i| drop(gateway.request(i % 2, HOT)));
            gateway.tick_all();
        }
        // Fewer than a spill needs.
        assert_eq!(distinct(&servers_of(&mut gateway, 0, HOT, 5)), most, "{setting}");
    }
}

#[test]
fn with_one_owner_a_key_has_one_server_however_hot() {
    for strategy in ONE_OWNER {
        let mut gateway = Gateway::start(4, &Setup::servers(5).strategy(strategy));
        for round in 0..30 {
            for i in 0..100 {
                let cold = format!("cold-{}", (round * 31 + i) % 400);
                gateway.request(i % 4, if i % 3 == 0 { HOT } else { &cold });
            }
            let servers: Vec<String> =
                (0..4).flat_map(|worker| servers_of(&mut gateway, worker, HOT, 20)).collect();
            assert_eq!(distinct(&servers), 1, "{strategy}: {servers:?}");
            gateway.tick_all();
        }
    }
}

#[test]
fn pin_moves_hot_keys_off_a_full_server_and_home_when_they_cool() {
    let mut gateway = Gateway::start(2, &Setup::servers(5).strategy("pin"));
    let home = address(0);
    let hot: Vec<String> = (0..)
        .map(|i| format!("k{i}"))
        .filter(|key| gateway.request(0, key).owner() == home)
        .take(3)
        .collect();
    for round in 0..20 {
        for i in 0..90 {
            gateway.request(i % 2, &hot[i % 3]);
            gateway.request(i % 2, &format!("cold-{}", round * 90 + i));
        }
        gateway.tick_all();
    }
    let servers: Vec<String> =
        hot.iter().map(|key| gateway.request(0, key).owners[0].clone()).collect();
    assert_eq!(distinct(&servers), 3, "three keys that weigh most of the load: {servers:?}");
    gateway.tick_rounds(150);
    let homes: Vec<String> =
        hot.iter().map(|key| gateway.request(0, key).owners[0].clone()).collect();
    assert!(homes.iter().all(|server| *server == home), "{homes:?}");
}

#[test]
fn a_home_in_an_emergency_sheds_cold_keys_to_their_second_owner_alone() {
    let mut gateway = Gateway::start(1, &Setup::servers(5).with("spread", "{\"hot_keys\":false}"));
    // Rates come first: without them nobody knows what waiting costs.
    for round in 0..20 {
        (0..50).for_each(|i| drop(gateway.request(0, &format!("r{round}-{i}"))));
        gateway.tick_all();
    }
    let owners = gateway.request(0, "k").owners;
    let servers = servers_of(&mut gateway, 0, "k", 60);
    let second = servers.iter().filter(|server| **server == owners[1]).count();
    let first = servers.iter().filter(|server| **server == owners[0]).count();
    assert_eq!(first + second, 60, "{servers:?}");
    assert!(
        servers[..6].iter().all(|server| *server == owners[0]) && second > 10,
        "{first}, {second}"
    );
    gateway.tick_all();
    assert_eq!(gateway.counter("requests.spilled"), second as u64);
}

#[test]
fn a_slow_server_is_weighed_down() {
    // Like the VM on Envoy's main thread, the third sees no request.
    let mut gateway = Gateway::start(3, &Setup::servers(5));
    let slow = address(1);
    let mut waiting: Vec<(usize, usize, Stream)> = Vec::new();
    let share = |gateway: &mut Gateway| {
        (0..2000).filter(|i| gateway.request(0, &format!("s{i}")).owner() == slow).count()
    };
    let before = share(&mut gateway);
    for round in 0..300 {
        for i in 0..60 {
            let worker = i % 2;
            let stream = gateway.open(worker, &format!("key-{}", (round * 60 + i) % 5000));
            let rounds = if Routed::of(&stream).owner() == slow { 3 } else { 1 };
            waiting.push((round + rounds, worker, stream));
        }
        gateway.tick_all();
        let (over, rest) = waiting.into_iter().partition(|(until, ..)| *until <= round);
        waiting = rest;
        let over: Vec<(usize, usize, Stream)> = over;
        over.into_iter().for_each(|(_, worker, stream)| gateway.finish(worker, stream));
    }
    let after = share(&mut gateway);
    assert!(after * 10 < before * 9, "its share went from {before} to {after} of 2000 keys");
    gateway.agreed_version();
}
