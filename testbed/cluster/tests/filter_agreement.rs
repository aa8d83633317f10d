//! Workers follow one plan: the same version, never an older one.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::client::{Connection, Request};
use common::{
    Failure, Stats, all_workers_took_part, before_stubs, eventually, keys, load, seed, start,
    wait_for_filter, without_copies,
};
use rudolph_cluster::{Cluster, StubServers};
use rudolph_workload::KeySpec;
use serde_json::json;

fn gauge(stats: &Stats, name: &str) -> u64 {
    stats.get(&format!("rudolph.{name}")).copied().unwrap_or(0)
}

/// The plan that each of `count` fresh connections meets.
async fn plans_of_fresh_connections(
    cluster: &Cluster,
    count: usize,
) -> Result<BTreeSet<u64>, Failure> {
    let mut plans = BTreeSet::new();
    for mut connection in Connection::open_many(cluster.envoy_address(), count).await? {
        plans.insert(connection.send(&Request::for_key("any")).await?.decision()?.plan);
    }
    Ok(plans)
}

/// Skewed load whose hot keys change hands, so that there is always a better rotation.
fn shifting() -> KeySpec {
    KeySpec::Zipf { count: 300, alpha: 1.3, ramp: None, reshuffle_s: Some(1.0) }
}

#[tokio::test]
async fn rotation_turns_under_skewed_load_and_every_worker_turns_with_it() -> Result<(), Failure> {
    let seed = seed();
    let stubs = StubServers::start_echoing(5).await?;
    let builder = before_stubs(&stubs).strategy("rotation");
    let cluster = start(builder.filter_field("epoch_ms", json!(500))).await?;
    let load = load::start(&cluster, shifting(), 16, seed)?;

    let mut connections = Connection::open_many(cluster.envoy_address(), 20).await?;
    let mut newest = vec![0; connections.len()];
    let mut servers = BTreeMap::<_, BTreeSet<String>>::new();
    let keys = keys(seed, 5);
    let mut turn = 0;
    let mut rotations = BTreeSet::new();
    eventually("three rotations", async || {
        for _ in 0..50 {
            let (number, key) = (turn % connections.len(), &keys[turn % keys.len()]);
            turn += 7;
            let response = connections[number].send(&Request::for_key(key)).await?;
            let plan = response.decision()?.plan;
            assert!(plan >= newest[number], "plan {plan} after {}", newest[number]);
            newest[number] = plan;
            servers.entry((plan, key.clone())).or_default().insert(response.server()?);
        }
        rotations.insert(gauge(&cluster.filter_stats().await?, "rotation"));
        if rotations.len() >= 3 { Ok(()) } else { Err(format!("{rotations:?}").into()) }
    })
    .await?;
    for ((plan, key), servers) in servers {
        assert_eq!(servers.len(), 1, "plan {plan}: {key} met {servers:?}");
    }

    load::no_request_failed(&load::stop(load).await?)?;
    all_workers_took_part(&cluster, 2).await?;
    // Without load nothing is left to turn for.
    eventually("one plan everywhere", async || {
        let plans = plans_of_fresh_connections(&cluster, 32).await?;
        let stats = cluster.filter_stats().await?;
        let agreed = plans == BTreeSet::from([gauge(&stats, "plan_version")]);
        if agreed { Ok(()) } else { Err(format!("{plans:?}, {stats:?}").into()) }
    })
    .await
}

#[tokio::test]
async fn one_worker_or_eight_agree_on_plan_and_servers() -> Result<(), Failure> {
    let keys = keys(seed(), 20);
    for workers in [1_u32, 8] {
        let stubs = StubServers::start_echoing(5).await?;
        let cluster = start(without_copies(before_stubs(&stubs).concurrency(workers))).await?;
        // Envoy runs the filter on its main thread too, without requests.
        let counted = |stats: &Stats| gauge(stats, "workers") == u64::from(workers) + 1;
        wait_for_filter(&cluster, "all workers counted", counted).await?;
        eventually("one plan everywhere", async || {
            let plans = plans_of_fresh_connections(&cluster, 80).await?;
            if plans.len() == 1 { Ok(()) } else { Err(format!("{plans:?}").into()) }
        })
        .await?;
        let mut servers = BTreeMap::<_, BTreeSet<String>>::new();
        for mut connection in Connection::open_many(cluster.envoy_address(), 80).await? {
            for key in &keys {
                let server = connection.send(&Request::for_key(key)).await?.server()?;
                servers.entry(key).or_default().insert(server);
            }
        }
        for (key, servers) in servers {
            assert_eq!(servers.len(), 1, "{workers} workers: {key} met {servers:?}");
        }
        let workers = usize::try_from(workers)?;
        all_workers_took_part(&cluster, workers).await?;
    }
    Ok(())
}
