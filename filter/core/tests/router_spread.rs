//! `spread` on a request's way: hot keys on several servers, spills, and each switch.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::rig::{Rig, spread};
use common::{Rng, members, seeds};
use rudolph_core::hash::KeyHash;
use rudolph_core::hot::HotKey;
use rudolph_core::plan::Plan;
use rudolph_core::router::Outcome;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

#[test]
fn a_hot_key_goes_to_a_server_of_its_own_that_has_the_least_in_flight() {
    for copies in [2, 3, 4, 9, 20] {
        let mut rig = Rig::new("spread", 20, &[&spread(&format!(r#""max_copies": {copies}"#))]);
        let key = rig.hot();
        let order = rig.order(key, copies);
        for seed in seeds(100) {
            let mut rng = Rng::new(seed);
            for server in 0..20 {
                rig.set_in_flight(server, rng.below(3) as u32);
            }
            let least = order.iter().map(|&server| rig.in_flight(server)).min();
            let route = rig.router.route(key).unwrap();
            let chosen = route.owners()[0];
            assert!(order.contains(&chosen), "seed {seed} copies {copies}");
            // The count includes this very request by now.
            assert_eq!(Some(rig.in_flight(chosen) - 1), least, "seed {seed} copies {copies}");
            let outcome = if chosen == order[0] { Outcome::Owner } else { Outcome::Spread };
            assert_eq!(route.outcome, outcome, "seed {seed} copies {copies}");
        }
    }
}

#[test]
fn servers_with_equally_many_in_flight_share_a_hot_key_evenly() {
    for copies in [2, 3, 5, 20] {
        let mut rig = Rig::new("spread", 20, &[&spread(&format!(r#""max_copies": {copies}"#))]);
        let key = rig.hot();
        let mut met = BTreeMap::new();
        for _ in 0..100 * copies {
            rig.clear();
            *met.entry(rig.router.route(key).unwrap().owners()[0]).or_insert(0) += 1;
        }
        assert_eq!(met.len(), copies);
        assert!(met.values().all(|times| (90..=110).contains(times)), "{copies}: {met:?}");
    }
}

#[test]
fn a_key_is_hot_from_its_sixth_request_and_cools_again() {
    let mut rig = Rig::new("spread", 5, &[]);
    rig.router.decay(1_000);
    let key = KeyHash(77);
    let outcomes: Vec<Outcome> = (0..7).map(|_| rig.router.route(key).unwrap().outcome).collect();
    use Outcome::{Owner, Spread};
    assert_eq!(outcomes, [Owner, Owner, Owner, Owner, Owner, Spread, Spread]);
    rig.router.decay(4_000);
    assert_eq!(rig.router.route(key).unwrap().outcome, Owner, "three seconds later");
}

#[test]
fn a_spill_needs_both_the_gap_and_the_wait() {
    // Rates of 100 and 1,000 a second; a spill must save over 16 ms.
    for (each, gap, spills) in
        [(10, 5, false), (10, 6, true), (100, 6, false), (100, 15, false), (100, 18, true)]
    {
        let mut rig = Rig::new("spread", 4, &[]);
        rig.complete(each, 1_000);
        let key = KeyHash(rig.rng.next());
        let row = rig.table.row(rig.table.bin(key)).to_vec();
        rig.set_in_flight(row[0], gap + 2);
        rig.set_in_flight(row[1], 2);
        let route = rig.router.route(key).unwrap();
        let expected = if spills { (row[1], Outcome::Spilled) } else { (row[0], Outcome::Owner) };
        assert_eq!((route.owners()[0], route.outcome), expected, "{each} {gap}");
        if spills {
            assert_eq!(route.owners(), [row[1], row[0], row[2]], "home is the next to try");
        }
    }
}

#[test]
fn a_spill_must_save_more_where_all_requests_take_long() {
    // 10 in flight and 100 a second at each of four servers: a request takes 100 ms, and a spill must save over 400.
    for (gap, spills) in [(39, false), (42, true)] {
        let mut rig = Rig::new("spread", 4, &[]);
        (0..4).for_each(|server| rig.set_in_flight(server, 10));
        rig.complete(10, 1_000);
        let key = KeyHash(rig.rng.next());
        let home = rig.table.row(rig.table.bin(key))[0];
        rig.set_in_flight(home, 10 + gap);
        let outcome = rig.router.route(key).unwrap().outcome;
        assert_eq!(outcome, if spills { Outcome::Spilled } else { Outcome::Owner }, "{gap}");
    }
}

#[test]
fn nobody_spills_without_rates_or_neighbours_or_when_told_not_to() {
    let mut fresh = Rig::new("spread", 4, &[]);
    let mut alone = Rig::new("spread", 1, &[]);
    let mut told = Rig::new("spread", 4, &[&spread(r#""spill": false"#)]);
    alone.complete(10, 1_000);
    told.complete(10, 1_000);
    for rig in [&mut fresh, &mut alone, &mut told] {
        let key = KeyHash(9);
        let home = rig.table.row(rig.table.bin(key))[0];
        rig.set_in_flight(home, 1_000);
        assert_eq!(rig.router.route(key).unwrap().outcome, Outcome::Owner);
    }
}

/// The servers that a hot key meets in 60 requests, each with how often.
fn met(more: &str) -> BTreeMap<u16, usize> {
    let mut rig = Rig::new("spread", 6, &[&spread(more)]);
    let key = rig.hot();
    let mut met = BTreeMap::new();
    for _ in 0..60 {
        *met.entry(rig.router.route(key).unwrap().owners()[0]).or_default() += 1;
    }
    rig.clear();
    met
}

#[test]
fn each_switch_does_what_it_says() {
    assert_eq!(met("").into_values().collect::<Vec<_>>(), [10; 6]);
    assert_eq!(met(r#""hot_keys": false"#).len(), 1);
    assert_eq!(met(r#""online": false"#).len(), 1, "no plan names the key");
    assert_eq!(met(r#""proportional": false"#).len(), 2);
    assert_eq!(met(r#""max_copies": 4"#).len(), 4);
    let in_turn = met(r#""least_in_flight": false"#);
    assert_eq!(in_turn.into_values().collect::<Vec<_>>(), [10; 6]);
}

#[test]
fn in_turn_does_not_look_at_loads() {
    let more = spread(r#""least_in_flight": false, "proportional": false"#);
    let mut rig = Rig::new("spread", 6, &[&more]);
    let key = rig.hot();
    let order = rig.order(key, 2);
    rig.set_in_flight(order[1], 500);
    let mut met = [0; 2];
    for _ in 0..20 {
        let route = rig.router.route(key).unwrap();
        met[order.iter().position(|&server| server == route.owners()[0]).unwrap()] += 1;
    }
    assert_eq!(met, [10, 10]);
}

#[test]
fn the_plan_s_hot_keys_hold_with_online_off_and_hot_keys_off_beats_them() {
    let key = KeyHash(5);
    let named = |plan: &mut Plan| plan.hot = vec![HotKey { key, value: 4 }];
    let first = |more: &str| {
        let mut rig = Rig::with("spread", &members(6), &[&spread(more)], named);
        let order = rig.order(key, 4);
        rig.set_in_flight(order[0], 3);
        rig.set_in_flight(order[1], 2);
        rig.set_in_flight(order[2], 1);
        let chosen = rig.router.route(key).unwrap().owners()[0];
        order.iter().position(|&server| server == chosen)
    };
    assert_eq!(first(r#""online": false"#), Some(3));
    assert_eq!(first(""), Some(3));
    assert_eq!(first(r#""hot_keys": false"#), Some(0));
}

#[test]
fn a_hot_key_follows_the_members() {
    let mut rig = Rig::new("spread", 12, &[]);
    let key = KeyHash(3);
    for servers in [12, 5, 9, 2, 1, 12] {
        rig.adopt(&members(servers));
        let met: BTreeSet<u16> =
            (0..100).map(|_| rig.router.route(key).unwrap().owners()[0]).collect();
        assert!(met.iter().all(|&server| usize::from(server) < servers), "{servers}: {met:?}");
        assert_eq!(met.len(), servers);
        rig.clear();
    }
}
