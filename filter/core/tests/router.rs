//! Owners lists, one owner under all but `spread`, and the counts of what is in flight and in the bins.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod common;

use std::collections::BTreeSet;

use common::rig::Rig;
use common::{Rng, STRATEGIES, config, members, numbered, seeds};
use rudolph_core::hash::KeyHash;
use rudolph_core::hot::HotKey;
use rudolph_core::loads::LocalId;
use rudolph_core::plan::Plan;
use rudolph_core::rendezvous::{Contender, race};
use rudolph_core::router::{Outcome, Router};
use rudolph_core::servers::Address;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

#[test]
fn owners_are_distinct_and_the_chosen_comes_first() {
    for seed in seeds(40) {
        let mut rng = Rng::new(seed);
        let (servers, owners) = (rng.between(1, 12), rng.between(1, 8));
        let strategy = STRATEGIES[seed as usize % 5];
        let mut rig = Rig::new(strategy, servers, &[&format!(r#""owners": {owners}"#)]);
        for _ in 0..300 {
            let key = KeyHash((rng.next() % 40) << 40);
            let route = rig.router.route(key).unwrap();
            let list = route.owners();
            assert_eq!(list.len(), owners.min(servers), "seed {seed} {strategy}");
            let distinct: BTreeSet<&u16> = list.iter().collect();
            assert_eq!(distinct.len(), list.len(), "seed {seed} {strategy}: {list:?}");
            assert!(list.iter().all(|&owner| usize::from(owner) < servers), "seed {seed}");
            assert_eq!(rig.local(list[0]), route.server, "seed {seed}");
            assert_eq!(route.bin as usize, rig.table.bin(key), "seed {seed}");
        }
    }
}

#[test]
fn a_cold_key_has_one_server_and_its_successors_follow() {
    let mut rig = Rig::new("spread", 7, &[]);
    for _ in 0..500 {
        let (route, row) = rig.cold();
        assert_eq!(route.owners(), row);
        assert_eq!(route.outcome, Outcome::Owner);
    }
}

#[test]
fn one_owner_under_all_but_spread() {
    for strategy in ["pin", "rotation", "lpt", "static"] {
        let mut rig = Rig::new(strategy, 5, &[]);
        for number in 0..50 {
            let key = KeyHash(common::mix(number));
            let home = rig.table.home(rig.table.bin(key)).0;
            for _ in 0..100 {
                let route = rig.router.route(key).unwrap();
                assert_eq!(
                    (route.owners()[0], route.outcome),
                    (home, Outcome::Owner),
                    "{strategy}"
                );
            }
        }
    }
}

#[test]
fn a_pin_decides_and_home_is_the_next_to_try() {
    let key = KeyHash(11);
    for value in 0..5 {
        let named = |plan: &mut Plan| plan.hot = vec![HotKey { key, value }];
        let mut rig = Rig::with("pin", &members(5), &[], named);
        let home = rig.table.home(rig.table.bin(key)).0;
        let route = rig.router.route(key).unwrap();
        assert_eq!(route.owners()[0], value);
        assert!(home == value || route.owners()[1] == home);
        let (cold, row) = rig.cold();
        assert_eq!(cold.owners(), row);
    }
}

#[test]
fn without_plan_or_server_the_fallback_routes() {
    let config = config("spread", &members(3), &[]);
    let mut router = Router::new(config);
    assert_eq!(router.route(KeyHash(1)).unwrap_err(), Outcome::NoPlan);
    let mut rig = Rig::new("spread", 3, &[]);
    let held = rig.router.route(KeyHash(1)).unwrap();
    for strategy in STRATEGIES {
        let mut rig = Rig::new(strategy, 3, &[]);
        rig.adopt(&members(0));
        assert_eq!(rig.router.route(KeyHash(1)).unwrap_err(), Outcome::NoServer, "{strategy}");
        rig.adopt(&members(2));
        assert!(rig.router.route(KeyHash(1)).is_ok(), "{strategy}");
    }
    rig.adopt(&members(0));
    rig.router.finish(held.server);
    rig.router.unrouted(Outcome::NoKey);
    assert_eq!(rig.router.outcomes(), [1, 0, 0, 1, 0, 0]);
}

#[test]
fn owners_as_envoy_reads_them() {
    let mut rig = Rig::new("static", 3, &[]);
    let mut out = b"old".to_vec();
    let route = rig.router.route(KeyHash(0)).unwrap();
    rig.router.write_owners(&route, &mut out);
    assert_eq!(out, b"10.1.100.100:80,10.1.100.101:80,10.1.100.102:80");
}

/// The addresses in a list as Envoy reads it.
fn listed(out: &[u8]) -> Vec<Address> {
    let text = std::str::from_utf8(out).unwrap();
    text.split(',').map(|address| Address::parse(address).unwrap()).collect()
}

#[test]
fn replicas_are_the_first_servers_of_the_keys_order_whatever_was_chosen() {
    for (seed, strategy) in seeds(40).zip(["spread", "pin"].into_iter().cycle()) {
        let mut rng = Rng::new(seed);
        let (servers, count) = (rng.between(1, 12), rng.between(1, 8));
        let replicas = format!(r#""replicas": {{"count": {count}}}, "owners": 3"#);
        let pinned = KeyHash(rng.next());
        let named = |plan: &mut Plan| {
            plan.hot = vec![HotKey { key: pinned, value: (servers - 1) as u16 }];
        };
        let members = members(servers);
        let mut rig = Rig::with(strategy, &members, &[&replicas], named);
        let hot = rig.hot();
        let mut chosen_by_load = 0;
        for key in [pinned, hot, KeyHash(rng.next()), KeyHash(rng.next())] {
            for _ in 0..30 {
                let route = rig.router.route(key).unwrap();
                let order = rig.order(key, count.min(servers));
                let mut out = b"old".to_vec();
                rig.router.write_replicas(&route, count, &mut out);
                let order: Vec<Address> = order
                    .iter()
                    .map(|server| members.servers()[usize::from(*server)].address.clone())
                    .collect();
                assert_eq!(listed(&out), order, "seed {seed} {strategy}");
                let chosen = &members.servers()[usize::from(route.owners()[0])].address;
                chosen_by_load += u32::from(*chosen != order[0]);
            }
        }
        assert!(servers == 1 || chosen_by_load > 0 || strategy == "pin", "seed {seed}");
    }
}

/// Servers that store may find the same order by the race alone, each with the width that it needs.
#[test]
fn replicas_do_not_depend_on_the_length_of_the_owners_list() {
    let contenders: Vec<Contender> =
        members(9).servers().iter().map(|s| Contender::new(&s.address, 1.0)).collect();
    let (widest, width) = race(&contenders, 8);
    for narrow in 1..8 {
        let (rows, _) = race(&contenders, narrow);
        let same = rows.chunks(narrow).zip(widest.chunks(width)).all(|(a, b)| *a == b[..narrow]);
        assert!(same, "{narrow}");
    }
}

#[test]
fn bins_are_counted_and_closed() {
    for strategy in ["rotation", "lpt"] {
        let mut rig = Rig::new(strategy, 4, &[]);
        let mut expected = vec![0; rig.table.bins()];
        for _ in 0..1_000 {
            let (route, _) = rig.cold();
            expected[route.bin as usize] += 1;
        }
        assert_eq!(rig.router.close_bins(), expected, "{strategy}");
        assert_eq!(rig.router.close_bins(), vec![0; expected.len()], "{strategy}");
    }
}

/// Requests begin and end while members come and go; a map of addresses counts beside the router.
#[test]
fn in_flight_counts_survive_members_that_come_and_go() {
    for seed in seeds(30) {
        let mut rng = Rng::new(seed);
        let strategy = ["rotation", "static", "lpt"][seed as usize % 3];
        let mut rig = Rig::new(strategy, 6, &[]);
        let mut present = members(6);
        let mut held: Vec<(LocalId, Address)> = Vec::new();
        for _ in 0..600 {
            match rng.below(20) {
                0 => {
                    let chosen: Vec<(usize, u32)> =
                        (0..9).filter(|_| rng.chance(0.6)).map(|number| (number, 1)).collect();
                    present = numbered(chosen);
                    rig.adopt(&present);
                }
                1..=11 => {
                    if let Ok(route) = rig.router.route(KeyHash(rng.next())) {
                        let server = usize::from(route.owners()[0]);
                        held.push((route.server, present.servers()[server].address.clone()));
                    }
                }
                _ if !held.is_empty() => {
                    let (server, _) = held.swap_remove(rng.below(held.len()));
                    rig.router.finish(server);
                }
                _ => {}
            }
            for (index, server) in present.servers().iter().enumerate() {
                let exact = held.iter().filter(|(_, address)| *address == server.address).count();
                assert_eq!(rig.in_flight(index as u16) as usize, exact, "seed {seed}");
            }
        }
        for (server, _) in held.drain(..) {
            rig.router.finish(server);
        }
        for server in 0..present.len() as u16 {
            assert_eq!(rig.in_flight(server), 0, "seed {seed}");
        }
    }
}

#[test]
fn an_extra_finish_does_not_go_below_zero() {
    let mut rig = Rig::new("spread", 2, &[]);
    let route = rig.router.route(KeyHash(1)).unwrap();
    rig.router.finish(route.server);
    rig.router.finish(route.server);
    assert_eq!(rig.in_flight(route.owners()[0]), 0);
}

#[test]
fn decay_halves_in_half_a_second_whatever_the_ticks() {
    for tick in [10, 37, 100, 250, 500] {
        let mut rig = Rig::new("spread", 2, &[]);
        rig.router.decay(50_000);
        (0..64).for_each(|_| drop(rig.cold()));
        (1..)
            .map(|n| n * tick)
            .take_while(|at| *at <= 500)
            .for_each(|at| rig.router.decay(50_000 + at));
        rig.router.decay(50_500);
        assert!((rig.router.sketch().total() - 32.0).abs() < 0.1, "tick {tick}");
    }
}

#[test]
fn decay_survives_clock_jumps() {
    let mut rig = Rig::new("spread", 2, &[]);
    rig.router.decay(1_000_000);
    (0..64).for_each(|_| drop(rig.cold()));
    rig.router.decay(5);
    assert!((rig.router.sketch().total() - 64.0).abs() < 0.1, "backwards nothing decays");
    rig.router.decay(505);
    assert!((rig.router.sketch().total() - 32.0).abs() < 0.1, "and it goes on from there");
    rig.router.decay(u64::MAX);
    assert!(rig.router.sketch().total() < 0.1, "forwards all is forgotten, at once");
    rig.router.decay(u64::MAX);
    rig.router.decay(0);
}
