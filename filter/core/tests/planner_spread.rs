//! `spread`: which keys are hot and on how many servers.

mod common;

use common::{config, members};
use rudolph_core::config::Spread;
use rudolph_core::hash::KeyHash;
use rudolph_core::hot::{HotKey, HotTable, MAX_HOT_KEYS};
use rudolph_core::planner::merge::{LoadMap, MergedKey};
use rudolph_core::planner::spread::{copies, hot_keys};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn spread(fields: &str) -> Spread {
    let more = format!(r#""spread": {{{fields}}}"#);
    config("spread", &members(1), &[&more]).spread.clone()
}

#[test]
fn a_key_needs_six_certain_requests() {
    let rules = spread("");
    assert_eq!(copies(&rules, 5.999, 6.0, 5), None);
    assert_eq!(copies(&rules, 6.0, 6.0, 5), Some(5));
}

#[test]
fn a_key_is_hot_from_a_hundredth_of_a_fair_share() {
    let rules = spread("");
    // With 10 servers and 6,000 requests a fair share is 600 and the threshold 6.
    assert_eq!(copies(&rules, 6.0, 6_001.0, 10), None);
    assert_eq!(copies(&rules, 6.0, 5_999.0, 10), Some(2));
}

#[test]
fn one_copy_for_each_three_hundredths_of_a_fair_share() {
    let rules = spread("");
    let of_fair = |load: f32| copies(&rules, load * 1000.0, 100_000.0, 100);
    for (load, expected) in [
        (0.009, None),
        (0.029, Some(2)),
        (0.059, Some(2)),
        (0.061, Some(3)),
        (0.29, Some(10)),
        (2.99, Some(100)),
        (50.0, Some(100)),
    ] {
        assert_eq!(of_fair(load), expected, "{load}");
    }
}

#[test]
fn copies_never_fall_as_the_load_rises() {
    let rules = spread("");
    for servers in [2, 3, 50, 1000] {
        let mut last = 0;
        for count in 1..2000 {
            let now = copies(&rules, count as f32, 2000.0, servers).unwrap_or(0);
            assert!(now >= last, "{count} of {servers}");
            assert!(now <= servers);
            last = now;
        }
    }
}

#[test]
fn caps_and_switches() {
    let all = |fields: &str, servers| copies(&spread(fields), 100.0, 100.0, servers);
    assert_eq!(all(r#""max_copies": 3"#, 10), Some(3));
    assert_eq!(all(r#""max_copies": 1"#, 10), Some(1), "no copy but the home");
    assert_eq!(all(r#""max_copies": 30"#, 10), Some(10));
    assert_eq!(all(r#""proportional": false"#, 10), Some(2));
    assert_eq!(all("", 1), Some(1));
    assert_eq!(all(r#""share_per_copy": 1"#, 10), Some(10));
    assert_eq!(all(r#""hot_threshold": 1"#, 10), Some(10));
}

#[test]
fn the_load_map_s_hot_keys() {
    let key = |number: u64, guaranteed: f32| MergedKey {
        key: KeyHash(number),
        count: guaranteed + 100.0,
        guaranteed,
    };
    let loads = LoadMap {
        total: 1000.0,
        keys: vec![key(1, 500.0), key(2, 3.0), key(3, 100.0)],
        ..LoadMap::default()
    };
    let hot = |number, value| HotKey { key: KeyHash(number), value };
    let found = hot_keys(&spread(""), 5, &loads);
    assert_eq!(found, [hot(1, 5), hot(3, 5)], "the certain part counts");
    assert_eq!(hot_keys(&spread(r#""hot_keys": false"#), 5, &loads), []);
}

#[test]
fn a_plan_names_no_more_keys_than_it_may() {
    let keys = (0..2 * MAX_HOT_KEYS as u64).map(|number| MergedKey {
        key: KeyHash(number),
        count: 10.0,
        guaranteed: 10.0,
    });
    let loads = LoadMap { total: 100.0, keys: keys.collect(), ..LoadMap::default() };
    assert_eq!(hot_keys(&spread(""), 5, &loads).len(), MAX_HOT_KEYS);
}

#[test]
fn the_hot_table_is_a_map() {
    for seed in common::seeds(50) {
        let mut rng = common::Rng::new(seed);
        // Few high bits in use: probes collide, and the table's end is passed.
        let shift = rng.below(60);
        let keys: Vec<HotKey> = (0..rng.below(MAX_HOT_KEYS))
            .map(|value| HotKey {
                key: KeyHash(rng.next() >> shift | u64::from(rng.chance(0.5)) << 63),
                value: value as u16,
            })
            .collect();
        let table = HotTable::new(&keys);
        for hot in &keys {
            let first = keys.iter().find(|other| other.key == hot.key).map(|hot| hot.value);
            assert_eq!(table.get(hot.key), first, "seed {seed}");
        }
        for _ in 0..100 {
            let key = KeyHash(rng.next());
            let known = keys.iter().find(|hot| hot.key == key).map(|hot| hot.value);
            assert_eq!(table.get(key), known, "seed {seed}");
        }
    }
}
