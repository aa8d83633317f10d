//! Behind a real Envoy with the filter: a server is killed and one added under write load, and then every key is looked at.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod support;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rudolph_cluster::{Cluster, ServerProgram};
use rudolph_replicated_store::client::Client;
use rudolph_workload::SplitMix64;
use serde_json::{Value, json};
use support::history::History;
use support::{PROGRAM, redis};

const SEED: u64 = 0xa49;
const WRITERS: u64 = 4;
const READERS: u64 = 3;
const KEYS_OF_A_WRITER: u64 = 40;

async fn gateway() -> Cluster {
    let mut arguments = Vec::new();
    if let Some(redis) = redis() {
        arguments = vec!["--redis".to_owned(), redis.display().to_string()];
    }
    Cluster::builder()
        .servers(3)
        .server_program(ServerProgram { file: PROGRAM.into(), arguments })
        .concurrency(2)
        .filter_field("key", json!([{ "path_segment": 2 }]))
        .filter_field("replicas", json!({ "count": 2 }))
        .start()
        .await
        .unwrap()
}

fn key(writer: u64, random: &mut SplitMix64) -> String {
    format!("w{writer}-{}", random.next_below(KEYS_OF_A_WRITER))
}

#[derive(Debug, Default)]
struct Seen {
    history: History,
    /// The last acknowledged write of each key, and those after it that may have happened.
    last: Mutex<BTreeMap<String, Vec<u64>>>,
    answered: AtomicU64,
    failed: AtomicU64,
}

impl Seen {
    fn count(&self, answered: bool) {
        let counter = if answered { &self.answered } else { &self.failed };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    fn write(&self, client: &mut Client, key: &str) {
        let mut value = 0;
        let acknowledged = self.history.write(key, |written| {
            value = written.parse().unwrap();
            client.put(key, None, written.as_bytes())
        });
        let mut last = self.last.lock().unwrap();
        let values = last.entry(key.to_owned()).or_default();
        if acknowledged {
            values.clear();
        }
        values.push(value);
        self.count(acknowledged);
    }
}

fn servers_status(servers: &[SocketAddr]) -> Vec<Value> {
    let status = |server: &SocketAddr| {
        let answer = Client::new(*server).ask("GET", "/status", None, &[]).ok()?;
        serde_json::from_slice(&answer.body).ok()
    };
    servers.iter().filter_map(status).collect()
}

async fn settled(servers: &[SocketAddr]) {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let all = servers_status(servers);
        let good = |status: &Value| {
            status["settled"] == true
                && status["servers"].as_array().map(Vec::len) == Some(servers.len())
        };
        if all.len() == servers.len() && all.iter().all(good) {
            return;
        }
        assert!(Instant::now() < deadline, "not settled: {all:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn no_acknowledged_write_is_lost_when_a_server_dies_and_one_comes() {
    let mut cluster = gateway().await;
    let envoy = cluster.envoy_address();
    settled(&cluster.server_addresses()).await;
    let (seen, stop) = (Seen::default(), AtomicBool::new(false));
    let (seen, stop) = (&seen, &stop);
    let added = std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let mut random = SplitMix64::for_purpose(SEED, writer);
                let mut client = Client::new(envoy);
                while !stop.load(Ordering::Relaxed) {
                    seen.write(&mut client, &key(writer, &mut random));
                }
            });
        }
        for reader in 0..READERS {
            scope.spawn(move || {
                let mut random = SplitMix64::for_purpose(SEED, 100 + reader);
                let mut client = Client::new(envoy);
                while !stop.load(Ordering::Relaxed) {
                    let key = key(random.next_below(WRITERS), &mut random);
                    seen.count(seen.history.read(&key, || client.get(&key, None)));
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
        }
        let changes = async {
            tokio::time::sleep(Duration::from_millis(700)).await;
            cluster.kill_server(1)?;
            tokio::time::sleep(Duration::from_millis(2_000)).await;
            let added = cluster.add_server().await?;
            tokio::time::sleep(Duration::from_millis(1_500)).await;
            Ok::<usize, rudolph_cluster::ClusterError>(added)
        };
        // The clients have threads of their own: this one may wait for the cluster.
        let changed = std::thread::scope(|inner| {
            inner
                .spawn(|| {
                    let runtime =
                        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                    runtime.block_on(changes)
                })
                .join()
        });
        stop.store(true, Ordering::Relaxed);
        changed.unwrap().unwrap()
    });
    let servers = cluster.server_addresses();
    let living = [servers[0], servers[2], servers[added]];
    settled(&living).await;
    let mut client = Client::new(envoy);
    let last = seen.last.lock().unwrap().clone();
    assert!(last.len() as u64 > WRITERS * KEYS_OF_A_WRITER / 2, "{} keys", last.len());
    for (key, values) in &last {
        let mut found = None;
        seen.history.read(key, || {
            let answer = client.get(key, None)?;
            found = Some(String::from_utf8_lossy(&answer.body).into_owned());
            Ok(answer)
        });
        let found = found.expect("it is answered");
        let allowed: Vec<String> = values.iter().map(u64::to_string).collect();
        assert!(allowed.contains(&found), "seed {SEED}, {key}: {found}, not one of {allowed:?}");
    }
    let events = seen.history.check(SEED);
    let (answered, failed) = (&seen.answered, &seen.failed);
    let (answered, failed) = (answered.load(Ordering::Relaxed), failed.load(Ordering::Relaxed));
    eprintln!("{events} events, {answered} answered, {failed} not");
    assert!(answered > 1_000 && failed * 10 < answered, "{answered} answered, {failed} not");
    let statuses = servers_status(&living);
    let new = statuses.iter().find(|status| status["address"] == servers[added].to_string());
    assert!(new.unwrap()["fetched"].as_u64() > Some(10), "{statuses:?}");
}

/// Spread sends a hot key to more servers than hold it; whoever answers, a client reads what it wrote.
#[tokio::test]
async fn a_client_reads_what_it_wrote_while_its_key_is_hot() {
    let cluster = gateway().await;
    let envoy = cluster.envoy_address();
    settled(&cluster.server_addresses()).await;
    let servers = cluster.server_addresses();
    tokio::task::spawn_blocking(move || {
        std::thread::scope(|scope| {
            for client in 0..4 {
                scope.spawn(move || {
                    let mut random = SplitMix64::for_purpose(SEED, client);
                    let mut connection = Client::new(envoy);
                    for round in 0..400 {
                        let (own, hot) = (format!("own-{client}"), "hot");
                        if random.next_below(4) == 0 {
                            let answer = connection.put(&own, None, round.to_string().as_bytes());
                            assert_eq!(answer.unwrap().status, 204);
                            let answer = connection.get(&own, None).unwrap();
                            assert_eq!(answer.body, round.to_string().into_bytes());
                        }
                        let answer = connection.get(hot, None).unwrap();
                        assert!(matches!(answer.status, 200 | 404), "{}", answer.status);
                        if client == 0 && round % 50 == 0 {
                            let value = format!("hot-{round}");
                            let answer = connection.put(hot, None, value.as_bytes());
                            assert_eq!(answer.unwrap().status, 204);
                            let answer = connection.get(hot, None).unwrap();
                            assert_eq!(String::from_utf8_lossy(&answer.body), value);
                        }
                    }
                });
            }
        });
    })
    .await
    .unwrap();
    let forwarded = |status: &Value| status["forwarded"].as_u64().unwrap_or(0);
    let forwarded: u64 = servers_status(&servers).iter().map(forwarded).sum();
    assert!(forwarded > 0, "no server but the replicas was ever asked for the hot key");
}
