//! The stores, all standing at once, and the processor time of their parts.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rudolph_cluster::{Cluster, ClusterError, ServerProgram, cpu_time, own_cpu_time};
use rudolph_replicated_store::client::Client as HttpClient;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::Client;
use crate::contender::Contender;

const SHARDS: usize = 3;
const PATIENCE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);

#[derive(Debug, thiserror::Error)]
pub(crate) enum ServerError {
    #[error("{program:?} cannot be run: {source}")]
    Run { program: PathBuf, source: io::Error },
    #[error("there is no program {program:?}")]
    Missing { program: PathBuf },
    #[error("no answer at {address}")]
    Silent { address: SocketAddr },
    #[error("a folder or a port: {0}")]
    System(#[from] io::Error),
    #[error(transparent)]
    Cluster(#[from] ClusterError),
}

/// Every contender, ready.
#[derive(Debug)]
pub(crate) struct Servers {
    redis: Vec<Redis>,
    replicated: Cluster,
    uncached: Cluster,
}

/// Processor time so far, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) client: f64,
    pub(crate) envoy: f64,
    pub(crate) servers: f64,
    pub(crate) redis: f64,
}

#[derive(Debug)]
struct Redis {
    process: Child,
    address: SocketAddr,
    _folder: TempDir,
}

/// The settings of the Redis that each of our servers owns.
const SETTINGS: &str =
    "--bind 127.0.0.1 --appendonly yes --appendfsync everysec --daemonize no --save";

impl Servers {
    pub(crate) async fn start(
        redis: &Path,
        server: &Path,
        workers: u32,
    ) -> Result<Self, ServerError> {
        for program in [&*redis.join("redis-server"), server] {
            if !program.is_file() {
                return Err(ServerError::Missing { program: (*program).to_owned() });
            }
        }
        // The first stands alone, the others are the shards.
        let redis_alone_and_shards: Vec<Redis> =
            (0..=SHARDS).map(|_| Redis::start(redis)).collect::<Result<_, _>>()?;
        let replicated = replicated_store(redis, server, workers, &[]).await?;
        let uncached = replicated_store(redis, server, workers, &["--cache-entries", "0"]).await?;
        Ok(Self { redis: redis_alone_and_shards, replicated, uncached })
    }

    pub(crate) fn client(&self, contender: Contender) -> io::Result<Client> {
        let addresses: Vec<SocketAddr> = self.redis.iter().map(|redis| redis.address).collect();
        match contender {
            Contender::Redis => Client::of_redis(&addresses[..1]),
            Contender::Sharded => Client::of_redis(&addresses[1..]),
            Contender::Replicated => Ok(Client::Http(over(&self.replicated))),
            Contender::Uncached => Ok(Client::Http(over(&self.uncached))),
        }
    }

    pub(crate) fn spent(&self, contender: Contender) -> Spent {
        let client = own_cpu_time().as_secs_f64();
        let redis: Vec<u32> = self.redis.iter().map(|redis| redis.process.id()).collect();
        let sum = |pids: &[u32]| pids.iter().map(|pid| cpu_seconds(*pid)).sum();
        match contender {
            Contender::Redis => Spent { client, redis: sum(&redis[..1]), ..Spent::default() },
            Contender::Sharded => Spent { client, redis: sum(&redis[1..]), ..Spent::default() },
            Contender::Replicated => Spent { client, ..spent(&self.replicated) },
            Contender::Uncached => Spent { client, ..spent(&self.uncached) },
        }
    }
}

async fn replicated_store(
    redis: &Path,
    server: &Path,
    workers: u32,
    more: &[&str],
) -> Result<Cluster, ServerError> {
    let own = ["--redis".to_owned(), redis.display().to_string()];
    let arguments = own.into_iter().chain(more.iter().map(|text| (*text).to_owned())).collect();
    let cluster = Cluster::builder()
        .servers(SHARDS)
        .server_program(ServerProgram { file: server.to_owned(), arguments })
        .concurrency(workers)
        .filter_field("key", json!([{ "path_segment": 2 }]))
        .filter_field("replicas", json!({ "count": 2 }))
        // A third server of a hot key could only ask the two that have it.
        .filter_field("spread", json!({ "max_copies": 2 }))
        .bare()
        .start()
        .await?;
    for address in cluster.server_addresses() {
        wait_until_settled(address)?;
    }
    Ok(cluster)
}

fn over(cluster: &Cluster) -> HttpClient {
    HttpClient::new(cluster.envoy_address())
}

/// All but the client's.
fn spent(cluster: &Cluster) -> Spent {
    let servers: Vec<u32> = (0..SHARDS).filter_map(|i| cluster.server_pid(i)).collect();
    let sum = |pids: &[u32]| pids.iter().map(|pid| cpu_seconds(*pid)).sum();
    Spent {
        client: 0.0,
        envoy: cpu_seconds(cluster.envoy_pid()),
        servers: sum(&servers),
        redis: sum(&children(&servers)),
    }
}

impl Redis {
    fn start(programs: &Path) -> Result<Self, ServerError> {
        let folder = tempfile::tempdir()?;
        // Another process may take the port in between: then it does not answer, and that is said.
        let address = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?;
        let program = programs.join("redis-server");
        let mut command = Command::new(&program);
        command.args(SETTINGS.split_whitespace()).args(["", "--port", &address.port().to_string()]);
        command.arg("--dir").arg(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().map_err(|source| ServerError::Run { program, source })?;
        let redis = Self { process, address, _folder: folder };
        wait_until(address, || TcpStream::connect(address).is_ok())?;
        Ok(redis)
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

fn wait_until(address: SocketAddr, mut reached: impl FnMut() -> bool) -> Result<(), ServerError> {
    let deadline = Instant::now() + PATIENCE;
    while !reached() {
        if Instant::now() > deadline {
            return Err(ServerError::Silent { address });
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}

fn wait_until_settled(address: SocketAddr) -> Result<(), ServerError> {
    wait_until(address, || {
        let answer = HttpClient::new(address).ask("GET", "/status", None, &[]);
        let status: Value = answer
            .ok()
            .and_then(|answer| serde_json::from_slice(&answer.body).ok())
            .unwrap_or_default();
        let seen = status["servers"].as_array().map_or(0, Vec::len);
        status["settled"] == true && seen == SHARDS
    })
}

/// 0 for a process that is gone.
fn cpu_seconds(pid: u32) -> f64 {
    cpu_time(pid).map_or(0.0, |time| time.as_secs_f64())
}

fn children(parents: &[u32]) -> Vec<u32> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let pid = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let child = |pid: &u32| parent(*pid).is_some_and(|parent| parents.contains(&parent));
    processes.flatten().filter_map(pid).filter(child).collect()
}

/// Field 4; field 2, a name in parentheses, may hold spaces.
fn parent(pid: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}
