//! The whole experiment in its short form, with a real Redis.

use std::path::{Path, PathBuf};
use std::process::Command;

fn redis() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let named = std::env::var_os("RUDOLPH_REDIS").map(PathBuf::from);
    let mut folders = named.into_iter().chain([root.join(".tools/redis"), "/usr/bin".into()]);
    folders.find(|folder| {
        ["redis-server", "redis-benchmark"].iter().all(|name| folder.join(name).exists())
    })
}

#[test]
fn the_quick_form_measures_every_server_and_writes_every_file() {
    let experiment = Path::new(env!("CARGO_BIN_EXE_rudolph-shared-nothing-experiment"));
    let server = experiment.with_file_name("rudolph-shared-nothing");
    let Some(redis) = redis() else {
        eprintln!("SKIP: no redis-server and redis-benchmark; scripts/setup.sh test gets them");
        return;
    };
    if !server.exists() {
        eprintln!("SKIP: rudolph-shared-nothing is not built; cargo test --workspace builds it");
        return;
    }
    let results = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shared-nothing-results");
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
    let read = |name: &str| std::fs::read(results.join("shared-nothing").join(name)).unwrap();
    let runs = String::from_utf8(read("runs.csv")).unwrap();
    assert_eq!(runs.lines().count(), 1 + 7 * 5, "{runs}");
    let page = String::from_utf8(read("table.md")).unwrap();
    assert!(page.contains("A quick run") && page.contains("| mutex@4"), "{page}");
    assert!(String::from_utf8(read("summary.json")).unwrap().contains("\"shared_nothing@2\""));
    assert!(read("pooling.png").starts_with(b"\x89PNG"));
}

#[test]
fn a_missing_redis_is_named() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rudolph-shared-nothing-experiment"));
    let output = command.args(["--redis", "/nowhere", "--server", "/nowhere"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        said,
        "rudolph-shared-nothing-experiment: there is no program \"/nowhere/redis-server\"\n"
    );
}
