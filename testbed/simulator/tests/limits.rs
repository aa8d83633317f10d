//! The ends of the scale: what must hold whatever the strategy.

mod common;

use common::rows;

const ALL: &str = r#"strategies = ["spread", "pin", "rotation", "lpt", "static", "modulo", "ring_hash", "maglev",
    "ring_hash_bounded_150", "maglev_bounded_150", "round_robin", "least_request", "jump", "bound"]"#;

#[test]
fn one_server_is_the_same_for_all() {
    let text = format!(
        "{ALL}\nseeds = [7]\nwarmup_s = 2\nseconds = 5\narrivals = {{ open_rps = 400 }}\n\
         [servers]\ncount = 1\ncache_keys = 50_000\n"
    );
    let rows = rows(&text);
    for row in &rows {
        assert!((row.rps - 400.0).abs() < 40.0, "{row:?}");
        assert_eq!(row.errors, 0, "{row:?}");
        assert!((row.peak_over_mean - 1.0).abs() < 1e-9, "{row:?}");
        assert!((row.p99_ms - rows[0].p99_ms).abs() < 1e-9, "{row:?} against {:?}", rows[0]);
        assert!((row.hit_percent - rows[0].hit_percent).abs() < 1e-9, "{row:?}");
    }
}

/// One key: hashing is as fast as one server, and copies are as fast as all.
#[test]
fn one_key_has_one_server_or_all() {
    let text = format!(
        "{ALL}\nseeds = [3]\nwarmup_s = 3\nseconds = 5\narrivals = {{ clients = 64 }}\n\
         workload = {{ keys = {{ kind = \"uniform\", count = 1 }} }}\n"
    );
    for row in rows(&text) {
        let servers = match row.strategy.as_str() {
            "spread" | "round_robin" | "least_request" | "bound" => 5.0,
            name if name.contains("_bounded_") => continue,
            _ => 1.0,
        };
        let expected = servers * 4.0 / 0.001;
        assert!((row.rps / expected - 1.0).abs() < 0.03, "{expected} expected, {row:?}");
    }
}

#[test]
fn zero_load_is_nothing() {
    for arrivals in ["{ open_rps = 0 }", "{ clients = 0 }"] {
        let text =
            format!("{ALL}\nseeds = [1]\nwarmup_s = 1\nseconds = 2\narrivals = {arrivals}\n");
        for row in rows(&text) {
            assert_eq!((row.rps, row.p99_ms, row.hit_percent), (0.0, 0.0, 0.0), "{row:?}");
            assert_eq!((row.errors, row.unfinished), (0, 0.0), "{row:?}");
        }
    }
}

/// A server that gets twice what it can do does what it can, and the rest waits.
#[test]
fn overload_is_served_at_capacity() {
    let text = "strategies = [\"spread\", \"modulo\", \"bound\"]\nseeds = [2]\nwarmup_s = 2\nseconds = 5\n\
         arrivals = { open_rps = 8000 }\nservers = { count = 1, cache_keys = 10 }\n\
         workload = { keys = { kind = \"uniform\", count = 10 } }\n";
    for row in rows(text) {
        assert!((row.rps / 4000.0 - 1.0).abs() < 0.03, "{row:?}");
        assert!(row.unfinished > 20_000.0 && row.p99_ms > 2_000.0, "{row:?}");
    }
}

#[test]
fn all_servers_down_are_errors_and_no_end() {
    let mut events = String::new();
    for server in 0..5 {
        events += &format!("[[events]]\nat_s = 4\nserver = {server}\nchange = \"down\"\n");
    }
    for arrivals in ["{ open_rps = 1000 }", "{ clients = 8 }"] {
        let text = format!(
            "{ALL}\nseeds = [4]\nwarmup_s = 5.5\nseconds = 3\narrivals = {arrivals}\n{events}"
        );
        for row in rows(&text) {
            // The bound has no gateways, so its requests wait for a server; all others fail.
            let waits = row.strategy == "bound";
            assert!(row.rps == 0.0 && (waits || row.errors > 200), "{arrivals}: {row:?}");
        }
    }
}

/// Until its loss is known a server is tried in vain. The filter names owners to go on to; rivals draw again and may
/// draw it again, so a few of their requests fail.
#[test]
fn a_lost_server_comes_back_and_the_filter_loses_no_request() {
    let text = format!(
        "{ALL}\nseeds = [5]\nwarmup_s = 3\nseconds = 12\narrivals = {{ open_rps = 4000 }}\n\
         [[events]]\nat_s = 5\nserver = 0\nchange = \"down\"\n\
         [[events]]\nat_s = 9\nserver = 0\nchange = \"up\"\n"
    );
    for (i, row) in rows(&text).iter().enumerate() {
        assert!((row.rps / 4000.0 - 1.0).abs() < 0.02 && row.errors < 1000, "{row:?}");
        assert!(i >= 5 || (row.errors == 0 && row.retries > 0), "{row:?}");
        assert!(row.strategy != "bound" || row.errors == 0, "{row:?}");
    }
}
