//! The experiment `sequential`, short and real: Envoy, servers, writes, scans, and every file that is promised. Its figures
//! mean nothing, so only what holds on the busiest machine is asserted.

#![allow(clippy::unwrap_used)] // helpers of tests are tests too

use std::{path::Path, process::Command};

use rudolph_experiments::sequential::{Place, Placement, again};
use serde_json::Value;

#[test]
fn a_quick_run_leaves_all_that_is_promised() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_rudolph-experiments"))
        .args(["--results", folder.path().to_str().unwrap(), "run", "--quick", "sequential"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("writes/s offered"), "progress is told: {said}");
    let results = folder.path().join("sequential");
    summary_is_sound(&results);
    for file in ["table.md", "experiment.json", "probes.csv", "writes.svg", "scans-50-rate.svg"] {
        assert!(std::fs::metadata(results.join(file)).unwrap().len() > 300, "{file}");
    }
    assert!(std::fs::read(results.join("writes.png")).unwrap().starts_with(b"\x89PNG"));
    what_is_kept_is_enough_to_make_it_again(&results);
    let page = Command::new(env!("CARGO_BIN_EXE_rudolph-experiments"))
        .args(["--results", folder.path().to_str().unwrap(), "report"])
        .output()
        .unwrap();
    assert!(page.status.success(), "{}", String::from_utf8_lossy(&page.stderr));
    let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("the price of a range scan") && page.contains("A quick run"));
}

fn summary_is_sound(results: &Path) {
    let text = std::fs::read(results.join("summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&text).unwrap();
    let of = |strategy: &str, place: &str| {
        let rows = summary["rows"].as_array().unwrap().iter();
        let own = rows.filter(move |row| row["strategy"] == strategy && row["place"] == place);
        own.map(|row| (row["rps"].as_f64().unwrap(), row["busiest_percent"].as_f64().unwrap()))
            .collect::<Vec<_>>()
    };
    // Virtual time knows no busy machine: five and ten servers, ranges at one of them.
    let (range, hash) = (of("range", "simulator"), of("hash_10", "simulator"));
    assert_eq!((range.len(), hash.len()), (2, 2));
    assert!(range.iter().all(|(rps, busiest)| *rps < 250.0 && *busiest > 99.9), "{range:?}");
    assert!(hash[1].0 > 1.5 * hash[0].0 && hash[0].1 < 30.0, "{hash:?}");
    // Real Envoy sends every new key of a range to one server too, at any speed.
    let (range, hash) = (of("range", "envoy"), of("hash_10", "envoy"));
    assert_eq!((range.len(), hash.len()), (1, 1));
    assert!(range.iter().all(|(rps, busiest)| *rps == 0.0 || *busiest > 99.9), "{range:?}");
    assert!(hash.iter().all(|(rps, busiest)| *rps == 0.0 || *busiest < 90.0), "{hash:?}");
    let scans = summary["scans"].as_array().unwrap();
    let requests = |layout: &str| {
        let row = scans.iter().find(|row| row["layout"] == layout).unwrap();
        assert!(row["scans"].as_u64().unwrap() > 0, "{row}");
        row["requests_a_scan"].as_f64().unwrap()
    };
    assert_eq!(requests("10"), 10.0, "every bucket is asked");
    assert!((1.0..=2.0).contains(&requests("range")), "{scans:?}");
}

fn what_is_kept_is_enough_to_make_it_again(results: &Path) {
    let before = std::fs::read(results.join("summary.json")).unwrap();
    let outcome = again(results).unwrap();
    assert_eq!(std::fs::read(results.join("summary.json")).unwrap(), before);
    let real = outcome.rows.iter().filter(|row| row.place == Place::Envoy);
    assert_eq!(real.filter(|row| row.strategy == Placement::Range).count(), 1);
}
