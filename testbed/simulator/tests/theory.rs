//! Against formulas: what must come out if time, queues and noise are right.

mod common;

use common::rows;

/// Pollaczek and Khinchine: the mean wait of one slot with Poisson arrivals and any service.
#[test]
fn one_slot_waits_as_long_as_the_formula_says() {
    for (sigma, load) in [(0.0, 0.5), (0.5, 0.7), (1.0, 0.5)] {
        let text = format!(
            "strategies = [\"modulo\"]\nseeds = [1, 2, 3, 4]\nwarmup_s = 10\nseconds = 200\n\
             arrivals = {{ open_rps = {} }}\n[servers]\ncount = 1\nslots = 1\ncache_keys = 1\nsigma = {sigma}\n\
             [workload]\nkeys = {{ kind = \"uniform\", count = 1 }}\n",
            load * 1000.0
        );
        let second_moment = f64::exp(sigma * sigma);
        let expected_ms = 1.0 + load * second_moment / (2.0 * (1.0 - load));
        let found = rows(&text)[0].mean_ms;
        let off = found / expected_ms - 1.0;
        assert!(off.abs() < 0.02, "sigma {sigma}, load {load}: {found} for {expected_ms}");
    }
}

/// Little: requests in the system = rate * time, and in a closed loop that is the number of clients.
#[test]
fn clients_are_rate_times_time() {
    let text = "strategies = [\"modulo\", \"spread\", \"bound\", \"round_robin\"]\nseeds = [9]\n\
        warmup_s = 2\nseconds = 20\narrivals = { clients = 48 }\nservers = { cache_keys = 10_000 }\n";
    for row in rows(text) {
        let inside = row.rps * row.mean_ms / 1000.0;
        assert!((inside / 48.0 - 1.0).abs() < 0.01, "{inside} inside: {row:?}");
    }
}

/// Every slot always busy: capacity is slots over the mean service time, speeds counted.
#[test]
fn busy_slots_give_their_capacity() {
    let text = "strategies = [\"bound\"]\nseeds = [9]\nwarmup_s = 1\nseconds = 20\narrivals = { clients = 200 }\n\
        [servers]\ncount = 3\nslots = 4\ncache_keys = 10\nslow = [{ server = 1, speed = 0.5 }]\n\
        [workload]\nkeys = { kind = \"uniform\", count = 10 }\n";
    let rps = rows(text)[0].rps;
    assert!((rps / 10_000.0 - 1.0).abs() < 0.01, "{rps} for 10,000");
}

/// Keys at random and a cache for a part of them: that part hits, however LRU chooses.
#[test]
fn uniform_keys_hit_by_the_share_that_is_cached() {
    let text = "strategies = [\"modulo\", \"round_robin\", \"bound\"]\nseeds = [9]\nwarmup_s = 20\nseconds = 20\n\
        arrivals = { open_rps = 2000 }\nservers = { count = 4, cache_keys = 500 }\n\
        workload = { keys = { kind = \"uniform\", count = 5000 } }\n";
    let expected = [40.0, 10.0, 40.0];
    for (row, expected) in rows(text).iter().zip(expected) {
        assert!((row.hit_percent - expected).abs() < 1.5, "{expected} expected: {row:?}");
    }
}
