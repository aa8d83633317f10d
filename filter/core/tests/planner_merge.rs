//! Merging what the workers counted.

mod common;

use common::{config, members, seeds};
use rudolph_core::hash::KeyHash;
use rudolph_core::planner::merge::{Contribution, LoadMap, MergedKey, merge};
use rudolph_core::sketch::Tracked;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const SERVERS: usize = 3;
const EPOCH: u64 = 9;

fn merged(contributions: &[Contribution]) -> LoadMap {
    let members = members(SERVERS);
    let config = config("rotation", &members, &[r#""rotation": {"candidates": 2}"#]);
    merge(&config, &members, EPOCH, contributions)
}

fn contribution() -> Contribution {
    Contribution {
        members_digest: members(SERVERS).digest(),
        sent: vec![1.0, 2.0, 3.0],
        homes: vec![2.0, 2.0, 2.0],
        in_flight: vec![0.5, 1.0, 1.5],
        total: 6.0,
        keys: vec![tracked(7, 4.0, 1.0), tracked(8, 2.0, 0.0)],
        closed_epoch: EPOCH - 1,
        bins: vec![1, 2, 3, 4, 5, 6],
    }
}

fn tracked(key: u64, count: f32, error: f32) -> Tracked {
    Tracked { key: KeyHash(key), count, error }
}

#[test]
fn workers_add_up() {
    let map = merged(&[contribution(), contribution()]);
    assert_eq!(map.sent, [2.0, 4.0, 6.0]);
    assert_eq!(map.homes, [4.0, 4.0, 4.0]);
    assert_eq!(map.in_flight, [1.0, 2.0, 3.0]);
    assert_eq!(map.bins, [2, 4, 6, 8, 10, 12]);
    assert!((map.total - 12.0).abs() < 1e-6);
    let key = |number, count, guaranteed| MergedKey { key: KeyHash(number), count, guaranteed };
    assert_eq!(map.keys, [key(7, 8.0, 6.0), key(8, 4.0, 4.0)]);
}

#[test]
fn nobody_is_nothing() {
    let map = merged(&[]);
    assert_eq!((map.sent, map.bins), (vec![0.0; 3], vec![0; 6]));
    assert!(map.keys.is_empty() && map.in_flight.is_empty());
}

#[test]
fn what_speaks_of_other_members_counts_only_its_keys() {
    let mut other = contribution();
    other.members_digest += 1;
    let map = merged(&[contribution(), other]);
    assert_eq!(map.sent, [1.0, 2.0, 3.0]);
    assert_eq!(map.homes, [2.0, 2.0, 2.0]);
    assert_eq!(map.bins, [1, 2, 3, 4, 5, 6]);
    assert!(map.in_flight.is_empty(), "not every worker can tell");
    assert!((map.total - 12.0).abs() < 1e-6, "keys are keys whoever the members are");
    assert!((map.keys[0].count - 8.0).abs() < 1e-6);
}

#[test]
fn bins_of_another_epoch_or_number_are_left_out() {
    for change in [
        |it: &mut Contribution| it.closed_epoch -= 1,
        |it: &mut Contribution| it.closed_epoch += 1,
        |it: &mut Contribution| it.bins = vec![9; 5],
        |it: &mut Contribution| it.bins = vec![9; 7],
        |it: &mut Contribution| it.bins = Vec::new(),
    ] {
        let mut other = contribution();
        change(&mut other);
        let map = merged(&[other, contribution()]);
        assert_eq!(map.bins, [1, 2, 3, 4, 5, 6]);
        assert_eq!(map.sent, [2.0, 4.0, 6.0]);
    }
}

#[test]
fn in_flight_waits_until_every_worker_knows() {
    let mut young = contribution();
    young.in_flight = Vec::new();
    assert!(merged(&[contribution(), young]).in_flight.is_empty());
}

#[test]
fn odd_lengths_do_no_harm() {
    let mut odd = contribution();
    (odd.sent, odd.homes, odd.in_flight) = (vec![1.0], vec![1.0; 9], vec![1.0; 2]);
    assert_eq!(merged(&[odd]).sent, [1.0, 0.0, 0.0]);
}

#[test]
fn any_epoch_number_is_read() {
    let mut last = contribution();
    last.closed_epoch = u64::MAX;
    assert_eq!(merged(&[last]).bins, [0; 6]);
}

#[test]
fn keys_come_hottest_first_and_once() {
    for seed in seeds(30) {
        let mut rng = common::Rng::new(seed);
        let workers: Vec<Contribution> = (0..rng.between(1, 8))
            .map(|_| Contribution {
                keys: (0..rng.below(40))
                    .map(|key| tracked(key as u64 * 3, rng.between(1, 9) as f32, 0.5))
                    .collect(),
                ..contribution()
            })
            .collect();
        let map = merged(&workers);
        let ordered = |pair: &[MergedKey]| {
            let (a, b) = (pair[0], pair[1]);
            a.count > b.count || (a.count == b.count && a.key < b.key)
        };
        assert!(map.keys.windows(2).all(ordered), "seed {seed}");
        for merged in &map.keys {
            let parts = workers.iter().flat_map(|worker| &worker.keys);
            let sum: f32 = parts.filter(|it| it.key == merged.key).map(|it| it.count).sum();
            assert!((sum - merged.count).abs() < 1e-3, "seed {seed}");
        }
        let again = merged(&workers);
        assert_eq!(again.keys, map.keys, "seed {seed}");
    }
}

#[test]
fn peak_over_mean_is_by_weight() {
    let members = common::weighted(&[1, 3]);
    let plan = common::first_plan(&config("static", &members, &[]), &members);
    let peak = |sent: Vec<f64>| {
        let map = LoadMap { sent, ..LoadMap::default() };
        map.peak_over_mean(&plan)
    };
    assert!((peak(vec![10.0, 30.0]) - 1.0).abs() < 1e-6);
    assert!((peak(vec![30.0, 10.0]) - 3.0).abs() < 1e-6);
    assert!(peak(vec![0.0, 0.0]).abs() < 1e-6);
    assert!(peak(vec![]).abs() < 1e-6);
}
