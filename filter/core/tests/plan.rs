//! Every plan covers every bin with a usable server, whatever was counted and whoever the members are.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod common;

use std::collections::BTreeSet;

use common::{Rng, STRATEGIES, config, make_plan, members, numbered, request, seeds, table};
use rudolph_core::config::Config;
use rudolph_core::hash::KeyHash;
use rudolph_core::hot::{HotKey, MAX_HOT_KEYS};
use rudolph_core::plan::{LEARNED_LEAST, LEARNED_ONE, Placement, Plan, PlanFault};
use rudolph_core::planner::merge::{Contribution, merge};
use rudolph_core::servers::{Address, Members, Server};
use rudolph_core::sketch::Tracked;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn some_members(rng: &mut Rng) -> Members {
    let most = [3, 12, 40][rng.below(3)];
    let chosen: Vec<(usize, u32)> = (0..most)
        .map(|number| (number, [1, 1, 2, 9, 1_000, 0, 0][rng.below(7)]))
        .filter(|(_, weight)| *weight > 0)
        .collect();
    numbered(chosen)
}

/// What a worker may have published, of these members or by its length of others.
fn contribution(rng: &mut Rng, members: &Members, bins: usize, epoch: u64) -> Contribution {
    let servers = members.len();
    let mut loads =
        |most: usize| -> Vec<f32> { (0..servers).map(|_| rng.below(most) as f32 / 3.0).collect() };
    let (sent, homes, in_flight) = (loads(500), loads(500), loads(30));
    let tracked = |rng: &mut Rng| Tracked {
        key: KeyHash(rng.below(900) as u64 * 77),
        count: rng.below(1_000) as f32,
        error: 0.0,
    };
    Contribution {
        members_digest: if rng.chance(0.9) { members.digest() } else { 1 },
        sent,
        homes,
        in_flight,
        total: rng.below(2_000) as f32,
        keys: (0..rng.below(512)).map(|_| tracked(rng)).collect(),
        closed_epoch: epoch.saturating_sub(1 + u64::from(rng.chance(0.1))),
        bins: (0..bins).map(|_| rng.below(9) as u32 * rng.below(9) as u32).collect(),
    }
}

fn check(plan: &Plan, config: &Config, context: &str) {
    assert_eq!(plan.check(config), Ok(()), "{context}");
    let servers = plan.members.len();
    if servers == 0 {
        return;
    }
    let table = table(config, plan);
    assert!(table.bins() >= servers, "{context}");
    let mut owning = vec![false; servers];
    for bin in 0..table.bins() {
        assert!(table.home(bin).index() < servers, "{context} bin {bin}");
        owning[table.home(bin).index()] = true;
    }
    let dealt = matches!(plan.placement, Placement::Dealt { .. });
    assert!(dealt || owning.iter().all(|owns| *owns), "{context}: somebody owns nothing");
    for bin in (0..table.bins()).step_by(1 + table.bins() / 500) {
        let list: BTreeSet<u16> =
            (0..servers.min(4)).map(|place| table.owner(bin, place)).collect();
        assert_eq!(list.len(), servers.min(4), "{context} bin {bin}: distinct");
        assert!(list.iter().all(|&owner| usize::from(owner) < servers), "{context} bin {bin}");
    }
}

