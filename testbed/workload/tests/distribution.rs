//! What the stream draws, against what it says it draws.

#![allow(clippy::unwrap_used)] // helpers of tests are tests too

use rudolph_workload::{AlphaRamp, KeySpec, Operation, SplitMix64, ValueBytes, WorkloadSpec, Zipf};

/// Upper 0.1% point of chi-square (Wilson-Hilferty), good to a fraction of a percent for the degrees used here.
fn chi_square_limit(degrees: f64) -> f64 {
    let spread = 2.0 / (9.0 * degrees);
    degrees * (1.0 - spread + 3.090 * spread.sqrt()).powi(3)
}

fn chi_square(observed: &[u64], expected: &[f64]) -> f64 {
    let pairs = observed.iter().zip(expected);
    pairs.map(|(&o, &e)| (o as f64 - e) * (o as f64 - e) / e).sum()
}

#[test]
fn zipf_passes_chi_square() {
    const DRAWS: u64 = 1_000_000;
    const SEED: u64 = 20;
    for alpha in [0.0, 0.5, 0.99, 1.0, 1.0 + 1e-10, 1.2, 2.0] {
        let ranks = 1_000_usize;
        let weights: Vec<f64> = (1..=ranks).map(|r| (r as f64).powf(-alpha)).collect();
        let total: f64 = weights.iter().sum();
        let expected: Vec<f64> = weights.iter().map(|w| w / total * DRAWS as f64).collect();
        let zipf = Zipf::new(ranks as u64, alpha);
        let mut rng = SplitMix64::new(SEED);
        let mut observed = vec![0_u64; ranks];
        for _ in 0..DRAWS {
            observed[zipf.sample(&mut rng) as usize - 1] += 1;
        }
        // Pool the tail where fewer than ten are expected.
        let kept = expected.iter().take_while(|&&e| e >= 10.0).count();
        let mut pooled = observed[..kept].to_vec();
        let mut pooled_expected = expected[..kept].to_vec();
        if kept < ranks {
            pooled.push(observed[kept..].iter().sum());
            pooled_expected.push(expected[kept..].iter().sum());
        }
        let statistic = chi_square(&pooled, &pooled_expected);
        let limit = chi_square_limit((pooled.len() - 1) as f64);
        assert!(statistic < limit, "seed {SEED}, alpha {alpha}: {statistic} over {limit}");
    }
}

fn zipf_spec(count: u64, alpha: f64, reshuffle_s: Option<f64>) -> WorkloadSpec {
    WorkloadSpec {
        keys: KeySpec::Zipf { count, alpha, ramp: None, reshuffle_s },
        ..WorkloadSpec::default()
    }
}

/// The most frequent key of 20,000 draws at one time, and its share.
fn hottest(spec: &WorkloadSpec, now_ns: u64) -> (u64, f64) {
    let mut stream = spec.build().unwrap();
    let mut counts = std::collections::BTreeMap::new();
    for _ in 0..20_000 {
        *counts.entry(stream.next(now_ns).key.0).or_insert(0_u32) += 1;
    }
    let (key, count) = counts.into_iter().max_by_key(|entry| entry.1).unwrap();
    (key, f64::from(count) / 20_000.0)
}

#[test]
fn ranks_change_hands_on_time_or_never() {
    let shifting = zipf_spec(1_000, 1.0, Some(10.0));
    let still = zipf_spec(1_000, 1.0, None);
    let (first, last) = (0, 9_999_999_999);
    assert_eq!(hottest(&shifting, first).0, hottest(&shifting, last).0);
    assert_ne!(hottest(&shifting, first).0, hottest(&shifting, 10_000_000_000).0);
    assert_eq!(hottest(&still, first).0, hottest(&still, 3_600_000_000_000).0);
}

#[test]
fn alpha_climbs_in_steps_and_stays() {
    let spec = WorkloadSpec {
        keys: KeySpec::Zipf {
            count: 1_000,
            alpha: 1.0,
            ramp: Some(AlphaRamp { to: 2.0, steps: 6, step_s: 120.0 }),
            reshuffle_s: None,
        },
        ..WorkloadSpec::default()
    };
    let share = |seconds: u64| hottest(&spec, seconds * 1_000_000_000).1;
    let expected = |alpha: f64| 1.0 / (1..=1000).map(|r| f64::from(r).powf(-alpha)).sum::<f64>();
    for (seconds, alpha) in [(0, 1.0), (119, 1.0), (120, 1.2), (599, 1.8), (600, 2.0), (9_999, 2.0)]
    {
        let difference = (share(seconds) - expected(alpha)).abs();
        assert!(difference < 0.02, "at {seconds} s: {difference} from alpha {alpha}");
    }
}

#[test]
fn other_kinds_draw_what_they_say() {
    let spec = |keys| WorkloadSpec { keys, ..WorkloadSpec::default() };
    let mut sequential =
        spec(KeySpec::Sequential { count: 3, first: 0, buckets: None }).build().unwrap();
    let drawn: Vec<u64> = (0..5).map(|_| sequential.next(0).key.0).collect();
    assert_eq!(drawn, [0, 1, 2, 0, 1]);

    let (_, share) = hottest(&spec(KeySpec::OneHot { count: 100, share: 0.4 }), 0);
    assert!((share - 0.4).abs() < 0.02, "seed 1: {share}");

    let mut uniform = spec(KeySpec::Uniform { count: 50 }).build().unwrap();
    let mut observed = vec![0_u64; 50];
    for _ in 0..100_000 {
        observed[uniform.next(0).key.0 as usize] += 1;
    }
    assert!(chi_square(&observed, &[2_000.0; 50]) < chi_square_limit(49.0), "seed 1");
}

#[test]
fn mix_and_sizes_are_kept_and_do_not_change_the_keys() {
    let reads = WorkloadSpec::default();
    let mixed = WorkloadSpec {
        read_fraction: 0.8,
        value_bytes: ValueBytes { min: 10, max: 20 },
        ..WorkloadSpec::default()
    };
    let (mut reads, mut mixed) = (reads.build().unwrap(), mixed.build().unwrap());
    let mut sizes = std::collections::HashMap::new();
    let mut writes = 0;
    for _ in 0..10_000 {
        let (read, step) = (reads.next(0), mixed.next(0));
        assert_eq!(read.key, step.key);
        assert!((10..=20).contains(&step.value_bytes));
        assert_eq!(*sizes.entry(step.key).or_insert(step.value_bytes), step.value_bytes);
        writes += u32::from(step.operation == Operation::Write);
    }
    assert!((1_800..2_200).contains(&writes), "seed 1: {writes} writes");
}
