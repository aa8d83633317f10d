//! Keys that count up, in ranges and in buckets.

mod common;

use common::rows;

const CONDITIONS: &str = "seeds = [1]\nwarmup_s = 2\nseconds = 5\narrivals = { clients = 20 }\n\
    servers = { count = 5, slots = 1, cache_keys = 500, hit_ms = 1.0, miss_ms = 3.0, sigma = 0.0 }\n";

fn written(strategies: &str, buckets: &str) -> Vec<rudolph_simulator::report::Row> {
    rows(&format!(
        "strategies = [{strategies}]\n{CONDITIONS}\
         workload = {{ read_fraction = 0.0, keys = {{ kind = \"sequential\", count = 50_000, first = 1_000_000{buckets} }} }}\n"
    ))
}

/// One server of one slot writes for 4 ms: 250 a second, however many stand by.
#[test]
fn new_keys_of_ranges_all_meet_the_last_server() {
    let rows = written("\"range\", \"spread\"", "");
    let (range, spread) = (&rows[0], &rows[1]);
    assert!((range.rps - 250.0).abs() < 2.0, "{range:?}");
    assert!((range.peak_over_mean - 5.0).abs() < 1e-9, "{range:?}");
    assert!(spread.rps > 3.0 * range.rps, "{spread:?}");
}

/// Without copies a bucket has one owner, so one bucket is one server; under `spread` the filter lends it more.
#[test]
fn a_bucket_is_what_gets_routed() {
    let one = &written("\"maglev\", \"spread\"", ", buckets = 1");
    assert!((one[0].rps - 250.0).abs() < 2.0, "{:?}", one[0]);
    assert!(one[1].rps > 4.0 * one[0].rps, "{:?}", one[1]);
    let many = &written("\"maglev\"", ", buckets = 1000");
    assert!(many[0].rps > 3.0 * one[0].rps, "{many:?}");
}

#[test]
fn a_write_takes_a_miss_and_is_neither_hit_nor_miss() {
    let row = &written("\"modulo\"", "")[0];
    assert!(row.p50_ms >= 4.0, "{row:?}");
    assert_eq!((row.hit_percent, row.database_reads_per_s), (0.0, 0.0), "{row:?}");
    // What was written is in the cache: one key, written and read again and again, is a miss at most once.
    let text = format!(
        "strategies = [\"modulo\"]\n{CONDITIONS}\
         workload = {{ read_fraction = 0.5, keys = {{ kind = \"uniform\", count = 100 }} }}\n"
    );
    let row = &rows(&text)[0];
    assert_eq!(row.hit_percent, 100.0, "{row:?}");
}

/// Keys that do not count up are as even in ranges as anywhere.
#[test]
fn ranges_are_even_over_all_keys() {
    let text = format!(
        "strategies = [\"range\"]\n{CONDITIONS}workload = {{ keys = {{ kind = \"uniform\", count = 10_000 }} }}\n"
    );
    let row = &rows(&text)[0];
    assert!(row.peak_over_mean < 1.2, "{row:?}");
}
