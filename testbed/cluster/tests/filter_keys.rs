//! Where keys come from, and what keys may look like.

mod common;

use common::client::{Connection, Request, ask};
use common::{
    Failure, Stats, before_stubs, keys, load, requests, seed, start, wait_for_filter,
    without_copies,
};
use rudolph_cluster::{Cluster, StubServers};
use rudolph_load_generator::LoadRun;
use rudolph_workload::KeySpec;
use serde_json::json;

/// What V8, Envoy or the module write when a call into the module ends in a trap.
const TRAPS: [&str; 4] = ["Function: proxy_", "Uncaught RuntimeError", "panicked at", "VM failed"];

fn nothing_trapped(cluster: &Cluster) -> Result<(), Failure> {
    let log = cluster.envoy_log()?;
    for trap in TRAPS {
        assert!(!log.contains(trap), "{log}");
    }
    Ok(())
}

#[tokio::test]
async fn a_request_without_a_key_is_served_by_the_fallback_and_counted() -> Result<(), Failure> {
    let stubs = StubServers::start_echoing(3).await?;
    let cluster = start(before_stubs(&stubs)).await?;
    let owned = cluster.filter_stats().await?["rudolph.requests.owner"];
    let mut connections = Connection::open_many(cluster.envoy_address(), 10).await?;
    let keyless =
        [Request::get("/"), Request::get("/kv/a?x-key=b"), Request::get("/").header("x-key", "")];
    for connection in &mut connections {
        for request in &keyless {
            let response = connection.send(request).await?;
            assert_eq!(response.status, 200, "{response:?}");
            assert_eq!(response.header("x-rudolph-debug"), Some("reason=no_key"));
        }
    }
    wait_for_filter(&cluster, "30 counted", |stats| stats["rudolph.requests.no_key"] >= 30).await?;
    let stats = cluster.filter_stats().await?;
    assert_eq!(stats["rudolph.requests.no_key"], 30);
    assert_eq!(stats["rudolph.requests.owner"], owned);
    Ok(())
}

/// One key, found in five places, is one key.
#[tokio::test]
async fn a_key_is_the_same_wherever_it_is_found() -> Result<(), Failure> {
    let stubs = StubServers::start_echoing(5).await?;
    let sources = json!([
        { "header": "X-User" },
        { "cookie": "session" },
        { "query_parameter": "user" },
        { "path_segment": 2 },
    ]);
    let cluster = start(without_copies(before_stubs(&stubs).filter_field("key", sources))).await?;
    let gateway = cluster.envoy_address();
    for key in keys(seed(), 10) {
        let first = ask(gateway, &Request::get("/").header("x-user", &key)).await?;
        let (server, bin) = (first.server()?, first.decision()?.bin);
        let same = [
            Request::get("/").header("x-USER", &key).header("cookie", "session=other"),
            Request::get("/").header("cookie", format!("a=b; session={key}; c=d")),
            Request::get("/").header("cookie", format!("session=\"{key}\"")),
            Request::get(&format!("/any?a=b&user={key}&c=d")),
            Request::get(&format!("/users/{key}/cart?user=")),
            Request::get(&format!("/users/{key}")).header("cookie", "sessions=other"),
        ];
        for request in same {
            let response = ask(gateway, &request).await?;
            assert_eq!(response.decision()?.bin, bin, "{request:?}");
            assert_eq!(response.server()?, server, "{request:?}");
        }
    }
    let none = ask(gateway, &Request::get("/users")).await?;
    assert_eq!(none.header("x-rudolph-debug"), Some("reason=no_key"));
    Ok(())
}

#[tokio::test]
async fn the_authority_and_the_whole_path_are_keys_too() -> Result<(), Failure> {
    let stubs = StubServers::start_echoing(5).await?;
    for (source, request, same, other) in [
        (
            json!(["authority"]),
            Request::get("/a").host("tenant-1.example"),
            Request::get("/b?c").host("tenant-1.example"),
            Request::get("/a").host("tenant-2.example"),
        ),
        (
            json!(["path"]),
            Request::get("/a/b").host("x"),
            Request::get("/a/b?c=d").host("y"),
            Request::get("/a/c").host("x"),
        ),
    ] {
        let cluster = start(before_stubs(&stubs).filter_field("key", source)).await?;
        let gateway = cluster.envoy_address();
        let bin = ask(gateway, &request).await?.decision()?.bin;
        assert_eq!(ask(gateway, &same).await?.decision()?.bin, bin, "{same:?}");
        assert_ne!(ask(gateway, &other).await?.decision()?.bin, bin, "{other:?}");
    }
    Ok(())
}

#[tokio::test]
async fn odd_keys_are_served_each_by_one_server() -> Result<(), Failure> {
    let stubs = StubServers::start_echoing(5).await?;
    let cluster = start(without_copies(before_stubs(&stubs))).await?;
    let mut connections = Connection::open_many(cluster.envoy_address(), 8).await?;
    let long = "k".repeat(58 * 1024);
    let odd: [&[u8]; 6] =
        [long.as_bytes(), b"\xff\xfe\x80key", b"\xc3\x28", b"{", b"{}", b"\" ; = , \t |"];
    for key in odd {
        let request = Request::get("/").header("x-key", key);
        let server = connections[0].send(&request).await?.server()?;
        for connection in &mut connections {
            let response = connection.send(&request).await?;
            assert_eq!(response.status, 200, "{response:?}");
            assert_eq!(response.decision()?.reason, "owner");
            assert_eq!(response.server()?, server);
        }
    }
    nothing_trapped(&cluster)
}

/// As many as 10,000 a second for 3 s, as fast as the machine gives them.
#[tokio::test]
async fn ever_new_keys_trap_nothing_and_leave_memory_bounded() -> Result<(), Failure> {
    const KEYS: u64 = 30_000;
    let stubs = StubServers::start(5).await?;
    let cluster = start(before_stubs(&stubs)).await?;
    let ever_new = |seed| {
        let keys = KeySpec::Uniform { count: 1_000_000_000_000 };
        let mut config = load::config(&cluster, keys, 32, seed);
        config.max_requests = Some(KEYS);
        config
    };
    let before = requests(&cluster.filter_stats().await?);
    // The first round fills every structure; the second must need no more.
    let seed = seed();
    let mut resident = Vec::new();
    for round in 0..2 {
        let report = load::end(LoadRun::start(ever_new(seed + round))?).await?;
        assert_eq!(report.requests, KEYS);
        load::no_request_failed(&report)?;
        resident.push(cluster.envoy_resident_bytes()?);
    }
    let grown = resident[1].saturating_sub(resident[0]);
    assert!(grown < 16 << 20, "Envoy grew by {grown} bytes to {}", resident[1]);
    let counted = |stats: &Stats| requests(stats) == before + 2 * KEYS;
    let stats = wait_for_filter(&cluster, "all requests counted", counted).await?;
    assert_eq!(stats["rudolph.requests.no_key"], 0);
    assert_eq!(stats["rudolph.host_calls_failed"], 0);
    nothing_trapped(&cluster)
}
