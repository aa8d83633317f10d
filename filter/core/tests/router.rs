//! The choice of a server for each request, and the counts of what is in flight.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use common::{Rng, STRATEGIES, config, first_plan, members, numbered, seeds, table};
use rudolph_core::config::Config;
use rudolph_core::hash::KeyHash;
use rudolph_core::hot::HotKey;
use rudolph_core::loads::LocalId;
use rudolph_core::plan::Plan;
use rudolph_core::router::{Outcome, Route, Router};
use rudolph_core::servers::{Address, Members};
use rudolph_core::table::Table;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

struct Rig {
    config: Arc<Config>,
    table: Arc<Table>,
    router: Router,
    rng: Rng,
}

fn spread(fields: &str) -> String {
    format!(r#""spread": {{{fields}}}"#)
}

impl Rig {
    fn new(strategy: &str, servers: usize, more: &[&str]) -> Self {
        Self::with(strategy, &members(servers), more, |_| {})
    }

    fn with(strategy: &str, members: &Members, more: &[&str], change: impl Fn(&mut Plan)) -> Self {
        let config = config(strategy, members, more);
        let mut plan = first_plan(&config, members);
        change(&mut plan);
        let table = table(&config, &plan);
        let mut router = Router::new(config.clone());
        router.adopt(Arc::new(plan), table.clone());
        Self { config, table, router, rng: Rng::new(1) }
    }

    fn adopt(&mut self, members: &Members) {
        let plan = first_plan(&self.config, members);
        self.table = table(&self.config, &plan);
        self.router.adopt(Arc::new(plan), self.table.clone());
    }

    fn local(&self, server: u16) -> LocalId {
        self.router.local()[usize::from(server)]
    }

    fn in_flight(&mut self, server: u16) -> u32 {
        let local = self.local(server);
        self.router.loads_mut().in_flight(local)
    }

    fn set_in_flight(&mut self, server: u16, count: u32) {
        let local = self.local(server);
        while self.in_flight(server) < count {
            self.router.loads_mut().begin(local);
        }
        while self.in_flight(server) > count {
            self.router.loads_mut().finish(local);
        }
    }

    fn clear(&mut self) {
        (0..self.table.servers() as u16).for_each(|server| self.set_in_flight(server, 0));
    }

    /// Routes a new key each time, so that none is hot.
    fn cold(&mut self) -> (Route, Vec<u16>) {
        let key = KeyHash(self.rng.next());
        let row = self.table.row(self.table.bin(key)).to_vec();
        (self.router.route(key).unwrap(), row)
    }

    /// A key that this worker has made hot.
    fn hot(&mut self) -> KeyHash {
        let key = KeyHash(self.rng.next());
        for _ in 0..20 {
            let route = self.router.route(key).unwrap();
            self.router.finish(route.server);
        }
        key
    }

    /// Every server completes so many requests each 100 ms, for long.
    fn complete(&mut self, each: u32, from_ms: u64) {
        for step in 0..60 {
            self.router.decay(from_ms + step * 100);
            for local in self.router.local().to_vec() {
                for _ in 0..each {
                    self.router.loads_mut().begin(local);
                    self.router.loads_mut().finish(local);
                }
            }
        }
        self.router.decay(from_ms + 6_000);
    }

    fn order(&self, key: KeyHash, count: usize) -> Vec<u16> {
        let mut order = self.table.order_of_key(key, count);
        order.truncate(count);
        order
    }
}

#[test]
fn owners_are_distinct_and_the_chosen_comes_first() {
    for seed in seeds(40) {
        let mut rng = Rng::new(seed);
        let (servers, owners) = (rng.between(1, 12), rng.between(1, 8));
        let strategy = STRATEGIES[seed as usize % 5];
        let mut rig = Rig::new(strategy, servers, &[&format!(r#""owners": {owners}"#)]);
        for _ in 0..300 {
            let key = KeyHash(rng.next() % 40 << 40);
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
fn a_hot_key_goes_to_the_least_in_flight_of_its_servers_and_ties_to_the_earlier() {
    for copies in [2, 3, 4, 9, 20] {
        let mut rig = Rig::new("spread", 20, &[&spread(&format!(r#""max_copies": {copies}"#))]);
        let key = rig.hot();
        let order = rig.order(key, copies);
        for seed in seeds(100) {
            let mut rng = Rng::new(seed);
            for server in 0..20 {
                rig.set_in_flight(server, rng.below(3) as u32);
            }
            let mut expected = order[0];
            for &server in &order {
                if rig.in_flight(server) < rig.in_flight(expected) {
                    expected = server;
                }
            }
            let route = rig.router.route(key).unwrap();
            assert_eq!(route.owners()[0], expected, "seed {seed} copies {copies}");
            let outcome = if expected == order[0] { Outcome::Owner } else { Outcome::Spread };
            assert_eq!(route.outcome, outcome, "seed {seed} copies {copies}");
        }
    }
}

#[test]
fn a_key_is_hot_from_its_fourth_request_and_cools_again() {
    let mut rig = Rig::new("spread", 5, &[]);
    rig.router.decay(1_000);
    let key = KeyHash(77);
    let outcomes: Vec<Outcome> = (0..5).map(|_| rig.router.route(key).unwrap().outcome).collect();
    use Outcome::{Owner, Spread};
    assert_eq!(outcomes, [Owner, Owner, Owner, Spread, Spread]);
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
