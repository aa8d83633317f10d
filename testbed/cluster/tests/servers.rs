//! A cluster of real application servers that die, hang, return and multiply.

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use common::app_server;
use common::client::{Request, ask};
use rudolph_cluster::{Baseline, Cluster, ClusterError};

const SOON: Duration = Duration::from_secs(10);

async fn five() -> Result<Cluster, ClusterError> {
    app_server::is_built();
    Cluster::builder().servers(5).baseline(Baseline::Maglev).start().await
}

async fn wait_for_healthy(cluster: &mut Cluster, servers: u64) -> Result<(), ClusterError> {
    let goal = format!("{servers} healthy servers");
    let healthy = |stats: &BTreeMap<String, u64>| {
        stats.get("cluster.app.membership_healthy") == Some(&servers)
    };
    cluster.wait_for_stats(&goal, SOON, healthy).await
}

/// The first answer of many keys that is not 200, if there is one.
async fn first_failure(cluster: &Cluster) -> Option<String> {
    for key in 0..40 {
        let answer = ask(cluster.envoy_address(), &Request::for_key(&format!("k{key}"))).await;
        if !answer.as_ref().is_ok_and(|answer| answer.status == 200) {
            return Some(format!("k{key}: {answer:?}"));
        }
    }
    None
}

#[tokio::test]
async fn a_killed_server_costs_no_request_and_returns_on_its_port() {
    let mut cluster = five().await.unwrap();
    assert_eq!(first_failure(&cluster).await, None);
    let address = cluster.server_addresses()[2];
    cluster.kill_server(2).unwrap();
    assert!(std::net::TcpStream::connect(address).is_err());
    assert_eq!(first_failure(&cluster).await, None, "a retry should reach another server");
    wait_for_healthy(&mut cluster, 4).await.unwrap();
    cluster.restart_server(2).await.unwrap();
    assert_eq!(cluster.server_addresses()[2], address);
    wait_for_healthy(&mut cluster, 5).await.unwrap();
    assert_eq!(first_failure(&cluster).await, None);
}

#[tokio::test]
async fn a_server_that_hangs_is_left_out_until_it_goes_on() {
    let mut cluster = five().await.unwrap();
    cluster.stop_server(0).unwrap();
    wait_for_healthy(&mut cluster, 4).await.unwrap();
    cluster.continue_server(0).unwrap();
    wait_for_healthy(&mut cluster, 5).await.unwrap();
}

#[tokio::test]
async fn one_more_server_joins_and_one_drains_away() {
    let mut cluster = five().await.unwrap();
    let index = cluster.add_server().await.unwrap();
    assert_eq!(index, 5);
    wait_for_healthy(&mut cluster, 6).await.unwrap();
    cluster.remove_server(0).await.unwrap();
    cluster.drain_server(0).await.unwrap();
    assert_eq!(first_failure(&cluster).await, None);
    assert_eq!(cluster.process_ids().len(), 6, "Envoy and five servers");
}

#[tokio::test]
async fn nothing_outlives_a_cluster() {
    let cluster = five().await.unwrap();
    let processes = cluster.process_ids();
    assert_eq!(processes.len(), 6);
    drop(cluster);
    for id in processes {
        assert!(!std::path::Path::new(&format!("/proc/{id}")).exists(), "{id} still runs");
    }
}
