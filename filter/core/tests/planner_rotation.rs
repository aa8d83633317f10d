//! `rotation` against a twin that adds every load up anew for every candidate.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod common;

use common::{Rng, config, first_plan, members, request, seeds, weighted};
use rudolph_core::arcs::Arcs;
use rudolph_core::config::Config;
use rudolph_core::plan::{Placement, Plan};
use rudolph_core::planner::merge::LoadMap;
use rudolph_core::planner::rotation::turn;
use rudolph_core::servers::Members;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

struct Case {
    config: std::sync::Arc<Config>,
    members: Members,
    previous: Plan,
    counts: Vec<u64>,
}

impl Case {
    fn new(weights: &[u32], candidates: usize, lambda: f64, from: u32, counts: Vec<u64>) -> Self {
        let members = weighted(weights);
        let more = format!(r#""rotation": {{"candidates": {candidates}, "lambda": {lambda}}}"#);
        let config = config("rotation", &members, &[&more]);
        let mut previous = first_plan(&config, &members);
        previous.placement = Placement::Turned { rotation: from };
        Self { config, members, previous, counts }
    }

    fn turned(&self) -> u32 {
        let loads = LoadMap { bins: self.counts.clone(), ..LoadMap::default() };
        let request = request(&self.config, &self.members, Some(&self.previous), &loads);
        match turn(&request, &self.previous, &loads) {
            Placement::Turned { rotation } => rotation,
            other => panic!("{other:?}"),
        }
    }

    fn from(&self) -> i64 {
        match self.previous.placement {
            Placement::Turned { rotation } => i64::from(rotation),
            _ => 0,
        }
    }

    fn peak(&self, rotation: u32) -> f64 {
        let weights: Vec<f64> =
            (self.members.servers().iter()).map(|server| f64::from(server.weight)).collect();
        let owners = Arcs::by_weight(&weights, self.config.rotation.candidates).owners(rotation);
        let mut loads = vec![0; weights.len()];
        for (owner, count) in owners.iter().zip(&self.counts) {
            loads[usize::from(*owner)] += count;
        }
        let total: u64 = self.counts.iter().sum();
        let all: f64 = weights.iter().sum();
        loads
            .iter()
            .zip(&weights)
            .map(|(&load, weight)| load as f64 / total as f64 / (weight / all))
            .fold(0.0, f64::max)
    }

    /// Distances in the order in which equals are preferred.
    fn twin(&self) -> u32 {
        let c = i64::from(self.config.rotation.candidates);
        let bins = self.counts.len() as i64;
        let mut distances: Vec<i64> = (-(c / 2)..c - c / 2).collect();
        distances.sort_by_key(|distance| (distance.abs(), *distance));
        let score = |distance: i64| {
            let rotation = (self.from() + distance).rem_euclid(bins) as u32;
            let far = distance.abs() as f64 / c as f64;
            (self.peak(rotation) + self.config.rotation.lambda * far, rotation)
        };
        let scored: Vec<(f64, u32)> = distances.into_iter().map(score).collect();
        let best = scored.iter().map(|(score, _)| *score).fold(f64::INFINITY, f64::min);
        scored.iter().find(|(score, _)| *score == best).unwrap().1
    }

    fn distance(&self) -> i64 {
        let bins = self.counts.len() as i64;
        let forward = (i64::from(self.turned()) - self.from()).rem_euclid(bins);
        if forward * 2 >= bins { forward - bins } else { forward }
    }
}

fn random(seed: u64) -> Case {
    let mut rng = Rng::new(seed);
    let (n, c) = (rng.between(1, 12), rng.between(1, 20));
    let equal = rng.chance(0.5);
    let weights: Vec<u32> =
        (0..n).map(|_| if equal { 1 } else { rng.between(1, 5) as u32 }).collect();
    // Small counts make ties, and a few hot bins make peaks.
    let counts = (0..n * c)
        .map(|_| match rng.below(8) {
            0 => rng.below(200) as u64,
            few => few as u64 % 3,
        })
        .collect();
    let lambda = [0.0, 0.125, 0.5, 8.0, 1000.0][rng.below(5)];
    Case::new(&weights, c, lambda, rng.below(n * c) as u32, counts)
}

#[test]
fn the_turn_is_its_twin_and_never_far() {
    for seed in seeds(400) {
        let mut case = random(seed);
        case.counts[0] += 1;
        assert_eq!(case.turned(), case.twin(), "seed {seed}");
        assert_eq!(case.turned(), case.turned(), "seed {seed}");
        let c = i64::from(case.config.rotation.candidates);
        let distance = case.distance();
        assert!(2 * distance.abs() <= c, "seed {seed}: {distance} of {c}");
    }
}

#[test]
fn a_turn_never_raises_the_peak() {
    for seed in seeds(100) {
        let mut case = random(seed);
        case.counts[0] += 1;
        let before = case.peak(case.from() as u32);
        assert!(case.peak(case.turned()) <= before, "seed {seed}");
    }
}

#[test]
fn equals_stay_and_then_go_backwards() {
    let even = Case::new(&[1; 5], 4, 0.0, 3, vec![7; 20]);
    assert_eq!(even.turned(), 3, "nothing is better, nothing turns");
    // Two hot bins of one server: a step either way parts them.
    let mut counts = vec![0; 8];
    (counts[0], counts[3]) = (5, 5);
    assert_eq!(Case::new(&[1, 1], 4, 0.0, 0, counts.clone()).turned(), 7);
    assert_eq!(Case::new(&[1, 1], 4, 0.1, 0, counts).turned(), 7);
}

#[test]
fn a_huge_lambda_never_turns() {
    for seed in seeds(50) {
        let mut case = random(seed);
        case.counts[0] += 1;
        let more = format!(
            r#""rotation": {{"candidates": {}, "lambda": 1000}}"#,
            case.config.rotation.candidates
        );
        case.config = config("rotation", &case.members, &[&more]);
        assert_eq!(i64::from(case.turned()), case.from(), "seed {seed}");
    }
}

#[test]
fn without_traffic_nothing_turns() {
    for seed in seeds(20) {
        let mut case = random(seed);
        case.counts.fill(0);
        assert_eq!(i64::from(case.turned()), case.from(), "seed {seed}");
    }
}

#[test]
fn a_rotation_of_other_members_is_folded_into_the_bins() {
    let mut case = Case::new(&[1; 5], 4, 0.0, 19, vec![1; 20]);
    case.members = members(2);
    case.counts = vec![0; 8];
    let previous = case.previous.clone();
    let plan = first_plan(&case.config, &case.members);
    let loads = LoadMap { bins: case.counts, ..LoadMap::default() };
    let request = request(&case.config, &case.members, Some(&previous), &loads);
    assert_eq!(turn(&request, &plan, &loads), Placement::Turned { rotation: 3 });
}

#[test]
fn arcs_follow_weights_and_leave_nobody_out() {
    for seed in seeds(200) {
        let mut rng = Rng::new(seed);
        let (n, c) = (rng.between(1, 40), rng.between(1, 64));
        let weights: Vec<f64> = (0..n).map(|_| rng.between(1, 100) as f64).collect();
        let arcs = Arcs::by_weight(&weights, c as u32);
        assert_eq!(arcs.bins() as usize, n * c, "seed {seed}");
        let owners = arcs.owners(0);
        assert!(owners.is_sorted(), "seed {seed}: an arc each, in ring order");
        let total: f64 = weights.iter().sum();
        for (server, weight) in weights.iter().enumerate() {
            let length = owners.iter().filter(|&&o| usize::from(o) == server).count();
            let exact = weight / total * (n * c) as f64;
            assert!(length >= 1, "seed {seed} server {server}");
            // What the shortest arcs are raised to one by, the longer ones give.
            let slack = 1.0 + exact * n as f64 / (n * c) as f64;
            assert!((length as f64 - exact).abs() <= slack, "seed {seed}: {length} for {exact}");
        }
    }
}
