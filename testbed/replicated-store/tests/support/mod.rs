//! Real servers as processes, and what the tests ask of them.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

pub mod history;
pub mod register;
pub mod views;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rudolph_replicated_store::client::Client;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_rudolph-replicated-store");

/// Only a test that fails anyway waits so long.
const PATIENCE: Duration = Duration::from_secs(30);

/// The folder of redis-server, unless it is not installed.
pub fn redis() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let named = std::env::var_os("RUDOLPH_REDIS").map(PathBuf::from);
    let mut folders = named.into_iter().chain([root.join(".tools/redis"), "/usr/bin".into()]);
    folders.find(|folder| folder.join("redis-server").exists())
}

/// The stores that a test runs with.
pub fn stores() -> Vec<Option<PathBuf>> {
    let redis = redis();
    if redis.is_none() {
        eprintln!("SKIP Redis: no redis-server; scripts/setup.sh test gets it");
    }
    [None].into_iter().chain(redis.map(Some)).collect()
}

#[derive(Debug)]
pub struct Server {
    pub address: SocketAddr,
    process: Child,
    data: PathBuf,
}

impl Server {
    fn start(
        listen: SocketAddr,
        data: PathBuf,
        redis: Option<&Path>,
        peers: &[SocketAddr],
    ) -> Self {
        let mut command = Command::new(PROGRAM);
        command.arg("--listen").arg(listen.to_string()).arg("--data").arg(&data);
        command.args(redis.map(|folder| ["--redis".into(), folder.to_owned()]).iter().flatten());
        for peer in peers {
            command.arg("--peer").arg(peer.to_string());
        }
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").expect("it says where").parse();
        Self { address: address.unwrap(), process, data }
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    pub fn status(&self) -> Option<Value> {
        let answer = Client::new(self.address).ask("GET", "/status", None, &[]).ok()?;
        serde_json::from_slice(&answer.body).ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// Below the ports that Linux lends to connections: a server that was killed finds its port free.
fn free_address() -> SocketAddr {
    static HANDED_OUT: AtomicU32 = AtomicU32::new(0);
    loop {
        let step = HANDED_OUT.fetch_add(1, Ordering::Relaxed);
        let port = 10_000 + std::process::id().wrapping_mul(97).wrapping_add(step) % 5_000;
        let address = SocketAddr::from(([127, 0, 0, 1], port as u16));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}

/// Servers that know each other, without a gateway.
#[derive(Debug)]
pub struct Store {
    pub servers: BTreeMap<usize, Server>,
    gone: BTreeMap<usize, (SocketAddr, PathBuf)>,
    redis: Option<PathBuf>,
    folder: TempDir,
    started: usize,
}

impl Store {
    pub fn start(servers: usize, redis: Option<PathBuf>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut store =
            Self { servers: BTreeMap::new(), gone: BTreeMap::new(), redis, folder, started: 0 };
        for _ in 0..servers {
            store.add();
        }
        store.settle();
        store
    }

    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.servers.values().map(|server| server.address).collect()
    }

    pub fn add(&mut self) -> usize {
        let number = self.started;
        self.started += 1;
        let data = self.folder.path().join(number.to_string());
        let server = Server::start(free_address(), data, self.redis.as_deref(), &self.addresses());
        self.servers.insert(number, server);
        number
    }

    /// SIGKILL, as a crash would do.
    pub fn kill(&mut self, number: usize) {
        let server = self.servers.remove(&number).unwrap();
        self.gone.insert(number, (server.address, server.data.clone()));
    }

    /// On its old port, with its old data.
    pub fn restart(&mut self, number: usize) {
        let (address, data) = self.gone.remove(&number).unwrap();
        let server = Server::start(address, data, self.redis.as_deref(), &self.addresses());
        self.servers.insert(number, server);
    }

    /// Waits until each has all that belongs to it among those that live.
    pub fn settle(&self) {
        let mut expected = self.addresses();
        expected.sort_unstable();
        let expected: Vec<String> = expected.iter().map(SocketAddr::to_string).collect();
        let deadline = Instant::now() + PATIENCE;
        for server in self.servers.values() {
            loop {
                let status = server.status().unwrap_or_default();
                if status["settled"] == true && status["servers"] == serde_json::json!(expected) {
                    break;
                }
                assert!(Instant::now() < deadline, "{expected:?} never settled: {status}");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}
