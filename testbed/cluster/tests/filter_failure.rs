//! Servers that die, drain and come back, under load that must not notice.

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use common::client::{Connection, Request};
use common::{
    Failure, Stats, before_servers, eventually, keys, load, seed, start, wait_for_filter,
};
use rudolph_cluster::{Builder, Cluster, ServerSettings};
use rudolph_workload::KeySpec;
use serde_json::json;

const SERVICE: Duration = Duration::from_millis(2);
const CLIENTS: usize = 12;

/// Even load: nothing hot, and no server slower than another, so that only members decide.
fn even() -> KeySpec {
    KeySpec::Uniform { count: 20_000 }
}

/// A machine that stalls one server makes it look slow, and learning that moves keys too.
fn only_members_decide(builder: Builder) -> Builder {
    let membership = json!({
        "source": "envoy_admin",
        "cluster": "app",
        "admin_cluster": "rudolph_admin",
        "poll_interval_ms": 2000,
    });
    let builder = builder.strategy("spread").filter_field("membership", membership);
    builder.filter_field("spread", json!({ "learn_weights": false }))
}

type Homes = BTreeMap<String, String>;

/// The home of each key, once all connections agree on one plan.
async fn homes(cluster: &Cluster, keys: &[String]) -> Result<Homes, Failure> {
    eventually("homes of one plan", async || {
        let mut connections = Connection::open_many(cluster.envoy_address(), 8).await?;
        let mut homes = Homes::new();
        let mut plans = std::collections::BTreeSet::new();
        for (number, key) in keys.iter().enumerate() {
            let response = connections[number % 8].send(&Request::for_key(key)).await?;
            let decision = response.decision()?;
            plans.insert(decision.plan);
            if decision.reason != "owner" {
                return Err(format!("{key}: {decision:?}").into());
            }
            homes.insert(key.clone(), response.server()?);
        }
        if plans.len() == 1 { Ok(homes) } else { Err(format!("plans {plans:?}").into()) }
    })
    .await
}

fn servers(count: u64) -> impl FnMut(&Stats) -> bool {
    move |stats| stats["rudolph.servers"] == count
}

/// What was `gone`'s went elsewhere, and nothing else moved.
fn only_its_keys_moved(before: &Homes, during: &Homes, gone: &str) {
    for (key, home) in before {
        if home == gone {
            assert_ne!(during[key], gone, "{key}");
        } else {
            assert_eq!(during[key], *home, "{key} moved between servers that stayed");
        }
    }
    assert!(before.values().any(|home| home == gone), "{gone} had no key");
}

#[tokio::test]
async fn a_killed_server_fails_no_request_and_gets_its_own_keys_back() -> Result<(), Failure> {
    let seed = seed();
    let keys = keys(seed, 200);
    let mut cluster = start(only_members_decide(before_servers(SERVICE))).await?;
    let killed = cluster.server_addresses()[2].to_string();
    let load = load::start(&cluster, even(), CLIENTS, seed)?;
    let before = homes(&cluster, &keys).await?;

    // Just after a poll, so that until the next one the dead server is still named for a while.
    let polls = cluster.filter_stats().await?["rudolph.membership.polls_answered"];
    let polled = |stats: &Stats| stats["rudolph.membership.polls_answered"] > polls;
    wait_for_filter(&cluster, "a poll", polled).await?;
    cluster.kill_server(2)?;
    wait_for_filter(&cluster, "the plan without it", servers(4)).await?;
    only_its_keys_moved(&before, &homes(&cluster, &keys).await?, &killed);
    let retried = |stats: &Stats| stats["rudolph.retries_to_successor"] > 0;
    let stats = wait_for_filter(&cluster, "a retry counted", retried).await?;
    assert_eq!(stats["rudolph.servers_unusable"], 1);

    cluster.restart_server(2).await?;
    wait_for_filter(&cluster, "the plan with it again", servers(5)).await?;
    assert_eq!(homes(&cluster, &keys).await?, before, "each key is back at its old home");
    load::no_request_failed(&load::stop(load).await?)
}

#[tokio::test]
async fn a_killed_server_fails_no_request_under_any_strategy() -> Result<(), Failure> {
    for strategy in ["pin", "rotation", "lpt", "static"] {
        let seed = seed();
        let mut cluster = start(before_servers(SERVICE).strategy(strategy)).await?;
        let load = load::start(&cluster, load::zipf(2_000, 1.0), CLIENTS, seed)?;
        wait_for_filter(&cluster, "load", |stats| stats["rudolph.requests.owner"] > 300).await?;
        cluster.kill_server(1)?;
        wait_for_filter(&cluster, "the plan without it", servers(4)).await?;
        cluster.restart_server(1).await?;
        wait_for_filter(&cluster, "the plan with it again", servers(5)).await?;
        load::no_request_failed(&load::stop(load).await?)?;
    }
    Ok(())
}

#[tokio::test]
async fn a_draining_server_leaves_the_plan_without_an_error() -> Result<(), Failure> {
    let seed = seed();
    // It says so for longer than Envoy's two health checks take to hear it.
    let settings = ServerSettings {
        hit: SERVICE,
        miss: SERVICE,
        extra: vec!["--drain-notice-ms".to_owned(), "5000".to_owned()],
        ..ServerSettings::default()
    };
    let builder = before_servers(SERVICE).server_settings(settings);
    let mut cluster = start(only_members_decide(builder)).await?;
    let drained = cluster.server_addresses()[0].to_string();
    let keys = keys(seed, 200);
    let load = load::start(&cluster, even(), CLIENTS, seed)?;
    let before = homes(&cluster, &keys).await?;
    cluster.drain_server(0).await?;
    let stats = wait_for_filter(&cluster, "the plan without it", servers(4)).await?;
    assert_eq!(stats["rudolph.retries_to_successor"], 0, "it left before it was gone");
    only_its_keys_moved(&before, &homes(&cluster, &keys).await?, &drained);
    load::no_request_failed(&load::stop(load).await?)
}

#[tokio::test]
async fn one_more_server_takes_its_share_and_moves_nothing_else() -> Result<(), Failure> {
    let seed = seed();
    let keys = keys(seed, 500);
    let mut cluster = start(only_members_decide(before_servers(SERVICE))).await?;
    let load = load::start(&cluster, even(), CLIENTS, seed)?;
    let before = homes(&cluster, &keys).await?;
    let index = cluster.add_server().await?;
    let joined = cluster.server_addresses()[index].to_string();
    wait_for_filter(&cluster, "the plan with it", servers(6)).await?;
    let after = homes(&cluster, &keys).await?;
    let moved: Vec<_> = keys.iter().filter(|key| before[*key] != after[*key]).collect();
    assert!(moved.iter().all(|key| after[*key] == joined), "{moved:?}");
    // A sixth is 83; so far off by chance once in a million runs.
    assert!((40..=130).contains(&moved.len()), "{} of 500 keys moved", moved.len());
    load::no_request_failed(&load::stop(load).await?)
}
