//! Members by the admin interface: who leaves, who comes back, and which keys move.

use std::collections::BTreeMap;

use crate::common::admin::Endpoint;
use crate::common::gateway::TICK_MS;
use crate::common::{Gateway, ONE_OWNER, STRATEGIES, Setup, address};

const POLL_MS: u64 = 1000;

/// A plan by admin may be `POLL_MS` old; then it is planned in a tick or two.
const ROUNDS_TO_LEAVE: usize = (POLL_MS / TICK_MS) as usize + 2;

/// Where a key has one owner the plan also waits two ticks for its time, so that all switch at once.
fn rounds_to_leave(strategy: &str) -> usize {
    ROUNDS_TO_LEAVE + if strategy == "spread" { 0 } else { 2 }
}

fn key(i: usize) -> String {
    format!("key-{i}")
}

fn owners_of(gateway: &mut Gateway, keys: usize) -> Vec<String> {
    (0..keys)
        .map(|i| gateway.request(i % gateway.workers.len(), &key(i)).owners[0].clone())
        .collect()
}

fn is_member(gateway: &Gateway, address: &str) -> bool {
    let plan = gateway.shared().plan().unwrap();
    plan.members.servers().iter().any(|server| server.address.as_str() == address)
}

#[test]
fn every_kind_of_unusable_server_leaves_and_comes_back() {
    let healthy = r#""eds_health_status":"HEALTHY""#;
    let kinds = [
        r#""eds_health_status":"UNHEALTHY""#.to_owned(),
        r#""eds_health_status":"DRAINING""#.to_owned(),
        r#""eds_health_status":"TIMEOUT""#.to_owned(),
        format!(r#"{healthy},"failed_active_health_check":true"#),
        format!(r#"{healthy},"failed_active_health_check":true,"pending_active_hc":true"#),
        format!(r#"{healthy},"failed_outlier_check":true"#),
        format!(r#"{healthy},"pending_dynamic_removal":true"#),
        format!(r#"{healthy},"excluded_via_immediate_hc_fail":true"#),
        format!(r#"{healthy},"active_hc_timeout":true"#),
    ];
    let mut gateway = Gateway::start(2, &Setup::admin());
    let before = owners_of(&mut gateway, 300);
    for kind in kinds {
        gateway.admin.endpoints[2].health.clone_from(&kind);
        gateway.tick_rounds(ROUNDS_TO_LEAVE);
        assert!(!is_member(&gateway, &address(2)), "{kind}");
        let during = owners_of(&mut gateway, 300);
        assert!(!during.contains(&address(2)), "{kind}");
        gateway.tick_all();
        assert_eq!(
            (gateway.gauge("servers"), gateway.gauge("servers_unusable")),
            (Some(4), Some(1))
        );
        gateway.admin.endpoints[2].health = healthy.into();
        gateway.tick_rounds(ROUNDS_TO_LEAVE);
        assert_eq!(owners_of(&mut gateway, 300), before, "{kind}");
    }
    gateway.admin.endpoints[2].health = r#""eds_health_status":"DEGRADED""#.into();
    gateway.tick_rounds(ROUNDS_TO_LEAVE);
    assert!(is_member(&gateway, &address(2)), "degraded is still usable");
}

#[test]
fn a_server_that_is_gone_leaves_under_every_strategy() {
    for strategy in STRATEGIES {
        let mut gateway = Gateway::start(3, &Setup::admin().strategy(strategy));
        gateway.tick_rounds(7);
        let gone = gateway.admin.endpoints.remove(1);
        gateway.tick_rounds(rounds_to_leave(strategy));
        let owners = owners_of(&mut gateway, 500);
        assert!(!owners.contains(&gone.address), "{strategy}");
        for i in [0, 2, 3, 4] {
            assert!(owners.contains(&address(i)), "{strategy}: {} has no key", address(i));
        }
        gateway.agreed_version();
    }
}

/// With one of `n` leaving: at most 1/n + 1% of the keys move, none of them between two that stay.
fn moves_little(strategy: &str, n: usize) {
    const KEYS: usize = 10_000;
    let mut gateway = Gateway::cold(4, &Setup::admin().strategy(strategy));
    gateway.admin.endpoints = (0..n).map(|i| Endpoint::healthy(&address(i))).collect();
    gateway.tick_rounds(10);
    let before = owners_of(&mut gateway, KEYS);
    let left = gateway.admin.endpoints.remove(n / 2);
    gateway.tick_rounds(20);
    let during = owners_of(&mut gateway, KEYS);
    let moved = before.iter().zip(&during).filter(|(old, new)| old != new).count();
    let between =
        before.iter().zip(&during).filter(|(old, new)| old != new && **old != left.address);
    assert_eq!(between.count(), 0, "{strategy}, {n} servers: keys moved between two that stayed");
    let most = KEYS / n + KEYS / 100;
    assert!(moved <= most, "{strategy}, {n} servers: {moved} keys moved and {most} may");
    gateway.admin.endpoints.insert(0, left);
    gateway.tick_rounds(20);
    assert_eq!(owners_of(&mut gateway, KEYS), before, "{strategy}: back to its old keys");
}

#[test]
fn rendezvous_strategies_move_only_the_keys_of_a_server_that_leaves() {
    for n in [2, 5, 20] {
        moves_little("spread", n);
        moves_little("pin", n);
    }
}

#[test]
fn a_server_that_comes_takes_its_share_from_all_alike() {
    let mut gateway = Gateway::start(2, &Setup::admin());
    let before = owners_of(&mut gateway, 5000);
    gateway.admin.endpoints.push(Endpoint::healthy(&address(5)));
    gateway.tick_rounds(20);
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    for (old, new) in before.iter().zip(owners_of(&mut gateway, 5000)) {
        if *old != new {
            assert_eq!(new, address(5));
            *taken.entry(old.clone()).or_default() += 1;
        }
    }
    assert!(
        taken.len() == 5 && taken.values().all(|&count| (100..=250).contains(&count)),
        "{taken:?}"
    );
}

#[test]
fn weights_are_respected_by_all_strategies() {
    for strategy in STRATEGIES {
        let mut gateway = Gateway::cold(2, &Setup::admin().strategy(strategy));
        gateway.admin.endpoints = (0..4).map(|i| Endpoint::healthy(&address(i))).collect();
        gateway.admin.endpoints[1].weight = 3;
        gateway.tick_rounds(10);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for owner in owners_of(&mut gateway, 6000) {
            *counts.entry(owner).or_default() += 1;
        }
        let heavy = counts[&address(1)];
        assert!((2700..=3300).contains(&heavy), "{strategy}: {counts:?}");
        gateway.admin.endpoints[1].weight = 1;
        gateway.tick_rounds(20);
        // `lpt` deals anew what is asked for, and leaves what is not.
        owners_of(&mut gateway, 6000);
        gateway.tick_rounds(20);
        let heavy =
            owners_of(&mut gateway, 6000).iter().filter(|owner| **owner == address(1)).count();
        assert!((1300..=1700).contains(&heavy), "{strategy}: {heavy} of 6000 after it got lighter");
    }
}

#[test]
fn the_first_priority_with_a_usable_server_counts() {
    let mut gateway = Gateway::start(1, &Setup::admin());
    gateway.admin.endpoints[3].priority = 1;
    gateway.admin.endpoints[4].priority = 1;
    gateway.tick_rounds(20);
    let owners = owners_of(&mut gateway, 300);
    assert!(!owners.contains(&address(3)) && !owners.contains(&address(4)));
    for endpoint in &mut gateway.admin.endpoints[..3] {
        endpoint.health = r#""eds_health_status":"UNHEALTHY""#.into();
    }
    gateway.tick_rounds(20);
    let owners = owners_of(&mut gateway, 300);
    assert!(owners.iter().all(|owner| *owner == address(3) || *owner == address(4)));
}

#[test]
fn from_no_server_to_one_to_many_and_back() {
    for strategy in STRATEGIES {
        let mut gateway = Gateway::cold(2, &Setup::admin().strategy(strategy));
        gateway.admin.endpoints.clear();
        for count in [0, 1, 2, 1000, 1, 0, 5] {
            gateway.admin.endpoints = (0..count).map(|i| Endpoint::healthy(&address(i))).collect();
            gateway.tick_rounds(rounds_to_leave(strategy));
            let routed = gateway.request(1, "k");
            assert_eq!(
                routed.owners.len(),
                count.min(3),
                "{strategy}, {count} servers: {routed:?}"
            );
            assert_eq!(routed.reason == "no_server", count == 0, "{strategy}, {count}: {routed:?}");
            if count > 0 {
                gateway.agreed_version();
            }
        }
    }
}

#[test]
fn addresses_of_version_6_are_written_in_brackets() {
    let mut gateway = Gateway::cold(1, &Setup::admin());
    gateway.admin.endpoints =
        vec![Endpoint::healthy("[fd00::1]:80"), Endpoint::healthy("[::ffff:10.0.0.9]:81")];
    gateway.tick_rounds(10);
    let mut owners = gateway.request(0, "k").owners;
    owners.sort();
    assert_eq!(owners, ["[::ffff:10.0.0.9]:81", "[fd00::1]:80"]);
}

#[test]
fn requests_under_way_outlive_their_server() {
    for strategy in ONE_OWNER.into_iter().chain(["spread"]) {
        let mut gateway = Gateway::start(1, &Setup::admin().strategy(strategy));
        let open: Vec<_> = (0..100).map(|i| gateway.open(0, &key(i))).collect();
        let endpoints = gateway.admin.endpoints.split_off(1);
        gateway.tick_rounds(20);
        gateway.admin.endpoints.extend(endpoints);
        gateway.tick_rounds(20);
        open.into_iter().for_each(|stream| gateway.finish(0, stream));
        assert_eq!(gateway.request(0, "k").owners.len(), 3, "{strategy}");
    }
}
