//! A cluster without the filter: what needs no module and no application server.

mod common;

use std::net::TcpStream;
use std::path::Path;

use common::Failure;
use common::client::{Request, Response, ask};
use rudolph_cluster::{Baseline, Cluster, ClusterError, StubServers};
use rudolph_workload::{Ranges, name_of};

async fn get(cluster: &Cluster, key: &str) -> Result<Response, Failure> {
    ask(cluster.envoy_address(), &Request::for_key(key)).await
}

#[tokio::test]
async fn serves_a_key_from_one_server_and_leaves_nothing_behind() {
    let stubs = StubServers::start(5).await.unwrap();
    let servers = stubs.addresses().to_vec();
    let cluster = Cluster::builder()
        .external_servers(servers.clone())
        .baseline(Baseline::Maglev)
        .start()
        .await;
    let cluster = cluster.unwrap();
    let Response { status, body: first, .. } = get(&cluster, "cart-17").await.unwrap();
    assert_eq!(status, 200);
    assert!(servers.iter().any(|server| server.to_string() == first), "{first}");
    for _ in 0..20 {
        assert_eq!(get(&cluster, "cart-17").await.unwrap().body, first);
    }
    let stats = cluster.stats().await.unwrap();
    assert_eq!(stats["cluster.app.membership_healthy"], 5);
    assert_eq!(stats["http.gateway.downstream_rq_2xx"], 21);
    assert!(cluster.envoy_cpu_seconds().unwrap() > 0.0);
    assert!(cluster.envoy_resident_bytes().unwrap() > 1 << 20);
    let (gateway, directory, pid) =
        (cluster.envoy_address(), cluster.directory().to_owned(), cluster.envoy_pid());
    assert!(directory.join("envoy.json").exists());
    drop(cluster);
    assert!(!directory.exists());
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
    assert!(TcpStream::connect(gateway).is_err());
}

/// New keys all meet the last server, whatever a client claims; what is no key at all is answered by anybody.
#[tokio::test]
async fn a_range_placement_sends_each_key_to_the_server_of_its_range() {
    let stubs = StubServers::start(3).await.unwrap();
    let servers = stubs.addresses().to_vec();
    let span = 1_000;
    let cluster = Cluster::builder()
        .external_servers(servers.clone())
        .baseline(Baseline::Range { span })
        .start()
        .await
        .unwrap();
    let ranges = Ranges::even(span, servers.len());
    let borders = ranges.starts().iter().flat_map(|start| [start.saturating_sub(1), *start]);
    for number in borders.chain((0..3_000).step_by(171)).chain([999_999_999_999]) {
        let key = String::from_utf8(name_of(number)).unwrap();
        let request = Request::for_key(&key).header("x-range-server", servers[0].to_string());
        let answer = ask(cluster.envoy_address(), &request).await.unwrap();
        assert_eq!(answer.body, servers[ranges.part(number)].to_string(), "{key}");
    }
    let other = ask(cluster.envoy_address(), &Request::get("/other")).await.unwrap();
    assert_eq!(other.status, 200);
}

#[tokio::test]
async fn several_run_side_by_side_with_any_native_policy() {
    let stubs = StubServers::start(3).await.unwrap();
    let servers = stubs.addresses().to_vec();
    let baselines = [
        Baseline::RoundRobin,
        Baseline::LeastRequest,
        Baseline::RingHash,
        Baseline::RingHashBounded(125),
        Baseline::MaglevBounded(200),
    ];
    let mut clusters = Vec::new();
    for baseline in baselines {
        let builder = Cluster::builder().external_servers(servers.clone()).baseline(baseline);
        clusters.push(builder.admin_socket(true).start().await.unwrap());
    }
    for cluster in &clusters {
        assert_eq!(get(cluster, "k").await.unwrap().status, 200);
        assert!(cluster.admin_page("/ready").await.unwrap().contains("LIVE"));
    }
}

#[tokio::test]
async fn servers_leave_envoys_list_and_weights_change_while_it_runs() {
    let stubs = StubServers::start(3).await.unwrap();
    let servers = stubs.addresses().to_vec();
    let builder =
        Cluster::builder().external_servers(servers.clone()).baseline(Baseline::RoundRobin);
    let mut cluster = builder.start().await.unwrap();
    cluster.remove_server(0).await.unwrap();
    for _ in 0..10 {
        assert_ne!(get(&cluster, "k").await.unwrap().body, servers[0].to_string());
    }
    cluster.set_weight(1, 3).unwrap();
    let weighted =
        |stats: &std::collections::BTreeMap<_, _>| stats["cluster.app.max_host_weight"] == 3;
    cluster
        .wait_for_stats("the new weight", std::time::Duration::from_secs(5), weighted)
        .await
        .unwrap();
}

#[tokio::test]
async fn misuse_is_an_error_that_says_so() {
    let stubs = StubServers::start(2).await.unwrap();
    let servers = stubs.addresses().to_vec();
    let builder = Cluster::builder().external_servers(servers).baseline(Baseline::Maglev);
    let mut cluster = builder.start().await.unwrap();
    assert!(matches!(cluster.kill_server(0), Err(ClusterError::NotRunning { index: 0 })));
    let beyond = cluster.kill_server(2).unwrap_err().to_string();
    assert_eq!(beyond, "no server 2: allowed are 0 to 1");
    assert!(matches!(cluster.reload_filter_config("{}").await, Err(ClusterError::NoFilter)));
    let missing = cluster.admin_page("/nothing-here").await.unwrap_err().to_string();
    assert!(missing.ends_with("/nothing-here: answered 404 Not Found"), "{missing}");
}

#[tokio::test]
async fn an_envoy_that_does_not_start_shows_its_own_words() {
    let stubs = StubServers::start(1).await.unwrap();
    let servers = stubs.addresses().to_vec();
    let builder = Cluster::builder().external_servers(servers).baseline(Baseline::Maglev);
    let error = builder.log_level("no-such-level").start().await.unwrap_err();
    assert!(matches!(error, ClusterError::Ended { .. }), "{error}");
    assert!(error.to_string().contains("no-such-level"), "{error}");
}
