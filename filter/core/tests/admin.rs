//! What Envoy's admin interface says of a cluster. `vectors/clusters.json` is the answer of a real Envoy 1.40 to
//! `/clusters?format=json`, with every health that a configuration can give and a failed active check.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod common;

use rudolph_core::admin::{AdminFault, Census, read_clusters};
use rudolph_core::servers::MAX_WEIGHT;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const REAL: &[u8] = include_bytes!("../vectors/clusters.json");

/// `address weight` of each usable server, and the number of the others.
fn told(census: &Census) -> (Vec<String>, usize) {
    let servers = census.usable.servers().iter();
    let text = servers.map(|server| format!("{} {}", server.address.as_str(), server.weight));
    (text.collect(), census.unusable)
}

/// A census of hosts, each written as the inside of its JSON object.
fn census(hosts: &[String]) -> Census {
    let hosts: Vec<String> = hosts.iter().map(|host| format!("{{{host}}}")).collect();
    let hosts = hosts.join(",");
    let text = format!(
        r#"{{"cluster_statuses": [
            {{"name": "other", "host_statuses": [{{"address": {{}}}}]}},
            {{"name": "app", "added_via_api": true, "host_statuses": [{hosts}]}}]}}"#
    );
    read_clusters(text.as_bytes(), "app").unwrap()
}

fn host(address: &str, port: u32, more: &str) -> String {
    format!(
        r#""address": {{"socket_address": {{"address": "{address}", "port_value": {port}}}}}{more}"#
    )
}

