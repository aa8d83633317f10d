//! The clients that people use: redis-cli, redis-benchmark and pymemcache. A client that is not installed is skipped
//! by name; `scripts/setup.sh test` gets them.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests may fail them

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use rudolph_shared_nothing::{Limits, Protocol, Server};
use support::{SHAPES, address, start};

/// The folder that `variable` names, else the first of `places` from the workspace's root that is there.
fn installed(variable: &str, places: &[&str], holds: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let named = std::env::var_os(variable).map(PathBuf::from);
    let mut folders = named.into_iter().chain(places.iter().map(|place| root.join(place)));
    folders.find(|folder| folder.join(holds).exists())
}

fn redis_tools() -> Option<PathBuf> {
    installed("RUDOLPH_REDIS", &[".tools/redis", "/usr/bin"], "redis-benchmark")
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

fn port(server: &Server, protocol: Protocol) -> String {
    address(server, protocol).port().to_string()
}

#[test]
fn redis_cli() {
    let Some(tools) = redis_tools() else {
        eprintln!("SKIP redis_cli: no redis-cli; scripts/setup.sh test gets it");
        return;
    };
    for shape in SHAPES {
        let server = start(shape, Limits::default());
        let cli = |words: &[&str]| {
            let mut command = Command::new(tools.join("redis-cli"));
            output(command.args(["-p", &port(&server, Protocol::Redis)]).args(words))
        };
        assert_eq!(cli(&["PING"]), "PONG\n");
        assert_eq!(cli(&["SET", "greeting", "hello you"]), "OK\n");
        assert_eq!(cli(&["GET", "greeting"]), "hello you\n");
        assert_eq!(cli(&["GET", "nothing"]), "\n");
        assert_eq!(cli(&["MGET", "greeting", "nothing", "greeting"]), "hello you\n\nhello you\n");
        assert_eq!(cli(&["DEBUG", "POPULATE", "500"]), "OK\n");
        assert_eq!(cli(&["DBSIZE"]), "501\n");
        assert!(cli(&["FLY"]).starts_with("ERR unknown command 'FLY'"));
    }
}

#[test]
fn redis_benchmark() {
    let Some(tools) = redis_tools() else {
        eprintln!("SKIP redis_benchmark: no redis-benchmark; scripts/setup.sh test gets it");
        return;
    };
    for shape in SHAPES {
        let server = start(shape, Limits::default());
        for pipeline in ["1", "10", "300"] {
            let mut command = Command::new(tools.join("redis-benchmark"));
            command.args(["-p", &port(&server, Protocol::Redis), "-P", pipeline, "--csv"]);
            command.args([
                "-n",
                "3000",
                "-c",
                "20",
                "-r",
                "1000",
                "-t",
                "ping,set,get",
                "-d",
                "100",
            ]);
            let said = output(&mut command);
            for test in ["PING_INLINE", "PING_MBULK", "SET", "GET"] {
                assert!(said.contains(&format!("\"{test}\",")), "{shape:?}: {said}");
            }
            assert!(!said.to_lowercase().contains("error"), "{said}");
        }
    }
}

const PYTHON: &str = r#"
import sys
from pymemcache.client.base import Client
from pymemcache.exceptions import MemcacheServerError

client = Client(("127.0.0.1", int(sys.argv[1])), default_noreply=False, timeout=20)
value = bytes(range(256)) * 100 + b"\r\nEND\r\n"
assert client.set("binary", value, flags=7)
assert client.get("binary") == value
assert client.get("nothing") is None
for i in range(200):
    assert client.set(f"key{i}", f"value{i}", noreply=(i % 2 == 0))
keys = [f"key{i}" for i in range(0, 200, 7)] + ["missing"]
assert client.get_many(keys) == {f"key{i}": f"value{i}".encode() for i in range(0, 200, 7)}
try:
    client.set("large", b"x" * (2 << 20))
    raise SystemExit("a large value was taken")
except MemcacheServerError as error:
    assert b"too large" in error.args[0], error
assert client.get("binary") == value
assert client.stats()[b"curr_items"] == 201, client.stats()
print(client.version().decode())
client.quit()
"#;

#[test]
fn pymemcache() {
    let mut folders = vec![".tools/pymemcache".to_owned()];
    folders.extend((9..20).map(|n| format!(".tools/pymemcache/lib/python3.{n}/site-packages")));
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    let Some(packages) = installed("RUDOLPH_PYMEMCACHE", &folders, "pymemcache") else {
        eprintln!("SKIP pymemcache: it is not installed; scripts/setup.sh test gets it");
        return;
    };
    for shape in SHAPES {
        let server = start(shape, Limits::default());
        let mut command = Command::new("python3");
        command.env("PYTHONPATH", &packages).args(["-c", PYTHON]);
        let said = output(command.arg(port(&server, Protocol::Memcached)));
        assert_eq!(said.trim(), env!("CARGO_PKG_VERSION"), "{shape:?}");
    }
}
