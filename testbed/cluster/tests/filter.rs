//! A cluster with the filter, and servers inside the test process.

mod support;

use rudolph_cluster::{Cluster, ClusterError, StubServers};
use serde_json::json;

async fn is_served(cluster: &Cluster) -> bool {
    let answer = support::get(cluster.envoy_address(), "cart-17").await;
    answer.is_ok_and(|(head, _)| head.starts_with("HTTP/1.1 200 "))
}

#[tokio::test]
async fn another_configuration_is_taken_and_a_bad_one_refused_while_it_runs() {
    let stubs = StubServers::start(3).await.unwrap();
    let builder = Cluster::builder().external_servers(stubs.addresses().to_vec()).concurrency(2);
    let mut cluster = builder.strategy("spread").start().await.unwrap();
    assert!(is_served(&cluster).await);

    let mut config = cluster.filter_config().unwrap().clone();
    config["strategy"] = json!("rotation");
    cluster.reload_filter_config(&config.to_string()).await.unwrap();
    assert_eq!(cluster.filter_config().unwrap()["strategy"], "rotation");

    for bad in ["{", "{\"strategy\":\"bogus\"}"] {
        let error = cluster.reload_filter_config(bad).await.unwrap_err();
        assert!(matches!(error, ClusterError::Refused { .. }), "{error}");
        assert!(is_served(&cluster).await);
    }
    assert_eq!(cluster.filter_config().unwrap()["strategy"], "rotation");
}

#[tokio::test]
async fn a_bad_configuration_at_the_start_is_an_error_with_the_words_of_the_filter() {
    let stubs = StubServers::start(1).await.unwrap();
    let builder = Cluster::builder().external_servers(stubs.addresses().to_vec());
    let error = builder.strategy("bogus").start().await.unwrap_err();
    assert!(matches!(error, ClusterError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("rudolph"), "{error}");
}

#[tokio::test]
async fn the_filter_reads_members_through_a_unix_socket_and_shows_its_decisions() {
    let stubs = StubServers::start(3).await.unwrap();
    let builder = Cluster::builder().external_servers(stubs.addresses().to_vec());
    let cluster = builder.admin_socket(true).debug_header(true).start().await.unwrap();
    let (head, first) = support::get(cluster.envoy_address(), "cart-17").await.unwrap();
    assert!(head.contains("\r\nx-rudolph-debug: "), "{head}");
    assert_eq!(support::get(cluster.envoy_address(), "cart-17").await.unwrap().1, first);
    let stats = cluster.filter_stats().await.unwrap();
    assert!(stats["rudolph.plan_version"] > 0, "{stats:?}");
}
