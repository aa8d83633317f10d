//! The whole experiment in its short form, with real Redis and a real Envoy.

use std::path::{Path, PathBuf};
use std::process::Command;

fn redis() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let named = std::env::var_os("RUDOLPH_REDIS").map(PathBuf::from);
    let mut folders = named.into_iter().chain([root.join(".tools/redis"), "/usr/bin".into()]);
    folders.find(|folder| folder.join("redis-server").exists())
}

#[test]
fn the_quick_form_measures_every_store_and_writes_every_file() {
    let experiment = Path::new(env!("CARGO_BIN_EXE_rudolph-replicated-store-experiment"));
    let server = experiment.with_file_name("rudolph-replicated-store");
    let Some(redis) = redis() else {
        eprintln!("SKIP: no redis-server; scripts/setup.sh test gets it");
        return;
    };
    if !server.exists() {
        eprintln!("SKIP: rudolph-replicated-store is not built; cargo test --workspace builds it");
        return;
    }
    let results = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replicated-store-results");
    _ = std::fs::remove_dir_all(&results);
    let output = Command::new(experiment)
        .arg("--quick")
        .arg("--redis")
        .arg(redis)
        .arg("--server")
        .arg(server)
        .arg("--results")
        .arg(&results)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| std::fs::read(results.join("arpeggio").join(name)).unwrap();
    let runs = String::from_utf8(read("runs.csv")).unwrap();
    assert_eq!(runs.lines().count(), 1 + 4 * 2 * 4 * 2, "{runs}");
    for run in runs.lines().skip(1) {
        let client_us: f64 = run.split(',').nth(8).unwrap().parse().unwrap();
        assert!(client_us > 0.0, "who asked took no time: {run}");
    }
    let page = String::from_utf8(read("table.md")).unwrap();
    assert!(page.contains("A quick run") && page.contains("Table III"), "{page}");
    assert!(page.contains("| rudolph_replicated") && page.contains("464"), "{page}");
    assert!(String::from_utf8(read("summary.json")).unwrap().contains("\"redis_sharded\""));
    assert!(read("gets.png").starts_with(b"\x89PNG"));
}

#[test]
fn a_missing_redis_is_named() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rudolph-replicated-store-experiment"));
    let output = command.args(["--redis", "/nowhere", "--server", "/nowhere"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.ends_with("there is no program \"/nowhere/redis-server\"\n"), "{said}");
}
