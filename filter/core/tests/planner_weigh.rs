//! Learnt weights: a slow server is weighed down, and up again when it recovers.

mod common;

use common::{config, first_plan, members, weighted};
use rudolph_core::plan::{LEARNED_LEAST, LEARNED_ONE, Plan};
use rudolph_core::planner::merge::LoadMap;
use rudolph_core::planner::weigh::{INTERVAL_MS, learn};
use rudolph_core::servers::{Members, ServerId};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// Fifty samples an interval.
const TICK_MS: u64 = 100;

fn plan(members: &Members) -> Plan {
    first_plan(&config("spread", members, &[]), members)
}

fn loads(in_flight: Vec<f64>) -> LoadMap {
    LoadMap { in_flight, ..LoadMap::default() }
}

/// What each server keeps in flight: its share of the requests over its speed.
fn in_flight(plan: &Plan, speeds: &[f64], in_all: f64) -> Vec<f64> {
    let weights: Vec<f64> =
        (0..speeds.len()).map(|i| plan.effective_weight(ServerId(i as u16))).collect();
    let total: f64 = weights.iter().sum();
    let held = weights.iter().zip(speeds);
    held.map(|(weight, speed)| in_all * weight / total / speed).collect()
}

fn run(plan: &mut Plan, speeds: &[f64], intervals: u64) {
    for _ in 0..intervals {
        let now = plan.learned_at_ms + INTERVAL_MS;
        let seen = loads(in_flight(plan, speeds, 40.0));
        learn(plan, &seen, TICK_MS, now);
    }
}

fn ratios(plan: &Plan, speeds: &[f64]) -> Vec<f64> {
    let seen = in_flight(plan, speeds, 40.0);
    let mean = seen.iter().sum::<f64>() / seen.len() as f64;
    seen.iter().map(|in_flight| in_flight / mean).collect()
}

#[test]
fn a_half_speed_server_is_learnt_and_forgiven() {
    let mut plan = plan(&members(5));
    let mut speeds = [1.0, 1.0, 0.5, 1.0, 1.0];
    run(&mut plan, &speeds, 60);
    let factor = f64::from(plan.learned[2]) / f64::from(LEARNED_ONE);
    assert!((0.4..0.75).contains(&factor), "{factor}");
    assert!(ratios(&plan, &speeds)[2] <= 1.31);
    for other in [0, 1, 3, 4] {
        assert_eq!(plan.learned[other], LEARNED_ONE);
    }
    let settled = plan.learned.clone();
    run(&mut plan, &speeds, 20);
    assert_eq!(plan.learned, settled, "and it rests there");
    speeds[2] = 1.0;
    run(&mut plan, &speeds, 200);
    assert!(ratios(&plan, &speeds)[2] >= 1.0 / 1.31, "{:?}", plan.learned);
}

#[test]
fn every_speed_ends_within_the_band() {
    for tenths in 1..=9 {
        let mut plan = plan(&members(8));
        let mut speeds = [1.0; 8];
        speeds[3] = f64::from(tenths) / 10.0;
        run(&mut plan, &speeds, 400);
        let worst = ratios(&plan, &speeds).into_iter().fold(0.0, f64::max);
        assert!(worst < 1.32, "speed 0.{tenths}: {worst} {:?}", plan.learned);
    }
}

#[test]
fn a_step_is_the_exponential_of_a_tenth_of_the_excess() {
    let mut plan = plan(&members(2));
    let now = plan.learned_at_ms + INTERVAL_MS;
    learn(&mut plan, &loads(vec![3.0, 1.0]), TICK_MS, now);
    // Ratio 1.5: e^-0.05.
    assert_eq!(plan.learned, [(0.951_229_4 * 4096.0 + 0.5) as u16, LEARNED_ONE]);
    assert_eq!(plan.learned_at_ms, now);
}

#[test]
fn one_step_an_interval_and_a_clock_that_jumps_back_does_not_stop_it() {
    let fresh = plan(&members(2));
    let slow = loads(vec![9.0, 1.0]);
    let learnt_at = |now| {
        let mut plan = fresh.clone();
        learn(&mut plan, &slow, TICK_MS, now);
        plan.learned != fresh.learned
    };
    let since = fresh.learned_at_ms;
    assert!(!learnt_at(since + INTERVAL_MS - 1));
    assert!(learnt_at(since + INTERVAL_MS));
    assert!(!learnt_at(since - 10));
    assert!(learnt_at(since - INTERVAL_MS), "an hour back is as good as an hour on");
}

#[test]
fn too_little_in_flight_teaches_nothing() {
    for seen in [vec![0.25, 0.1], vec![], vec![9.0], vec![0.0, 0.0]] {
        let mut plan = plan(&members(2));
        let before = plan.clone();
        learn(&mut plan, &loads(seen.clone()), TICK_MS, u64::MAX);
        assert_eq!(plan, before, "{seen:?}");
    }
}

#[test]
fn the_less_is_in_flight_the_more_is_left_to_chance() {
    // Mean in flight, and the ratio from which the slower of two is learnt: 1 + 3.5 / sqrt(50 samples of the mean).
    for (mean, ratio) in [(0.5, 1.70), (1.0, 1.495), (2.0, 1.35), (50.0, 1.30)] {
        for (more, learns) in [(-0.01, false), (0.01, true)] {
            let slower = mean * (ratio + more);
            let mut plan = plan(&members(2));
            let now = plan.learned_at_ms + INTERVAL_MS;
            learn(&mut plan, &loads(vec![slower, 2.0 * mean - slower]), TICK_MS, now);
            assert_eq!(plan.learned[0] < LEARNED_ONE, learns, "{mean} {ratio} {more}");
        }
    }
}

#[test]
fn configured_weights_are_no_slowness() {
    let speeds = [1.0, 4.0, 4.0];
    let mut plan = plan(&weighted(&[1, 4, 4]));
    // Little's law: a server of weight 4 gets four times the requests and keeps as many in flight per slot.
    let seen = vec![4.0, 16.0, 16.0];
    let before = plan.learned.clone();
    let now = plan.learned_at_ms + INTERVAL_MS;
    learn(&mut plan, &loads(seen), TICK_MS, now);
    assert_eq!(plan.learned, before, "{speeds:?}");
}

#[test]
fn factors_keep_their_bounds() {
    let mut plan = plan(&members(3));
    let mut now = plan.learned_at_ms;
    for _ in 0..500 {
        now += INTERVAL_MS;
        learn(&mut plan, &loads(vec![1000.0, 1.0, 1.0]), TICK_MS, now);
        let sound = |factor: &u16| (LEARNED_LEAST..=LEARNED_ONE).contains(factor);
        assert!(plan.learned.iter().all(sound), "{:?}", plan.learned);
    }
    assert_eq!(plan.learned, [LEARNED_LEAST, LEARNED_ONE, LEARNED_ONE]);
}

#[test]
fn all_slow_alike_is_nobody_slow() {
    let mut plan = plan(&members(4));
    run(&mut plan, &[0.1; 4], 50);
    assert_eq!(plan.learned, [LEARNED_ONE; 4]);
}
