//! What a client writes in the filter's own headers decides nothing, and servers see none of it.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Duration;

use common::client::{Connection, Request, ask};
use common::{Failure, before_stubs, keys, seed, start, without_copies};
use rudolph_cluster::{Cluster, StubServers};

const SERVERS: usize = 3;
/// The longest `backoff` of the shipped `reload_config`, and a little more.
const BACKOFF: Duration = Duration::from_millis(1100);
const UPSTREAM: &str = "x-rudolph-upstream";

/// A listener outside of the cluster that must never be called.
struct Outsider(TcpListener);

impl Outsider {
    fn listen() -> Result<Self, Failure> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        Ok(Self(listener))
    }

    fn was_not_called(&self) {
        assert!(
            self.0.accept().is_err(),
            "the gateway connected to a server outside of its cluster"
        );
    }
}

/// The same request with the header in every shape that a client could hope for.
fn spoofed(request: &Request, wanted: &str, outsider: &Outsider) -> Result<Vec<Request>, Failure> {
    let outside = outsider.0.local_addr()?;
    let with = |name, value: &str| request.clone().header(name, value);
    Ok(vec![
        with(UPSTREAM, wanted),
        with(UPSTREAM, wanted).header(UPSTREAM, wanted),
        with("X-RUDOLPH-UPSTREAM", wanted),
        with("X-Rudolph-Upstream", &format!("{wanted},{wanted}")),
        with(UPSTREAM, &outside.to_string()),
        with(UPSTREAM, &format!("{outside},{wanted}")),
        with(UPSTREAM, ""),
        with("connection", UPSTREAM).header(UPSTREAM, wanted),
    ])
}

/// A server that the key does not go to.
fn another<'a>(stubs: &'a [String], server: &str) -> &'a str {
    stubs.iter().find(|other| *other != server).map_or("", String::as_str)
}

fn names(stubs: &StubServers) -> Vec<String> {
    stubs.addresses().iter().map(ToString::to_string).collect()
}

/// With a key, the answer is that of the same request without the header.
async fn never_decides_with_a_key(cluster: &Cluster, stubs: &StubServers) -> Result<(), Failure> {
    let outsider = Outsider::listen()?;
    let mut connection = Connection::open(cluster.envoy_address()).await?;
    for key in keys(seed(), 10) {
        let honest = Request::for_key(&key);
        let server = connection.send(&honest).await?.server()?;
        let names = names(stubs);
        for request in spoofed(&honest, another(&names, &server), &outsider)? {
            let response = connection.send(&request).await?;
            assert_eq!(response.server()?, server, "{request:?}");
            assert!(!response.body.contains("x-rudolph"), "{}", response.body);
        }
    }
    outsider.was_not_called();
    Ok(())
}

/// Without a key the fallback chooses at random: of 40 requests that name one server, others get some.
async fn never_decides_without_a_key(
    cluster: &Cluster,
    stubs: &StubServers,
) -> Result<(), Failure> {
    let outsider = Outsider::listen()?;
    let mut connection = Connection::open(cluster.envoy_address()).await?;
    let wanted = &names(stubs)[0];
    let mut servers = BTreeMap::<_, BTreeSet<String>>::new();
    for _ in 0..40 {
        for (shape, request) in spoofed(&Request::get("/"), wanted, &outsider)?.iter().enumerate() {
            servers.entry(shape).or_default().insert(connection.send(request).await?.server()?);
        }
    }
    for (shape, servers) in servers {
        assert_eq!(servers.len(), SERVERS, "shape {shape} only met {servers:?}");
    }
    outsider.was_not_called();
    Ok(())
}

#[tokio::test]
async fn a_client_never_decides_by_the_header() -> Result<(), Failure> {
    let stubs = StubServers::start_echoing(SERVERS).await?;
    let cluster = start(without_copies(before_stubs(&stubs).debug_header(false))).await?;
    never_decides_with_a_key(&cluster, &stubs).await?;
    never_decides_without_a_key(&cluster, &stubs).await
}

