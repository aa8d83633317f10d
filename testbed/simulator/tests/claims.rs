//! What the project claims of its default, on short runs with few seeds; the shipped scenarios show it at length.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may stop")]

mod common;

use common::rows;
use rudolph_simulator::report::Row;
use rudolph_simulator::scenario::sweep;

fn rps_of(rows: &[Row], strategy: &str) -> f64 {
    rows.iter().find(|row| row.strategy == strategy).unwrap().rps
}

const USUAL: &str = "warmup_s = 20\nseconds = 20\nseeds = [1]\nservers = { cache_keys = 13_200 }\n";

#[test]
fn spread_is_near_the_bound_and_far_from_hashing() {
    let rows = rows(&format!(
        "strategies = [\"modulo\", \"spread\", \"bound\"]\narrivals = {{ clients = 64 }}\n{USUAL}"
    ));
    let (modulo, spread, bound) =
        (rps_of(&rows, "modulo"), rps_of(&rows, "spread"), rps_of(&rows, "bound"));
    assert!(spread > 0.98 * bound, "{rows:?}");
    assert!(modulo < 0.85 * bound, "{rows:?}");
}

#[test]
fn gateways_that_do_not_talk_lose_little_under_spread_and_much_under_rotation() {
    let of = |gateways: usize| {
        rows(&format!(
            "strategies = [\"spread\", \"rotation\"]\narrivals = {{ clients = 64 }}\n{USUAL}\
             gateways = {{ count = {gateways} }}\n"
        ))
    };
    let (one, four) = (of(1), of(4));
    assert!(rps_of(&four, "spread") > 0.97 * rps_of(&one, "spread"), "{one:?} {four:?}");
    assert!(rps_of(&four, "rotation") < 0.92 * rps_of(&one, "rotation"), "{one:?} {four:?}");
    assert!(four[1].hit_percent < one[1].hit_percent - 4.0, "{one:?} {four:?}");
}

#[test]
fn spread_bears_a_server_at_half_speed() {
    let rows = rows(&format!(
        "strategies = [\"modulo\", \"maglev\", \"rotation\", \"spread\"]\narrivals = {{ open_rps = 7000 }}\n\
         {}",
        USUAL.replace("13_200", "13_200, slow = [{ server = 2, speed = 0.5 }]")
    ));
    for row in &rows[..3] {
        assert!(row.p99_ms > 1000.0, "{row:?}");
    }
    assert!(rows[3].p99_ms < 25.0 && rows[3].unfinished < 100.0, "{:?}", rows[3]);
}

/// Losing and regaining a server moves the keys of that server alone.
#[test]
fn a_lost_server_moves_its_own_keys_alone() {
    let rows = rows(
        "strategies = [\"spread\", \"pin\", \"maglev\", \"modulo\"]\nseeds = [1]\nwarmup_s = 5\nseconds = 10\n\
         arrivals = { open_rps = 2000 }\nservers = { cache_keys = 20_000 }\n\
         events = [{ at_s = 7, server = 1, change = \"down\" }, { at_s = 11, server = 1, change = \"up\" }]\n",
    );
    // Twice a fifth of 100,000 keys in ten seconds.
    let expected = 4_000.0;
    for row in &rows[..2] {
        let moved = row.moved_keys_per_s.unwrap();
        assert!((moved / expected - 1.0).abs() < 0.1, "{row:?}");
    }
    assert!(rows[2].moved_keys_per_s.unwrap() < 1.3 * expected, "{:?}", rows[2]);
    assert!(rows[3].moved_keys_per_s.unwrap() > 3.0 * expected, "{:?}", rows[3]);
}

#[test]
fn every_shipped_scenario_is_sound() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let variants = sweep::read(&std::fs::read_to_string(&path).unwrap());
        let variants = variants.unwrap_or_else(|error| panic!("{path:?}: {error}"));
        assert!(!variants[0].scenario.title.is_empty(), "{path:?}");
        seen += 1;
    }
    assert!(seen >= 15, "{seen} scenarios");
}
