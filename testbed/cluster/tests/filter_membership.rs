//! Who the servers are: from the admin interface, from a list, or not known at all.

mod common;

use std::net::{SocketAddr, TcpListener};

use common::client::{Connection, Request, ask};
use common::{Failure, before_stubs, eventually, start, wait_for_filter};
use rudolph_cluster::{Cluster, StubServers};
use rudolph_core::telemetry::{Counter, Gauge};
use serde_json::{Value, json};

/// Nobody listens there, save with the worst of luck.
fn closed_port() -> Result<SocketAddr, Failure> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

fn lines_with(cluster: &Cluster, text: &str) -> Result<usize, Failure> {
    Ok(cluster.envoy_log()?.lines().filter(|line| line.contains(text)).count())
}

#[tokio::test]
async fn without_an_admin_interface_the_fallback_serves_and_the_log_says_so_once()
-> Result<(), Failure> {
    let stubs = StubServers::start_echoing(3).await?;
    let mut members = membership_of_the_shipped_file();
    members["poll_interval_ms"] = json!(100);
    let builder = before_stubs(&stubs).filter_field("membership", members);
    let cluster = builder.filter_polls(closed_port()?).await_plan(false).start().await?;
    wait_for_filter(&cluster, "20 failed polls", |stats| {
        stats.get("rudolph.membership.polls_failed").is_some_and(|failed| *failed >= 20)
    })
    .await?;
    let mut connections = Connection::open_many(cluster.envoy_address(), 8).await?;
    let first = connections[0].send(&Request::for_key("cart-17")).await?.server()?;
    for connection in &mut connections {
        let response = connection.send(&Request::for_key("cart-17")).await?;
        assert_eq!(response.header("x-rudolph-debug"), Some("reason=no_plan"));
        assert_eq!(response.server()?, first, "the fallback keeps a key on one server too");
    }
    let stats = cluster.filter_stats().await?;
    assert_eq!(stats["rudolph.plan_version"], 0);
    assert_eq!(stats["rudolph.membership.polls_answered"], 0);
    let said = lines_with(&cluster, "the admin interface does not answer")?;
    // Two workers and the main thread: each that polls says it, once.
    assert!((1..=3).contains(&said), "said {said} times:\n{}", cluster.envoy_log()?);
    Ok(())
}

fn membership_of_the_shipped_file() -> Value {
    json!({ "source": "envoy_admin", "cluster": "app", "admin_cluster": "rudolph_admin" })
}

#[tokio::test]
async fn a_cluster_that_does_not_exist_is_said_and_not_fatal() -> Result<(), Failure> {
    let stubs = StubServers::start_echoing(3).await?;
    for (field, text) in [
        ("cluster", "the admin interface knows no such cluster"),
        ("admin_cluster", "the admin interface does not answer"),
    ] {
        let mut members = membership_of_the_shipped_file();
        members[field] = json!("nobody");
        let builder = before_stubs(&stubs).filter_field("membership", members);
        let cluster = builder.await_plan(false).start().await?;
        wait_for_filter(&cluster, "failed polls", |stats| {
            stats.get("rudolph.membership.polls_failed").is_some_and(|failed| *failed >= 2)
        })
        .await?;
        assert_eq!(ask(cluster.envoy_address(), &Request::for_key("k")).await?.status, 200);
        let said = lines_with(&cluster, text)?;
        assert!((1..=3).contains(&said), "{field}: said {said} times:\n{}", cluster.envoy_log()?);
    }
    Ok(())
}

#[tokio::test]
async fn a_static_list_needs_no_admin_interface() -> Result<(), Failure> {
    let stubs = StubServers::start_echoing(3).await?;
    // The third is in Envoy's cluster and not in the list.
    let servers: Vec<_> = stubs.addresses()[..2]
        .iter()
        .map(|address| json!({ "address": address.to_string() }))
        .collect();
    let members = json!({ "source": "static", "servers": servers });
    let builder = before_stubs(&stubs).filter_field("membership", members);
    let cluster = start(builder.filter_polls(closed_port()?)).await?;
    let mut connection = Connection::open(cluster.envoy_address()).await?;
    let unlisted = stubs.addresses()[2].to_string();
    for key in common::keys(common::seed(), 50) {
        let response = connection.send(&Request::for_key(&key)).await?;
        assert_eq!(response.decision()?.reason, "owner");
        assert_ne!(response.server()?, unlisted);
    }
    let stats = cluster.filter_stats().await?;
    assert_eq!(stats["rudolph.servers"], 2);
    assert_eq!(stats["rudolph.membership.polls_failed"], 0);
    Ok(())
}

#[tokio::test]
async fn the_admin_interface_may_be_a_unix_socket() -> Result<(), Failure> {
    let stubs = StubServers::start_echoing(3).await?;
    let cluster = start(before_stubs(&stubs).admin_socket(true)).await?;
    let response = ask(cluster.envoy_address(), &Request::for_key("cart-17")).await?;
    assert_eq!(response.decision()?.reason, "owner");
    assert_eq!(cluster.filter_stats().await?["rudolph.servers"], 3);
    Ok(())
}

/// Twice the weight, twice the keys; and Envoy's list can change it while it runs.
#[tokio::test]
async fn weights_decide_how_many_keys_a_server_has() -> Result<(), Failure> {
    let stubs = StubServers::start_echoing(3).await?;
    let mut cluster = start(before_stubs(&stubs)).await?;
    cluster.set_weight(0, 4)?;
    let heavy = stubs.addresses()[0].to_string();
    let keys = common::keys(common::seed(), 300);
    eventually("two thirds of the keys", async || {
        let mut connection = Connection::open(cluster.envoy_address()).await?;
        let mut at_heavy = 0;
        for key in &keys {
            let server = connection.send(&Request::for_key(key)).await?.server()?;
            at_heavy += u32::from(server == heavy);
        }
        // 200 on average; so far off by chance once in a million runs.
        if (155..=245).contains(&at_heavy) {
            Ok(())
        } else {
            Err(format!("{at_heavy} of 300").into())
        }
    })
    .await
}

#[tokio::test]
async fn every_metric_is_there_under_the_prefix() -> Result<(), Failure> {
    let stubs = StubServers::start_echoing(3).await?;
    let cluster = before_stubs(&stubs).filter_field("stat_prefix", "shop.eu").start().await?;
    let names = Counter::ALL.map(Counter::name).into_iter().chain(Gauge::ALL.map(Gauge::name));
    let names: Vec<String> = names.map(|name| format!("shop.eu.{name}")).collect();
    let stats = cluster.filter_stats().await?;
    for name in &names {
        assert!(stats.contains_key(name), "{name}: {stats:?}");
    }
    let unknown: Vec<_> = stats.keys().filter(|name| !names.contains(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    Ok(())
}
