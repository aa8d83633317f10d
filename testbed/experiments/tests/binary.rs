//! The program and `make experiment`, as a user calls them.

#![allow(clippy::unwrap_used)] // helpers of tests are tests too

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

fn program(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rudolph-experiments")).args(arguments).output().unwrap()
}

fn refusal(arguments: &[&str]) -> String {
    let output = program(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    said
}

#[test]
fn what_cannot_run_is_refused_before_anything_starts() {
    let unknown = refusal(&["run", "fig5", "fig9"]);
    assert!(unknown.contains("no experiment \"fig9\"") && unknown.contains("rivals"), "{unknown}");
    let missing = refusal(&["run", "nowhere.toml"]);
    assert!(missing.contains("\"nowhere.toml\" cannot be read"), "{missing}");
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.toml");
    std::fs::write(&own, "title = 'x'").unwrap();
    let incomplete = refusal(&["run", own.to_str().unwrap()]);
    assert!(incomplete.contains("missing field `asks`"), "{incomplete}");
}

/// The real thing, short: Envoy, servers, load, and every file that is promised. Its figures mean nothing, so only what
/// holds on the busiest machine is asserted.
#[test]
fn a_quick_fig6a_leaves_all_that_is_promised() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut make = Command::new("make");
    // With the servers' program beside its own, which a test of the whole workspace has built, nothing is built again.
    let programs = Path::new(env!("CARGO_BIN_EXE_rudolph-experiments")).parent().unwrap();
    if programs.join("rudolph-app-server").is_file() {
        make.env("RUDOLPH_PROGRAMS", programs);
    }
    let output = make
        .args(["-s", "experiment", "NAME=fig6a", "QUICK=1"])
        .arg(format!("RESULTS={}", folder.path().display()))
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL")
        .current_dir(root)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("rotation, published"), "the published rows stand beside: {said}");
    let results = folder.path().join("fig6a");
    summary_is_sound(&results);
    for file in ["experiment.json", "table.md", "rps.svg", "p99_ms.svg", "rps-by-hit_percent.svg"] {
        assert!(size(&results.join(file)) > 500, "{file}");
    }
    assert!(std::fs::read(results.join("rps.png")).unwrap().starts_with(b"\x89PNG"));
    assert_eq!(lines(&results.join("runs.csv")), 1 + 4, "a head and four runs");
    // Five seconds of four runs, of five servers and of all together; a server may be idle at first.
    assert!(lines(&results.join("seconds.csv")) > 4 * 5 * 5);
    page_is_made(folder.path());
}

fn summary_is_sound(results: &Path) {
    let text = std::fs::read(results.join("summary.json")).unwrap();
    let rows: Vec<Value> = serde_json::from_slice(&text).unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["strategy"].as_str().unwrap()).collect();
    assert_eq!(names, ["round_robin", "static", "rotation", "spread"]);
    for row in &rows {
        let value = |name: &str| row[name].as_f64().unwrap();
        assert!(value("rps") > 50.0 && value("errors") == 0.0, "{row}");
        let quantiles = ["p50_ms", "p90_ms", "p99_ms", "p999_ms"].map(value);
        assert!(quantiles.is_sorted() && quantiles[0] >= 5.0, "a service takes 5 ms: {row}");
        assert!(value("mean_ms") >= 5.0 && value("mean_ms") <= quantiles[3], "{row}");
        assert!((10.0..100.0).contains(&value("hit_percent")), "{row}");
        assert!((1.0..5.0).contains(&value("peak_over_mean")), "{row}");
    }
    let of = |name: &str, field: &str| {
        let row = rows.iter().find(|row| row["strategy"] == name).unwrap();
        row[field].as_f64().unwrap()
    };
    // True at any speed: round robin sends everywhere and evenly, static hashing never moves a key.
    assert!(of("round_robin", "hit_percent") < of("static", "hit_percent") - 5.0, "{rows:?}");
    assert!(of("round_robin", "peak_over_mean") < of("static", "peak_over_mean"), "{rows:?}");
    assert_eq!(of("static", "moved_percent"), 0.0);
    assert!(of("round_robin", "moved_percent") > 50.0);
}

fn page_is_made(results: &Path) {
    let output = program(&["--results", results.to_str().unwrap(), "report"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = std::fs::read_to_string(results.join("report.html")).unwrap();
    assert!(page.contains("Misses free, closed loop") && page.contains("<svg"));
    assert!(page.contains("A quick run"), "the page says that its figures mean nothing");
}

fn size(path: &PathBuf) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).unwrap().lines().count()
}
