//! The sketch against exact counts.

mod common;

use std::collections::BTreeMap;

use common::{Rng, Zipf, mix, seeds};
use rudolph_core::hash::KeyHash;
use rudolph_core::sketch::{CAPACITY, Sketch};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// A sketch beside the truth.
#[derive(Default)]
struct Pair {
    sketch: Sketch,
    exact: BTreeMap<KeyHash, f64>,
    total: f64,
}

impl Pair {
    fn add(&mut self, key: KeyHash) {
        let slot = self.sketch.add(key);
        assert_eq!(self.sketch.entry(slot).key, key);
        *self.exact.entry(key).or_default() += 1.0;
        self.total += 1.0;
    }

    fn decay(&mut self, factor: f32) {
        self.sketch.decay(factor);
        self.exact.values_mut().for_each(|count| *count *= f64::from(factor));
        self.total *= f64::from(factor);
    }

    fn check(&self, context: &str) {
        let tolerance = 1e-2 + self.total * 1e-5;
        assert!((f64::from(self.sketch.total()) - self.total).abs() < tolerance, "{context}");
        assert!(self.sketch.entries().len() <= CAPACITY, "{context}");
        for tracked in self.sketch.entries() {
            let truth = self.exact[&tracked.key];
            let least = f64::from(tracked.guaranteed());
            assert!(tracked.error >= 0.0 && least >= 0.0, "{context}: {tracked:?}");
            assert!(least <= truth + tolerance, "{context}: {truth} for {tracked:?}");
        }
    }

    fn check_upper(&self, context: &str) {
        for tracked in self.sketch.entries() {
            let truth = self.exact[&tracked.key];
            let most = f64::from(tracked.count) + 1e-2 + self.total * 1e-5;
            assert!(truth <= most, "{context}: {truth} for {tracked:?}");
        }
    }

    /// A key whose share is well over one place's must be there.
    fn check_heavy(&self, context: &str) {
        let heavy = 1.5 * self.total / CAPACITY as f64 + 1.0;
        for (key, _) in self.exact.iter().filter(|(_, count)| **count > heavy) {
            let tracked = self.sketch.entries().iter().any(|it| it.key == *key);
            assert!(tracked, "{context}: {key:?} is lost");
        }
    }

    fn check_all(&self, context: &str) {
        self.check(context);
        self.check_heavy(context);
        let mut again = self.sketch.clone();
        for (slot, tracked) in self.sketch.entries().iter().enumerate() {
            assert_eq!(again.add(tracked.key), slot, "{context}: the index lost {tracked:?}");
        }
    }
}

fn key(number: usize) -> KeyHash {
    KeyHash(mix(number as u64 + 1))
}

#[test]
fn zipf_streams_with_decay() {
    for seed in seeds(6) {
        let mut rng = Rng::new(seed);
        let zipf = Zipf::new([300, 600, 5_000, 50_000][seed as usize % 4]);
        let mut pair = Pair::default();
        for step in 0..40 {
            for _ in 0..rng.between(10, 1_000) {
                pair.add(key(zipf.rank(&mut rng)));
            }
            pair.check_all(&format!("seed {seed} step {step}"));
            pair.decay(0.870_550_6);
        }
    }
}

#[test]
fn few_keys_are_counted_exactly() {
    let mut pair = Pair::default();
    for number in 0..20 * CAPACITY {
        pair.add(key(number % CAPACITY));
    }
    for tracked in pair.sketch.entries() {
        assert!((tracked.count - 20.0).abs() < 1e-3 && tracked.error.abs() < 1e-3, "{tracked:?}");
    }
}

#[test]
fn all_distinct() {
    let mut pair = Pair::default();
    for number in 0..20_000 {
        pair.add(key(number));
    }
    pair.check_all("distinct");
    let most = pair.sketch.entries().iter().map(|it| it.guaranteed()).fold(0.0, f32::max);
    assert!(most <= 1.0, "nobody is hot: {most}");
}

#[test]
fn all_equal() {
    let mut pair = Pair::default();
    for _ in 0..20_000 {
        pair.add(key(7));
    }
    pair.check_all("equal");
    assert_eq!(pair.sketch.entries().len(), 1);
}

#[test]
fn sawtooth() {
    for period in [CAPACITY - 1, CAPACITY, CAPACITY + 1, 2 * CAPACITY, 3 * CAPACITY + 7] {
        let mut pair = Pair::default();
        for number in 0..20 * CAPACITY {
            pair.add(key(number % period));
            if number % 999 == 998 {
                pair.decay(0.9);
            }
        }
        pair.check_all(&format!("period {period}"));
    }
}

/// A key is evicted within the slack of the smallest count, comes back, and takes the place of a smaller one.
#[test]
fn a_key_that_left_and_came_back_is_not_undercounted() {
    for seed in seeds(30) {
        let mut rng = Rng::new(seed);
        let mut pair = Pair::default();
        for step in 0..60 {
            for _ in 0..CAPACITY / 2 {
                pair.add(key(rng.below(CAPACITY + 3)));
            }
            pair.check_upper(&format!("seed {seed} step {step}"));
            pair.decay(0.870_550_6);
        }
    }
}

#[test]
fn colliding_keys_are_kept_apart() {
    for seed in seeds(20) {
        let mut rng = Rng::new(seed);
        let mut pair = Pair::default();
        // Few distinct upper halves, at both ends of the index: long probes that pass the end.
        for step in 0..4_000 {
            let bucket = [0, 1, 2, 2046, 2047][rng.below(5)];
            pair.add(KeyHash(bucket << 32 | rng.below(300) as u64));
            if step % 500 == 499 {
                pair.check_all(&format!("seed {seed} step {step}"));
                pair.decay(0.5);
            }
        }
    }
}

#[test]
fn everything_is_forgotten() {
    let mut pair = Pair::default();
    for number in 0..5_000 {
        pair.add(key(number % 1_000));
    }
    for _ in 0..300 {
        pair.decay(0.87);
    }
    assert!(pair.sketch.total().abs() < f32::MIN_POSITIVE);
    let counts = pair.sketch.entries().iter();
    assert!(counts.clone().all(|it| it.count.abs() < f32::MIN_POSITIVE));
    for number in 5_000..6_000 {
        pair.add(key(number));
    }
    pair.check_all("after a pause");
}
