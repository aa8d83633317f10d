//! As many connections and workers as a large gateway has, on one Envoy: does every request find its server?

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rudolph_cluster::{Cluster, StubServers};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::Serialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::{ReliabilityError, linear_memory};

#[derive(Clone, Debug, Serialize)]
pub struct Options {
    pub connections: usize,
    pub workers: u32,
    /// Requests on each connection.
    pub rounds: usize,
    #[serde(skip)]
    pub module: PathBuf,
}

/// What a run saw.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    pub options: Options,
    /// Fewer than asked for if the system does not allow more.
    pub connections: usize,
    pub open_at_once: u64,
    pub requests: usize,
    /// Answers other than 200, and connections that broke.
    pub failed: BTreeMap<String, usize>,
    pub took_s: f64,
    /// Members of the filter's agreement: the workers and the main thread.
    pub members: u64,
    /// By outcome, as the filter counted.
    pub routed: BTreeMap<String, u64>,
    pub resident_bytes: u64,
    pub largest_vm_bytes: u64,
    pub vm_bytes: u64,
}

impl Outcome {
    /// One line for each thing that is wrong; empty is good.
    #[must_use]
    pub fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut check = |holds: bool, what: String| {
            if !holds {
                wrong.push(what);
            }
        };
        let sent = self.connections * self.options.rounds;
        check(self.failed.is_empty(), format!("failed: {:?}", self.failed));
        check(self.requests == sent, format!("{} of {sent} answered", self.requests));
        let open = self.open_at_once;
        check(
            open >= self.connections as u64,
            format!("only {open} connections were open at once"),
        );
        let members = u64::from(self.options.workers) + 1;
        check(self.members == members, format!("{} of {members} members agree", self.members));
        let named: u64 =
            ["owner", "spread", "spilled"].iter().filter_map(|name| self.routed.get(*name)).sum();
        check(
            named >= sent as u64,
            format!("{named} of {sent} requests had an owner: {:?}", self.routed),
        );
        wrong
    }
}

const SERVERS: usize = 5;
/// Requests under way at a time: the connections are many, the load is not.
const UNDER_WAY: usize = 200;
/// Files of this process besides the connections: servers' ends, logs, the runtime.
const OTHER_FILES: u64 = 4_000;
const PATIENCE: Duration = Duration::from_secs(120);

/// Raises the soft limit on open files to the hard one, and returns how many connections fit below it.
#[must_use]
pub fn most_connections() -> usize {
    let limit = getrlimit(Resource::Nofile);
    // Refused only where the hard limit changed meanwhile; then what holds now counts.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(files.saturating_sub(OTHER_FILES)).unwrap_or(usize::MAX)
}

pub async fn run(
    options: &Options,
    mut told: impl FnMut(&str),
) -> Result<Outcome, ReliabilityError> {
    let connections = options.connections.min(most_connections());
    if connections < options.connections {
        told(&format!("the system's limit on open files leaves {connections} connections"));
    }
    let servers = StubServers::start(SERVERS).await;
    let none = SocketAddr::from(([127, 0, 0, 1], 0));
    let servers = servers.map_err(|source| ReliabilityError::Network { address: none, source })?;
    let cluster = start(options, servers.addresses().to_vec()).await?;
    told(&format!("{} workers agree", options.workers));
    let mut asked = Asked::default();
    let started = Instant::now();
    let mut clients = connect(cluster.envoy_address(), connections).await;
    told(&format!("{} connections are open", clients.len()));
    for round in 0..options.rounds {
        asked.requests += ask_all(&mut clients, round, &mut asked.failed).await;
        let stats = cluster.stats().await?;
        let open = stats.get("http.gateway.downstream_cx_active").copied().unwrap_or(0);
        asked.open_at_once = asked.open_at_once.max(open);
        told(&format!("round {} of {}: {} answers", round + 1, options.rounds, asked.requests));
    }
    outcome(options, connections, asked, started.elapsed(), &cluster).await
}