/// Starts well and traps at every `every`-th request of a VM.
fn trapping_module(cluster_name: &str, every: u32) -> Result<PathBuf, Failure> {
    let text = format!(
        r#"(module
        (memory (export "memory") 1)
        (global $requests (mut i32) (i32.const 0))
        (func (export "proxy_abi_version_0_2_1"))
        (func (export "malloc") (param i32) (result i32) i32.const 1024)
        (func (export "proxy_on_context_create") (param i32 i32))
        (func (export "proxy_on_vm_start") (param i32 i32) (result i32) i32.const 1)
        (func (export "proxy_on_configure") (param i32 i32) (result i32) i32.const 1)
        (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
            (global.set $requests (i32.add (global.get $requests) (i32.const 1)))
            (if (i32.eq (global.get $requests) (i32.const {every})) (then unreachable))
            i32.const 0))"#
    );
    let file =
        std::env::temp_dir().join(format!("trapping-{}-{cluster_name}.wasm", std::process::id()));
    std::fs::write(&file, wat::parse_str(text)?)?;
    Ok(file)
}

async fn before_a_failed_vm(stubs: &StubServers, policy: &str) -> Result<Cluster, Failure> {
    let module = trapping_module(policy, 1)?;
    let builder = before_stubs(stubs).debug_header(false).failure_policy(policy);
    let started = builder.module(&module).await_plan(false).start().await;
    std::fs::remove_file(module)?;
    Ok(started?)
}

#[tokio::test]
async fn nor_while_the_filter_has_failed_open() -> Result<(), Failure> {
    let stubs = StubServers::start_echoing(SERVERS).await?;
    let cluster = before_a_failed_vm(&stubs, "FAIL_OPEN").await?;
    // A request that traps may be answered for it; from then on requests pass the filter by.
    for _ in 0..20 {
        ask(cluster.envoy_address(), &Request::for_key("first")).await?;
    }
    never_decides_with_a_key(&cluster, &stubs).await?;
    never_decides_without_a_key(&cluster, &stubs).await
}

#[tokio::test]
async fn nor_while_the_filter_reloads() -> Result<(), Failure> {
    let stubs = StubServers::start_echoing(SERVERS).await?;
    let cluster = before_a_failed_vm(&stubs, "FAIL_RELOAD").await?;
    let outsider = Outsider::listen()?;
    let names = names(&stubs);
    for key in keys(seed(), 5) {
        let honest = Request::for_key(&key);
        let answer = ask(cluster.envoy_address(), &honest).await?;
        assert_eq!(answer.status, 503, "{answer:?}");
        for name in &names {
            for request in spoofed(&honest, name, &outsider)? {
                let answer = ask(cluster.envoy_address(), &request).await?;
                assert_eq!(answer.status, 503, "{request:?}");
            }
        }
    }
    outsider.was_not_called();
    Ok(())
}

/// What the shipped `failure_policy` is for. A VM that traps soon after it was loaded would be waited for.
#[tokio::test]
async fn a_trap_costs_one_request_and_the_next_finds_a_new_vm() -> Result<(), Failure> {
    let stubs = StubServers::start_echoing(SERVERS).await?;
    let module = trapping_module("now-and-then", 5)?;
    let builder = before_stubs(&stubs).debug_header(false).concurrency(1);
    let started = builder.module(&module).await_plan(false).start().await;
    std::fs::remove_file(module)?;
    let cluster = started?;
    for life in 0..2 {
        for request in 1..=5 {
            if request == 5 {
                tokio::time::sleep(BACKOFF).await;
            }
            let answer = ask(cluster.envoy_address(), &Request::for_key("k")).await?;
            let expected = if request == 5 { 503 } else { 200 };
            assert_eq!(answer.status, expected, "VM {life}, request {request}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn servers_and_clients_see_a_decision_only_when_it_is_asked_for() -> Result<(), Failure> {
    let stubs = StubServers::start_echoing(SERVERS).await?;
    for asked in [false, true] {
        let cluster = start(before_stubs(&stubs).debug_header(asked)).await?;
        for request in [Request::for_key("cart-17"), Request::get("/none")] {
            let request = request.header("x-rudolph-debug", "mine").header("x-other", "stays");
            let response = ask(cluster.envoy_address(), &request).await?;
            assert_eq!(response.status, 200, "{response:?}");
            assert!(response.body.contains("x-other: stays"), "{}", response.body);
            assert!(!response.body.contains(UPSTREAM), "{}", response.body);
            assert!(!response.body.contains("mine"), "{}", response.body);
            assert_eq!(response.header("x-rudolph-debug").is_some(), asked, "{response:?}");
            assert_eq!(response.body.contains("x-rudolph-debug: "), asked, "{}", response.body);
            assert_eq!(response.header(UPSTREAM), None);
        }
    }
    Ok(())
}
