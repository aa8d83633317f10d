//! Workers that share nothing but the store follow one plan. The watch looks at the shared plans after every
//! callback: never two of one version, never one that goes back.

use std::collections::BTreeSet;

use rudolph_core::plan::Placement;

use crate::common::gateway::TICK_MS;
use crate::common::{Gateway, ONE_OWNER, Random, STRATEGIES, Setup};

/// Skewed load, spread over the workers by chance.
fn load(gateway: &mut Gateway, random: &Random, requests: usize) {
    for _ in 0..requests {
        let worker = random.below(gateway.workers.len());
        gateway.request(worker, &random.key(500));
    }
}

/// A round of ticks; a plan that held when it began is followed by all when it ends.
fn round(gateway: &mut Gateway) {
    let now_ms = gateway.now_ms();
    let due = gateway.shared().plan().filter(|plan| plan.activate_at_ms <= now_ms);
    gateway.tick_all();
    let due = due.map_or(0, |plan| plan.version);
    let published = gateway.shared().plan().map_or(0, |plan| plan.version);
    for (worker, version) in gateway.versions().into_iter().enumerate() {
        assert!(
            (due..=published).contains(&version),
            "worker {worker} follows {version}: {due} was due and {published} published"
        );
    }
}

fn all_agree(strategy: &str, workers: usize) {
    let random = Random::of(0xa9_0000 + workers as u64);
    let mut gateway = Gateway::cold(workers, &Setup::servers(5).strategy(strategy));
    for _ in 0..5 {
        round(&mut gateway);
    }
    let first = gateway.agreed_version();
    for _ in 0..200 {
        load(&mut gateway, &random, 60);
        round(&mut gateway);
    }
    // Without load the sketches decay until there is nothing left to plan.
    gateway.tick_rounds(100);
    let last = gateway.agreed_version();
    assert!(strategy == "static" || last > first, "{strategy}: nothing was planned");
    assert_eq!(gateway.gauge("workers"), Some(workers as u64), "{strategy}");
    assert_eq!(gateway.gauge("plan_version"), Some(last), "{strategy}");
    assert_eq!(gateway.shared().slots().len(), workers, "{strategy}");
    assert_eq!(gateway.counter("shared_data.refused"), 0);
    assert_eq!(gateway.counter("plans_refused"), 0);
}

#[test]
fn one_worker_agrees_with_itself() {
    STRATEGIES.iter().for_each(|strategy| all_agree(strategy, 1));
}

#[test]
fn two_workers_agree() {
    STRATEGIES.iter().for_each(|strategy| all_agree(strategy, 2));
}

#[test]
fn eight_workers_agree() {
    STRATEGIES.iter().for_each(|strategy| all_agree(strategy, 8));
}

#[test]
fn thirty_two_workers_agree() {
    STRATEGIES.iter().for_each(|strategy| all_agree(strategy, 32));
}

#[test]
fn with_one_owner_a_key_all_workers_switch_at_one_moment() {
    let workers = 4;
    for strategy in ONE_OWNER {
        let random = Random::of(0x5117c4);
        let mut gateway = Gateway::start(workers, &Setup::servers(5).strategy(strategy));
        let mut versions = BTreeSet::new();
        for _ in 0..100 {
            load(&mut gateway, &random, 60);
            for worker in 0..workers {
                gateway.advance_ms(TICK_MS / workers as u64);
                gateway.tick(worker);
                versions.insert(gateway.agreed_version());
                for key in ["key-1", "key-2", "key-3", "key-200"] {
                    let routed: Vec<_> = (0..workers).map(|w| gateway.request(w, key)).collect();
                    let same = routed.iter().all(|other| other.owners == routed[0].owners);
                    assert!(same, "{strategy}, {key}: {routed:?}");
                }
            }
        }
        assert!(strategy == "static" || versions.len() > 3, "{strategy}: {versions:?}");
    }
}

#[test]
fn rotation_turns_under_a_skewed_load_and_static_does_not() {
    for (strategy, turns) in [("rotation", true), ("static", false)] {
        let random = Random::of(0x707);
        let mut gateway = Gateway::start(2, &Setup::servers(5).strategy(strategy));
        let mut rotations = BTreeSet::new();
        for _ in 0..100 {
            load(&mut gateway, &random, 60);
            gateway.tick_all();
            if let Some(Placement::Turned { rotation }) =
                gateway.shared().plan().map(|plan| plan.placement)
            {
                rotations.insert(rotation);
            }
        }
        assert_eq!(rotations.len() > 1, turns, "{strategy}: {rotations:?}");
    }
}

#[test]
fn lpt_deals_a_hot_bin_a_server_of_its_own() {
    let random = Random::of(0x197);
    let mut gateway = Gateway::start(2, &Setup::servers(5).strategy("lpt"));
    for _ in 0..30 {
        for _ in 0..60 {
            gateway.request(random.below(2), "hot");
        }
        load(&mut gateway, &random, 60);
        gateway.tick_all();
    }
    gateway.tick_rounds(5);
    let hot = gateway.request(0, "hot").owners[0].clone();
    let beside =
        (0..500).filter(|i| gateway.request(0, &format!("key-{i}")).owner() == hot).count();
    assert!(
        beside < 60,
        "{beside} of 500 keys share the server of a key with half of all requests"
    );
}

#[test]
fn an_idle_gateway_publishes_nothing() {
    for strategy in STRATEGIES {
        for setup in [Setup::servers(5), Setup::admin()] {
            let mut gateway = Gateway::start(3, &setup.strategy(strategy));
            gateway.tick_rounds(20);
            let before = gateway.shared().plan().unwrap().version;
            gateway.tick_rounds(100);
            assert_eq!(gateway.shared().plan().unwrap().version, before, "{strategy}");
        }
    }
}