fn with_health(flags: &str) -> Census {
    let more = format!(r#", "health_status": {{{flags}}}"#);
    census(&[host("10.0.0.1", 1, ""), host("10.0.0.2", 2, &more)])
}

#[test]
fn a_real_answer() {
    let plain = read_clusters(REAL, "plain").unwrap();
    let usable = ["127.0.0.1:9001 7", "127.0.0.1:9006 1", "127.0.0.1:9007 1", "[::1]:9002 1"];
    assert_eq!(told(&plain), (usable.map(String::from).to_vec(), 4));
    let checked = read_clusters(REAL, "checked").unwrap();
    assert_eq!(told(&checked), (vec!["127.0.0.1:9200 3".into()], 1), "priority 0 failed its check");
    let piped = read_clusters(REAL, "piped").unwrap();
    assert_eq!(told(&piped), (vec![], 1), "override_host cannot name a pipe");
    assert_eq!(told(&read_clusters(REAL, "nobody").unwrap()), (vec![], 0));
    assert_eq!(read_clusters(REAL, "stranger"), Err(AdminFault::NoCluster));
}

#[test]
fn each_flag_makes_a_server_unusable() {
    let flags = [
        r#""failed_active_health_check": true"#,
        r#""failed_outlier_check": true"#,
        r#""pending_dynamic_removal": true"#,
        r#""pending_active_hc": true"#,
        r#""excluded_via_immediate_hc_fail": true"#,
        r#""active_hc_timeout": true"#,
        r#""eds_health_status": "UNHEALTHY""#,
        r#""eds_health_status": "DRAINING""#,
        r#""eds_health_status": "TIMEOUT""#,
    ];
    for flag in flags {
        assert_eq!(told(&with_health(flag)), (vec!["10.0.0.1:1 1".into()], 1), "{flag}");
        let off = flag.replace("true", "false");
        let used = with_health(&off).usable.len() == 2;
        assert_eq!(used, off != flag, "{off}");
    }
}

#[test]
fn a_server_is_usable_by_default_and_while_degraded() {
    for flags in [
        "",
        r#""eds_health_status": "HEALTHY""#,
        r#""eds_health_status": "DEGRADED""#,
        r#""eds_health_status": "UNKNOWN""#,
        r#""failed_active_degraded_check": true"#,
        r#""a_flag_of_tomorrow": true"#,
    ] {
        assert_eq!(with_health(flags).usable.len(), 2, "{flags}");
    }
}

#[test]
fn weights_are_kept_in_bounds() {
    let weight = |weight: u32| {
        let found = census(&[host("10.0.0.1", 1, &format!(r#", "weight": {weight}"#))]);
        found.usable.servers()[0].weight
    };
    assert_eq!(weight(0), 1);
    assert_eq!(weight(9), 9);
    assert_eq!(weight(u32::MAX), MAX_WEIGHT);
}

#[test]
fn the_first_priority_with_a_usable_server_serves() {
    let at = |last: u32, priority: u32, more: &str| {
        let more = format!(r#", "priority": {priority}, "health_status": {{{more}}}"#);
        host("10.0.0.9", last, &more)
    };
    let sick = r#""failed_outlier_check": true"#;
    let found = census(&[at(3, 2, ""), at(2, 1, ""), at(1, 0, sick), at(4, 1, "")]);
    assert_eq!(told(&found), (vec!["10.0.0.9:2 1".into(), "10.0.0.9:4 1".into()], 2));
    assert_eq!(told(&census(&[at(1, 0, sick), at(2, 1, sick)])), (vec![], 2));
}

#[test]
fn addresses() {
    let one = |address: &str, port| told(&census(&[host(address, port, "")]));
    assert_eq!(one("2001:db8::7", 80).0, ["[2001:db8::7]:80 1"]);
    assert_eq!(one("::ffff:1.2.3.4", 80).0, ["[::ffff:1.2.3.4]:80 1"]);
    for (address, port) in [("host.example", 80), ("", 80), ("1.2.3.4", 0), ("1.2.3.4", 65_536)] {
        assert_eq!(one(address, port), (vec![], 1), "{address}:{port}");
    }
    let odd = [
        r#""address": {"pipe": {"path": "/run/a.sock"}}"#,
        r#""address": {"envoy_internal_address": {"server_listener_name": "x"}}"#,
    ];
    for host in odd {
        assert_eq!(told(&census(&[host.into()])), (vec![], 1), "{host}");
    }
}

#[test]
fn one_address_twice_is_one_server() {
    let twice = [host("10.0.0.1", 1, ""), host("10.0.0.1", 1, "")];
    assert_eq!(census(&twice).usable.len(), 1);
}

#[test]
fn empty_and_malformed() {
    for text in ["{}", r#"{"cluster_statuses": []}"#] {
        assert_eq!(read_clusters(text.as_bytes(), "app"), Err(AdminFault::NoCluster), "{text}");
    }
    let bad = [
        "",
        "app::10.0.0.1:80::cx_active::0\n",
        "<html>",
        "[",
        r#"{"cluster_statuses": 7}"#,
        r#"{"cluster_statuses": [{"name": "app", "host_statuses": [{}]}]}"#,
        "\u{0}",
    ];
    for text in bad {
        let found = read_clusters(text.as_bytes(), "app");
        assert!(matches!(found, Err(AdminFault::Malformed(_))), "{text}: {found:?}");
    }
    for end in 0..REAL.len() - 2 {
        let found = read_clusters(&REAL[..end], "plain");
        assert!(matches!(found, Err(AdminFault::Malformed(_))), "cut at {end}");
    }
    assert!(read_clusters(b"\xff\xfe{}", "app").is_err());
}

#[test]
fn a_thousand_hosts() {
    let hosts: Vec<String> = (0..1000)
        .map(|i| {
            let sick = r#", "health_status": {"failed_outlier_check": true}"#;
            let more = if i % 10 == 0 { sick } else { "" };
            host(&format!("10.0.{}.{}", i / 250, i % 250), 8080, more)
        })
        .collect();
    let found = census(&hosts);
    assert_eq!((found.usable.len(), found.unusable), (900, 100));
    let addresses = found.usable.servers().iter().map(|server| &server.address);
    assert!(addresses.is_sorted(), "every gateway numbers them alike");
}
