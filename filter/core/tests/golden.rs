//! Values that must never change: owners by arcs, hashes of keys, the table of the race.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod common;

use common::weighted;
use rudolph_core::arcs::Arcs;
use rudolph_core::hash::{KeyHash, digest};
use rudolph_core::rendezvous::{Contender, race};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// The arcs of five servers with four bins each, as `from..to` modulo 20.
const FIGURE_4: [[(u32, u32); 5]; 4] = [
    [(0, 4), (4, 8), (8, 12), (12, 16), (16, 20)],
    [(1, 5), (5, 9), (9, 13), (13, 17), (17, 21)],
    [(2, 6), (6, 10), (10, 14), (14, 18), (18, 22)],
    [(3, 7), (7, 11), (11, 15), (15, 19), (19, 23)],
];

#[test]
fn figure_4() {
    let arcs = Arcs::by_weight(&[1.0; 5], 4);
    for (rotation, row) in FIGURE_4.iter().enumerate() {
        let owners = arcs.owners(rotation as u32);
        assert_eq!(owners.len(), 20);
        for (server, &(from, to)) in row.iter().enumerate() {
            for bin in from..to {
                let owner = owners[bin as usize % 20];
                assert_eq!(usize::from(owner), server, "r={rotation} bin={}", bin % 20);
            }
        }
    }
}

#[test]
fn arcs_are_the_formula_for_equal_weights() {
    for (n, c) in [(1, 1), (1, 7), (2, 1), (3, 64), (5, 4), (100, 64), (1000, 3)] {
        let arcs = Arcs::by_weight(&vec![1.0; n as usize], c as u32);
        for r in [0, 1, c / 2, c - 1, c * n - 1] {
            let owners = arcs.owners(r as u32);
            let formula = |b: i64| (b - r).div_euclid(c).rem_euclid(n) as u16;
            let expected: Vec<u16> = (0..c * n).map(formula).collect();
            assert_eq!(owners, expected, "n={n} c={c} r={r}");
        }
    }
}

#[test]
fn one_step_back_is_c_minus_one_forward_with_the_servers_renamed() {
    let arcs = Arcs::by_weight(&[1.0; 5], 4);
    let forward = arcs.owners(3);
    let renamed: Vec<u16> = arcs.owners(19).iter().map(|owner| (owner + 4) % 5).collect();
    assert_eq!(forward, renamed);
}

fn written_key(written: &str) -> Vec<u8> {
    let byte = |hex: &str| u8::from_str_radix(hex, 16).unwrap();
    if written == "-" {
        return Vec::new();
    }
    if let Some((hex, times)) = written.split_once('*') {
        return vec![byte(hex); times.parse().unwrap()];
    }
    (0..written.len()).step_by(2).map(|at| byte(&written[at..at + 2])).collect()
}

#[test]
fn key_hashes() {
    let mut rows = 0;
    for row in include_str!("../vectors/key_hash.txt").lines() {
        let (key, hash) = row.split_once(' ').unwrap();
        let expected = u64::from_str_radix(hash, 16).unwrap();
        assert_eq!(KeyHash::of(&written_key(key)).0, expected, "{key}");
        rows += 1;
    }
    assert!(rows >= 40, "{rows} rows");
}

fn weights(pattern: &str, servers: usize) -> Vec<u32> {
    match pattern {
        "equal" => vec![1; servers],
        _ => (0..servers as u32).map(|i| 1 + i % 7).collect(),
    }
}

/// The whole table, three places a bin. A line of the file: servers, weights, digest.
#[test]
fn rendezvous_tables() {
    let mut found = String::new();
    for servers in [1, 2, 3, 5, 100] {
        for pattern in ["equal", "unequal"] {
            let members = weighted(&weights(pattern, servers));
            let contenders: Vec<Contender> = (members.servers().iter())
                .map(|server| Contender::new(&server.address, f64::from(server.weight)))
                .collect();
            let (rows, _) = race(&contenders, 3);
            let bytes: Vec<u8> = rows.iter().flat_map(|owner| owner.to_le_bytes()).collect();
            found += &format!("{servers} {pattern} {:016x}\n", digest(0, &bytes));
        }
    }
    assert_eq!(found, include_str!("../vectors/rendezvous.txt"), "{found}");
}
