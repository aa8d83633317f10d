//! A key that half of all requests ask for.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use common::client::{Connection, Request};
use common::{
    Failure, Stats, before_servers, eventually, keys, load, seed, start, wait_for_filter,
};
use rudolph_cluster::Cluster;
use rudolph_workload::{KeySpec, WorkloadSpec};
use serde_json::json;

const SERVICE: Duration = Duration::from_millis(4);
/// More than one server's four slots can take.
const CLIENTS: usize = 32;

/// So many others that none of them is hot.
fn half_on_one_key() -> KeySpec {
    KeySpec::OneHot { count: 5_000, share: 0.5 }
}

/// The key that half of the load asks for, from the stream itself.
fn hot_key(seed: u64) -> Result<String, Failure> {
    let mut stream =
        WorkloadSpec { seed, keys: half_on_one_key(), ..WorkloadSpec::default() }.build()?;
    let mut counts = BTreeMap::<_, usize>::new();
    for _ in 0..100 {
        *counts.entry(stream.next(0).key).or_default() += 1;
    }
    let hot = counts.into_iter().max_by_key(|(_, count)| *count).ok_or("no keys")?.0;
    let mut name = Vec::new();
    stream.write_key(hot, &mut name);
    Ok(String::from_utf8(name)?)
}

/// The servers of a key in each plan, from several connections.
async fn servers_by_plan(
    connections: &mut [Connection],
    key: &str,
) -> Result<BTreeMap<u64, BTreeSet<String>>, Failure> {
    let mut servers = BTreeMap::<u64, BTreeSet<String>>::new();
    for connection in connections {
        let response = connection.send(&Request::for_key(key)).await?;
        servers.entry(response.decision()?.plan).or_default().insert(response.server()?);
    }
    Ok(servers)
}

/// Too seldom asked to become hot: three times each, and each time on another connection.
async fn cold_keys_stay(cluster: &Cluster, seed: u64, within_plans: bool) -> Result<(), Failure> {
    let mut connections = Connection::open_many(cluster.envoy_address(), 12).await?;
    let (mut answers, mut at_home) = (0, 0);
    let mut servers = BTreeMap::<_, BTreeSet<String>>::new();
    for round in 0..3 {
        for (number, key) in keys(seed, 60).into_iter().enumerate() {
            let connection = &mut connections[(number + round * 5) % 12];
            let response = connection.send(&Request::for_key(&key)).await?;
            answers += 1;
            // The rest were sent next door in an emergency, which a machine that stalls can bring about.
            let decision = response.decision()?;
            if decision.reason == "owner" {
                at_home += 1;
                let key =
                    if within_plans { format!("{key} in plan {}", decision.plan) } else { key };
                servers.entry(key).or_default().insert(response.server()?);
            }
        }
    }
    assert!(at_home * 10 >= answers * 9, "{at_home} of {answers} at home");
    for (key, servers) in servers {
        assert_eq!(servers.len(), 1, "{key} met {servers:?}");
    }
    Ok(())
}

#[tokio::test]
async fn spread_serves_it_from_several_servers_and_a_cold_one_from_one() -> Result<(), Failure> {
    let seed = seed();
    let builder = before_servers(SERVICE).strategy("spread");
    // A machine that stalls one server makes it look slow, and learning that moves keys too.
    let learns_nothing = json!({ "learn_weights": false });
    let cluster = start(builder.filter_field("spread", learns_nothing)).await?;
    let load = load::start(&cluster, half_on_one_key(), CLIENTS, seed)?;
    let hot = |stats: &Stats| stats["rudolph.hot_keys"] > 0 && stats["rudolph.requests.spread"] > 0;
    wait_for_filter(&cluster, "a hot key", hot).await?;
    let key = hot_key(seed)?;
    let mut connections = Connection::open_many(cluster.envoy_address(), 20).await?;
    let mut all = BTreeSet::new();
    eventually("the hot key on several servers", async || {
        all.extend(servers_by_plan(&mut connections, &key).await?.into_values().flatten());
        if all.len() >= 3 { Ok(()) } else { Err(format!("{all:?}").into()) }
    })
    .await?;
    cold_keys_stay(&cluster, seed, false).await?;
    load::no_request_failed(&load::stop(load).await?)
}

#[tokio::test]
async fn pin_serves_it_from_one_server_at_a_time() -> Result<(), Failure> {
    let seed = seed();
    let cluster = start(before_servers(SERVICE).strategy("pin")).await?;
    let load = load::start(&cluster, half_on_one_key(), CLIENTS, seed)?;
    wait_for_filter(&cluster, "a hot key", |stats| stats["rudolph.hot_keys"] > 0).await?;
    let key = hot_key(seed)?;
    let mut connections = Connection::open_many(cluster.envoy_address(), 12).await?;
    let mut all = BTreeMap::<u64, BTreeSet<String>>::new();
    for _ in 0..6 {
        for (plan, servers) in servers_by_plan(&mut connections, &key).await? {
            all.entry(plan).or_default().extend(servers);
        }
    }
    for (plan, servers) in all {
        assert_eq!(servers.len(), 1, "plan {plan}: {servers:?}");
    }
    // The hot key crowds its server out: plans move what else is there.
    cold_keys_stay(&cluster, seed, true).await?;
    load::no_request_failed(&load::stop(load).await?)
}