async fn start(options: &Options, servers: Vec<SocketAddr>) -> Result<Cluster, ReliabilityError> {
    let builder = Cluster::builder().external_servers(servers).concurrency(options.workers);
    let mut cluster = builder.module(&options.module).patience(PATIENCE).start().await?;
    let members = u64::from(options.workers) + 1;
    cluster
        .wait_for_stats("every worker's part in the plan", PATIENCE, |stats| {
            stats.get("wasmcustom.rudolph.workers") == Some(&members)
        })
        .await?;
    Ok(cluster)
}

/// What the clients saw.
#[derive(Debug, Default)]
struct Asked {
    requests: usize,
    failed: BTreeMap<String, usize>,
    open_at_once: u64,
}

async fn outcome(
    options: &Options,
    connections: usize,
    asked: Asked,
    took: Duration,
    cluster: &Cluster,
) -> Result<Outcome, ReliabilityError> {
    let vms = linear_memory::of_process(cluster.envoy_pid())?;
    let resident_bytes = cluster.envoy_resident_bytes()?;
    // Workers tell once a tick.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let stats = cluster.filter_stats().await?;
    let routed = |(name, count): (&String, &u64)| {
        Some((name.strip_prefix("rudolph.requests.")?.to_owned(), *count))
    };
    Ok(Outcome {
        options: options.clone(),
        connections,
        open_at_once: asked.open_at_once,
        requests: asked.requests,
        failed: asked.failed,
        took_s: took.as_secs_f64(),
        members: stats.get("rudolph.workers").copied().unwrap_or(0),
        routed: stats.iter().filter_map(routed).collect(),
        resident_bytes,
        largest_vm_bytes: vms.iter().copied().max().unwrap_or(0),
        vm_bytes: vms.iter().sum(),
    })
}

/// A connection, or why there is none.
type Client = Result<TcpStream, String>;

async fn connect(gateway: SocketAddr, count: usize) -> Vec<Client> {
    let mut clients = Vec::with_capacity(count);
    for _ in 0..count {
        let connected = TcpStream::connect(gateway).await;
        clients.push(connected.map_err(|error| format!("connect: {}", error.kind())));
    }
    clients
}

/// One request on each connection. Returns how many were answered well.
async fn ask_all(
    clients: &mut Vec<Client>,
    round: usize,
    failed: &mut BTreeMap<String, usize>,
) -> usize {
    let gate = Arc::new(Semaphore::new(UNDER_WAY));
    let mut asked = JoinSet::new();
    for (number, client) in clients.drain(..).enumerate() {
        let gate = Arc::clone(&gate);
        asked.spawn(async move {
            // It is never closed.
            let _turn = gate.acquire_owned().await;
            ask(client?, &format!("{round}-{number}")).await
        });
    }
    let mut kept = Vec::new();
    let mut answered = 0;
    while let Some(joined) = asked.join_next().await {
        let client = joined.unwrap_or_else(|error| Err(error.to_string()));
        match &client {
            Ok(_) => answered += 1,
            Err(reason) => *failed.entry(reason.clone()).or_default() += 1,
        }
        kept.push(client);
    }
    *clients = kept;
    answered
}

/// The connection again if the answer was 200.
async fn ask(mut stream: TcpStream, key: &str) -> Client {
    let request = format!("GET / HTTP/1.1\r\nhost: limits\r\nx-key: {key}\r\n\r\n");
    let broken = |error: std::io::Error| error.kind().to_string();
    stream.write_all(request.as_bytes()).await.map_err(broken)?;
    let mut answer = Vec::with_capacity(512);
    while !is_whole(&answer) {
        if stream.read_buf(&mut answer).await.map_err(broken)? == 0 {
            return Err("closed".to_owned());
        }
    }
    let status = answer.get(9..12).unwrap_or_default();
    if status == b"200" { Ok(stream) } else { Err(String::from_utf8_lossy(status).into_owned()) }
}

/// The stubs' answers, and Envoy's own, say how long their bodies are.
fn is_whole(answer: &[u8]) -> bool {
    let Some(head) = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
        return false;
    };
    let text = String::from_utf8_lossy(&answer[..head]);
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length = length.and_then(|length| length.parse().ok()).unwrap_or(0);
    answer.len() >= head + 4 + length
}