#[test]
fn every_plan_covers_every_bin() {
    for seed in seeds(40) {
        let mut rng = Rng::new(seed);
        let strategy = STRATEGIES[seed as usize % 5];
        let candidates = rng.between(1, 64);
        let more = format!(r#""owners": 4, "rotation": {{"candidates": {candidates}}}"#);
        let config = config(strategy, &members(1), &[&more]);
        let mut previous: Option<Plan> = None;
        for step in 0..4 {
            let members = some_members(&mut rng);
            let epoch = previous.as_ref().map_or(1, |plan| plan.epoch + 1);
            let bins = candidates * members.len();
            let workers: Vec<Contribution> =
                (0..rng.below(5)).map(|_| contribution(&mut rng, &members, bins, epoch)).collect();
            let loads = merge(&config, &members, epoch, &workers);
            let request = request(&config, &members, previous.as_ref(), &loads);
            let plan = make_plan(&request);
            let context = format!("seed {seed} step {step} {strategy} n={}", members.len());
            check(&plan, &config, &context);
            assert_eq!(plan.members, members, "{context}");
            assert_eq!(plan, make_plan(&request), "{context}: equal inputs, equal plans");
            previous = Some(plan);
        }
    }
}

#[test]
fn what_was_learnt_of_a_server_stays_with_it() {
    let before = numbered([(0, 1), (1, 1), (2, 1)]);
    let config = config("spread", &before, &[]);
    let mut previous = common::first_plan(&config, &before);
    previous.learned = vec![LEARNED_ONE, 1_000, 2_000];
    let after = numbered([(1, 1), (2, 1), (5, 1)]);
    let loads = merge(&config, &after, 2, &[]);
    let plan = make_plan(&request(&config, &after, Some(&previous), &loads));
    assert_eq!(plan.learned, [1_000, 2_000, LEARNED_ONE]);
}

#[test]
fn each_broken_guarantee_is_named() {
    let five = members(5);
    let fault = |strategy: &str, change: &dyn Fn(&mut Plan)| {
        let config = config(strategy, &five, &[r#""rotation": {"candidates": 4}"#]);
        let mut plan = common::first_plan(&config, &five);
        assert_eq!(plan.check(&config), Ok(()), "{strategy}");
        change(&mut plan);
        plan.check(&config).unwrap_err()
    };
    let hot = |number, value| HotKey { key: KeyHash(number), value };
    let dealt = |owners: Vec<u16>| {
        move |plan: &mut Plan| {
            plan.placement = Placement::Dealt { owners: owners.clone() };
        }
    };
    let turned = |rotation| move |plan: &mut Plan| plan.placement = Placement::Turned { rotation };
    assert_eq!(fault("spread", &|p| p.learned.truncate(4)), PlanFault::LearnedLength(4));
    assert_eq!(fault("spread", &|p| p.learned[0] = LEARNED_LEAST - 1), PlanFault::LearnedValue);
    assert_eq!(fault("spread", &|p| p.learned[0] = LEARNED_ONE + 1), PlanFault::LearnedValue);
    assert_eq!(fault("spread", &turned(0)), PlanFault::Placement);
    assert_eq!(fault("rotation", &|p| p.placement = Placement::Rendezvous), PlanFault::Placement);
    assert_eq!(fault("rotation", &turned(20)), PlanFault::Rotation(20));
    assert_eq!(fault("static", &turned(1)), PlanFault::Rotation(1));
    assert_eq!(fault("lpt", &dealt(vec![0; 19])), PlanFault::Bins(19));
    assert_eq!(fault("lpt", &dealt(vec![5; 20])), PlanFault::Owner(5));
    assert_eq!(fault("spread", &|p| p.hot = vec![hot(2, 1), hot(1, 1)]), PlanFault::HotOrder);
    assert_eq!(fault("spread", &|p| p.hot = vec![hot(1, 1), hot(1, 1)]), PlanFault::HotOrder);
    assert_eq!(fault("spread", &|p| p.hot = vec![hot(1, 0)]), PlanFault::HotValue(0));
    assert_eq!(fault("spread", &|p| p.hot = vec![hot(1, 6)]), PlanFault::HotValue(6));
    assert_eq!(fault("pin", &|p| p.hot = vec![hot(1, 5)]), PlanFault::HotValue(5));
    assert_eq!(fault("static", &|p| p.hot = vec![hot(1, 1)]), PlanFault::HotValue(1));
    let many = MAX_HOT_KEYS + 1;
    let too_many = |p: &mut Plan| p.hot = (0..many as u64).map(|n| hot(n, 1)).collect();
    assert_eq!(fault("spread", &too_many), PlanFault::HotKeys(many));
}

#[test]
fn members_are_ordered_unique_and_told_apart() {
    let server = |text: &str, weight| Server { address: Address::parse(text).unwrap(), weight };
    let one =
        Members::new(vec![server("1.1.1.1:2", 1), server("1.1.1.1:1", 5), server("1.1.1.1:2", 9)]);
    let other = Members::new(vec![server("1.1.1.1:1", 5), server("1.1.1.1:2", 1)]);
    assert_eq!(one, other, "in order, and of two with one address the first");
    assert_eq!(one.digest(), other.digest());
    let heavier = Members::new(vec![server("1.1.1.1:1", 5), server("1.1.1.1:2", 2)]);
    assert_ne!(one.digest(), heavier.digest());
    for (index, server) in one.servers().iter().enumerate() {
        assert_eq!(one.find(&server.address).map(|id| id.index()), Some(index));
    }
    assert_eq!(one.find(&Address::parse("1.1.1.1:3").unwrap()), None);
}
