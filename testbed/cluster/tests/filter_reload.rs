//! Other configurations while load runs: bad ones are refused, good ones taken, and no request fails.

mod common;

use std::time::Duration;

use common::client::{Request, ask};
use common::{Failure, before_servers, before_stubs, load, seed, start, wait_for_filter};
use rudolph_cluster::{Cluster, ClusterError, StubServers};
use serde_json::{Value, json};

const SERVICE: Duration = Duration::from_millis(2);
const CLIENTS: usize = 12;

/// A change to a good configuration, and the field that the refusal must name.
fn bad_changes() -> Vec<(&'static str, Value, &'static str)> {
    let member = |address: &str| json!({ "address": address });
    let members = |servers: Value| json!({ "source": "static", "servers": servers });
    vec![
        ("strategy", json!("bogus"), "strategy"),
        ("owners", json!(0), "owners"),
        ("owners", json!("three"), "owners"),
        ("tick_ms", json!(1), "tick_ms"),
        ("key", json!([]), "key"),
        ("key", json!([{ "header": "x key" }]), "key[0].header"),
        ("spread", json!({ "hot_threshold": 7 }), "spread.hot_threshold"),
        ("no_such_field", json!(1), "no_such_field"),
        ("membership", members(json!([])), "membership.servers"),
        ("membership", members(json!([member("localhost")])), "membership.servers[0].address"),
        (
            "membership",
            members(json!([member("1.1.1.1:1"), member("1.1.1.1:1")])),
            "membership.servers[1].address",
        ),
    ]
}

/// The lines that Envoy has logged since `from`, and where its log ends now.
fn log_since(cluster: &Cluster, from: &mut usize) -> Result<Vec<String>, Failure> {
    let log = cluster.envoy_log()?;
    let lines = log[*from..].lines().map(str::to_owned).collect();
    *from = log.len();
    Ok(lines)
}

async fn is_refused(cluster: &mut Cluster, config: &str) -> Result<(), Failure> {
    match cluster.reload_filter_config(config).await {
        Err(ClusterError::Refused { .. }) => Ok(()),
        Err(other) => Err(other.into()),
        Ok(()) => Err(format!("taken: {config}").into()),
    }
}

#[tokio::test]
async fn bad_ones_are_refused_with_one_line_that_names_the_field() -> Result<(), Failure> {
    let stubs = StubServers::start_echoing(3).await?;
    let mut cluster = start(before_stubs(&stubs)).await?;
    let load = load::start(&cluster, load::zipf(2_000, 1.0), 4, seed())?;
    let good = cluster.filter_config().ok_or("no filter")?.clone();
    let mut read = 0;
    log_since(&cluster, &mut read)?;
    for (name, value, field) in bad_changes() {
        let mut config = good.clone();
        config[name] = value;
        is_refused(&mut cluster, &config.to_string()).await?;
        let lines = log_since(&cluster, &mut read)?;
        let named: Vec<_> =
            lines.iter().filter(|line| line.contains(&format!("configuration: {field}"))).collect();
        assert_eq!(named.len(), 1, "{config}: {lines:#?}");
    }
    for text in ["", "{", "[]", "null", "{}"] {
        is_refused(&mut cluster, text).await?;
        let lines = log_since(&cluster, &mut read)?;
        let said = lines.iter().filter(|line| line.contains("configuration: ")).count();
        assert_eq!(said, 1, "{text:?}: {lines:#?}");
    }
    // The one before is still in force: the filter names owners and answers as it did.
    let response = ask(cluster.envoy_address(), &Request::for_key("cart-17")).await?;
    assert_eq!(response.decision()?.reason, "owner");
    assert_eq!(cluster.filter_config(), Some(&good));
    let mut better = good;
    better["owners"] = json!(2);
    cluster.reload_filter_config(&better.to_string()).await?;
    load::no_request_failed(&load::stop(load).await?)
}

#[tokio::test]
async fn strategies_change_under_load_and_no_request_fails() -> Result<(), Failure> {
    let mut cluster = start(before_servers(SERVICE).strategy("spread")).await?;
    let load = load::start(&cluster, load::zipf(2_000, 1.0), CLIENTS, seed())?;
    let good = cluster.filter_config().ok_or("no filter")?.clone();
    for strategy in ["rotation", "spread", "pin", "lpt", "static", "spread"] {
        // Metrics of its own show that each one plans and routes.
        let prefix = format!("{strategy}_now");
        let mut config = good.clone();
        config["strategy"] = json!(strategy);
        config["stat_prefix"] = json!(prefix);
        let before = routed(&cluster, &prefix).await?;
        cluster.reload_filter_config(&config.to_string()).await?;
        wait_for_filter(&cluster, strategy, |stats| {
            stats.get(&format!("{prefix}.requests.owner")) > Some(&(before + 100))
        })
        .await?;
    }
    load::no_request_failed(&load::stop(load).await?)
}

async fn routed(cluster: &Cluster, prefix: &str) -> Result<u64, Failure> {
    let stats = cluster.filter_stats().await?;
    Ok(stats.get(&format!("{prefix}.requests.owner")).copied().unwrap_or(0))
}

#[tokio::test]
async fn a_bad_one_at_the_start_is_an_error_with_the_words_of_the_filter() -> Result<(), Failure> {
    let stubs = StubServers::start(1).await?;
    let started = before_stubs(&stubs).strategy("bogus").start().await;
    let Err(ClusterError::Refused { log }) = started else {
        return Err(format!("{started:?}").into());
    };
    assert!(log.contains("configuration: strategy: ") && log.contains("bogus"), "{log}");
    Ok(())
}
