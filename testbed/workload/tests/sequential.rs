//! Sequential keys: in order, for every seed alike, and the same with buckets but for the tag in front.

#![allow(clippy::unwrap_used)] // helpers of tests are tests too

use rudolph_workload::{KeySpec, Operation, WorkloadSpec, bucket_of, bucketed_name, name_of};

fn spec(seed: u64, first: u64, buckets: Option<u32>) -> WorkloadSpec {
    let keys = KeySpec::Sequential { count: 1_000, first, buckets };
    WorkloadSpec { seed, keys, read_fraction: 0.0, ..WorkloadSpec::default() }
}

fn names(spec: &WorkloadSpec, count: usize) -> Vec<Vec<u8>> {
    let mut stream = spec.build().unwrap();
    let name = |_| {
        let step = stream.next(0);
        assert_eq!(step.operation, Operation::Write);
        let mut name = Vec::new();
        stream.write_key(step.key, &mut name);
        name
    };
    (0..count).map(name).collect()
}

#[test]
fn every_seed_gives_the_same_rising_keys() {
    for seed in 0..50 {
        let names = names(&spec(seed, 0, None), 1_000);
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "seed {seed}");
        assert_eq!(names[0], name_of(0), "seed {seed}");
    }
    for first in [0, 7, 1_000_000, 999_999_999_000] {
        let names = names(&spec(1, first, None), 1_000);
        assert!((first..).zip(&names).all(|(number, name)| *name == name_of(number)), "{first}");
    }
}

#[test]
fn after_the_last_key_comes_the_first() {
    let names = names(&spec(1, 500, None), 1_001);
    assert_eq!(names[999], name_of(1_499));
    assert_eq!(names[1_000], name_of(500));
}

#[test]
fn buckets_only_put_a_tag_in_front() {
    for seed in 0..20 {
        let (plain, bucketed) =
            (names(&spec(seed, 50, None), 1_000), names(&spec(seed, 50, Some(10)), 1_000));
        for ((number, plain), bucketed) in (50..).zip(plain).zip(bucketed) {
            assert_eq!(bucketed, bucketed_name(bucket_of(number, 10), number), "seed {seed}");
            assert_eq!(bucketed[6..], plain[..], "seed {seed}");
        }
    }
}

#[test]
fn a_spec_without_the_new_fields_reads_and_writes_as_before() {
    let text = r#"{"kind":"sequential","count":5}"#;
    let keys: KeySpec = serde_json::from_str(text).unwrap();
    assert_eq!(keys, KeySpec::Sequential { count: 5, first: 0, buckets: None });
    assert_eq!(serde_json::to_string(&keys).unwrap(), text);
}
