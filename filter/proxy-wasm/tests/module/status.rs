//! What the status page shows is what is: the plan, the workers, Envoy's own counts, and the way that keys take.

use std::path::Path;

use rudolph_core::telemetry::Counter;
use serde_json::{Value, json};

use crate::common::page::Page;
use crate::common::{Gateway, ONE_OWNER, Random, STRATEGIES, Setup, address};

/// Requests of skewed keys, and enough ticks that everything about them is told.
fn load(gateway: &mut Gateway, rounds: usize, seed: u64) {
    let random = Random::of(seed);
    for round in 0..rounds {
        for i in 0..60 {
            let worker = (i + round) % gateway.workers.len();
            gateway.request(worker, &random.key(500));
        }
        gateway.tick_all();
    }
}

fn encoded(key: &str) -> String {
    key.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

#[test]
fn it_shows_the_plan_the_workers_and_envoys_own_figures() {
    for strategy in STRATEGIES {
        let mut gateway = Gateway::start(3, &Setup::servers(5).strategy(strategy));
        let page = Page::add(&mut gateway);
        load(&mut gateway, 40, 1);
        page.tick(&mut gateway);
        let version = gateway.agreed_version();
        gateway.tick_rounds(10);
        let filter = page.filter(&mut gateway);
        assert_eq!(filter["strategy"], strategy);
        assert_eq!(filter["servers"].as_array().unwrap().len(), 5, "{strategy}");
        assert!(filter["plan"]["version"].as_u64().unwrap() >= version, "{strategy}");
        let workers = filter["workers"].as_array().unwrap();
        assert_eq!(workers.len(), 3, "{strategy}");
        assert!(workers.iter().all(|worker| worker["agrees"] == true), "{strategy}: {workers:?}");
        for counter in Counter::ALL {
            let shown = &filter["metrics"][counter.name()];
            assert_eq!(shown, gateway.counter(counter.name()), "{strategy}: {}", counter.name());
        }
        for gauge in ["plan_version", "servers", "workers", "hot_keys"] {
            assert_eq!(
                filter["metrics"][gauge],
                gateway.gauge(gauge).unwrap(),
                "{strategy}: {gauge}"
            );
        }
        assert_eq!(filter["alarms"], json!([]), "{strategy}");
    }
}

#[test]
fn loads_and_history_follow_the_requests() {
    for strategy in ["spread", "pin", "rotation", "lpt"] {
        let mut gateway = Gateway::start(2, &Setup::servers(5).strategy(strategy));
        let page = Page::add(&mut gateway);
        load(&mut gateway, 120, 2);
        let filter = page.filter(&mut gateway);
        let samples = filter["history"]["samples"].as_array().unwrap();
        assert!(samples.len() >= 11, "{strategy}: {} samples in 12 s", samples.len());
        let times: Vec<u64> = samples.iter().map(|sample| sample[0].as_u64().unwrap()).collect();
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= 1_000), "{strategy}: {times:?}");
        let peak = filter["load"]["peak_over_mean"].as_f64().unwrap();
        let plain = filter["load"]["plain_peak_over_mean"].as_f64().unwrap();
        assert!((1.0..5.0).contains(&peak) && (1.0..5.0).contains(&plain), "{peak} {plain}");
        let loads: Vec<f64> = filter["servers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["load"].as_f64().unwrap())
            .collect();
        assert!((loads.iter().sum::<f64>() / 5.0 - 1.0).abs() < 0.01, "{strategy}: {loads:?}");
        let most = loads.iter().copied().fold(0.0, f64::max);
        assert!((most - peak).abs() < 0.001, "{strategy}: {most} {peak}");
        for server in filter["servers"].as_array().unwrap() {
            let mean = server["load_5m"].as_f64().unwrap();
            assert!((0.1..5.0).contains(&mean), "{strategy}: {mean}");
            let columns = filter["history"]["columns"].as_array().unwrap().len();
            assert_eq!(server["loads"].as_array().unwrap().len(), columns, "{strategy}");
        }
        let arcs: u64 =
            filter["ring"]["arcs"].as_array().unwrap().iter().map(|a| a[1].as_u64().unwrap()).sum();
        let bins = filter["ring"]["bins"].as_u64().unwrap();
        assert!(bins - arcs < 5, "{strategy}: arcs over {arcs} of {bins} bins");
    }
}

/// The same counts through the strategy that is plain hashing have the peak that the counterfactual tells.
#[test]
fn the_counterfactual_is_what_static_does_with_the_same_requests() {
    for strategy in ["spread", "pin", "rotation", "lpt"] {
        let of = |strategy: &str| {
            let mut gateway = Gateway::start(2, &Setup::servers(5).strategy(strategy));
            let page = Page::add(&mut gateway);
            load(&mut gateway, 100, 3);
            page.filter(&mut gateway)["history"]["samples"].clone()
        };
        let mean = |samples: &Value, at: usize| {
            let late = samples.as_array().unwrap().iter().rev().take(6);
            late.map(|sample| sample[at].as_f64().unwrap()).sum::<f64>() / 6.0
        };
        let (told, done) = (mean(&of(strategy), 2), mean(&of("static"), 1));
        assert!(
            (told / done - 1.0).abs() < 0.12,
            "{strategy}: told {told:.3}, static has {done:.3}"
        );
    }
}

#[test]
fn an_explanation_is_where_requests_really_go() {
    for strategy in STRATEGIES {
        let mut gateway = Gateway::start(2, &Setup::servers(7).strategy(strategy));
        let page = Page::add(&mut gateway);
        load(&mut gateway, 30, 4);
        for i in 0..60 {
            // Low numbers are hot, high ones were never seen.
            let key = format!("key-{}", i * i / 4 + 1);
            let told = page.json(&mut gateway, &format!("/explain?key={}", encoded(&key)));
            let routed = gateway.request(i % 2, &key);
            assert_eq!(told["plan"], routed.plan, "{strategy} {key}");
            let owners = told["owners"].as_array().unwrap();
            let serving = owners.iter().filter(|owner| owner["role"] != "retry");
            let serving: Vec<&str> =
                serving.map(|owner| owner["address"].as_str().unwrap()).collect();
            assert!(serving.contains(&routed.owner()), "{strategy} {key}: {told} {routed:?}");
            let hot = told["reason"] == "hot";
            assert_eq!(hot, serving.len() > 1, "{strategy} {key}");
            if !hot {
                let all: Vec<&str> =
                    owners.iter().map(|o| o["address"].as_str().unwrap()).collect();
                assert_eq!(all, routed.owners, "{strategy} {key}: the retries too");
            }
        }
    }
}

#[test]
fn where_a_key_would_go_without_a_server_is_where_it_goes() {
    for strategy in ["spread", "pin", "rotation", "lpt", "static"] {
        let setup = Setup::admin().strategy(strategy).with("spread", r#"{"hot_keys":false}"#);
        let mut gateway = Gateway::start(2, &setup);
        gateway.tick_rounds(20);
        let page = Page::add(&mut gateway);
        let lost = address(2);
        let keys: Vec<String> = (0..40).map(|i| format!("cold-{i}")).collect();
        let told: Vec<(String, bool)> = keys
            .iter()
            .map(|key| {
                let path = format!("/explain?key={key}&without={lost}");
                let without = page.json(&mut gateway, &path)["without"].clone();
                let owner = without["owners"][0]["address"].as_str().unwrap().to_owned();
                (owner, without["moves"].as_bool().unwrap())
            })
            .collect();
        let before: Vec<String> =
            keys.iter().map(|key| gateway.request(0, key).owner().to_owned()).collect();
        gateway.admin.endpoints.remove(2);
        gateway.tick_rounds(30);
        for ((key, before), (owner, moves)) in keys.iter().zip(before).zip(told) {
            let after = gateway.request(1, key);
            assert_eq!(after.owner(), owner, "{strategy} {key}");
            assert_eq!(before != owner, moves, "{strategy} {key}");
        }
    }
}

#[test]
fn servers_that_are_left_out_are_named_with_the_reason() {
    let mut gateway = Gateway::start(2, &Setup::admin());
    let page = Page::add(&mut gateway);
    gateway.admin.endpoints[1].health = r#""failed_active_health_check":true"#.into();
    gateway.admin.endpoints[3].health = r#""eds_health_status":"DRAINING""#.into();
    gateway.tick_rounds(25);
    let filter = page.filter(&mut gateway);
    assert_eq!(filter["servers"].as_array().unwrap().len(), 3);
    let expected = json!([
        {"address": address(1), "reason": "fails its health check"},
        {"address": address(3), "reason": "draining"},
    ]);
    assert_eq!(filter["left_out"], expected);
    assert_eq!(filter["alarms"], json!(["2 servers are left out."]));
    gateway.admin.endpoints[1].health = r#""eds_health_status":"HEALTHY""#.into();
    gateway.admin.endpoints[3].health = r#""eds_health_status":"HEALTHY""#.into();
    gateway.tick_rounds(25);
    assert_eq!(page.filter(&mut gateway)["left_out"], json!([]));
}

#[test]
fn hot_keys_are_hashes_unless_they_may_be_seen() {
    for clear in ["false", "true"] {
        let mut gateway = Gateway::start(2, &Setup::servers(5).with("clear_keys", clear));
        let page = Page::add(&mut gateway);
        let long = format!("<b>{}", "x".repeat(100));
        for round in 0..20 {
            for i in 0..40 {
                let cold = format!("cold-{round}-{i}");
                gateway.request(i % 2, if i % 4 == 0 { &long } else { &cold });
            }
            gateway.tick_all();
        }
        let hottest = page.filter(&mut gateway)["hot_keys"][0].clone();
        let hash = rudolph_core::hash::KeyHash::of(long.as_bytes()).0;
        assert_eq!(hottest["hash"], format!("{hash:016x}"));
        let shown = if clear == "true" { json!(&long[..64]) } else { Value::Null };
        assert_eq!(hottest["key"], shown);
        assert!(hottest["owners"].as_array().unwrap().len() > 1);
    }
}

#[test]
fn nothing_is_left_for_a_page_that_is_not_there() {
    let mut gateway = Gateway::start(2, &Setup::admin().with("clear_keys", "true"));
    load(&mut gateway, 30, 5);
    let keys: Vec<String> = (gateway.host.shared_data().keys().into_iter())
        .map(|key| String::from_utf8(key).unwrap())
        .collect();
    let extra = ["watch", "text", "history", "view", "left_out"];
    let found = keys.iter().find(|key| extra.iter().any(|name| key.ends_with(name)));
    assert_eq!(found, None);
}

#[test]
fn several_filters_are_told_apart() {
    let mut gateway = Gateway::start(1, &Setup::servers(5));
    let first = gateway.workers[0].root();
    let other = Setup::servers(3).strategy("rotation").with("stat_prefix", "\"other\"");
    let second = gateway.workers[0].add_root(other.json()).unwrap();
    let page = Page::add_cold(&mut gateway);
    page.tick(&mut gateway);
    for _ in 0..40 {
        gateway.advance_ms(100);
        gateway.workers[0].tick_root(first).unwrap();
        gateway.workers[0].tick_root(second).unwrap();
    }
    let document = page.json(&mut gateway, "/status.json");
    let names: Vec<&str> = document["filters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["rudolph", "other"]);
    let id = document["filters"][1]["id"].as_str().unwrap().to_owned();
    let chosen = page.json(&mut gateway, &format!("/status.json?filter={id}"));
    assert_eq!(chosen["filter"]["id"], id.as_str());
    assert_eq!(chosen["filter"]["servers"].as_array().unwrap().len(), 3);
    let told = page.json(&mut gateway, &format!("/explain?key=a&filter={id}"));
    assert_eq!(told["bins"], 3 * 64);
}

#[test]
fn a_worker_that_follows_an_old_plan_shows() {
    let mut gateway = Gateway::start(3, &Setup::admin());
    let page = Page::add(&mut gateway);
    gateway.admin.endpoints.remove(0);
    // The third worker sleeps, not so long that its slot is taken.
    for _ in 0..60 {
        gateway.tick_all_but(&[2]);
    }
    let filter = page.filter(&mut gateway);
    let agree: Vec<bool> = filter["workers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| w["agrees"].as_bool().unwrap())
        .collect();
    assert_eq!(agree, [true, true, false]);
    assert_eq!(filter["alarms"][0], "Workers that follow an old plan, by slot: 2.");
    gateway.tick_rounds(10);
    assert_eq!(page.filter(&mut gateway)["alarms"], json!([]));
}

#[test]
fn torn_values_are_left_out_and_come_back() {
    let mut gateway = Gateway::start(2, &Setup::admin());
    let page = Page::add(&mut gateway);
    load(&mut gateway, 20, 6);
    page.filter(&mut gateway);
    let data = gateway.host.shared_data().clone();
    let own = ["watch", "text", "history", "view", "left_out"];
    let torn = |key: &&Vec<u8>| own.iter().any(|name| key.ends_with(name.as_bytes()));
    for key in data.keys().iter().filter(torn) {
        data.put_raw(key, b"RDLF rubbish");
    }
    let filter = page.filter(&mut gateway);
    assert_eq!(filter["servers"].as_array().unwrap().len(), 5, "the plan is whole");
    assert_eq!(filter["history"]["samples"], json!([]));
    assert_eq!(filter["workers"][0]["plan"], Value::Null);
    page.tick(&mut gateway);
    gateway.tick_rounds(40);
    let filter = page.filter(&mut gateway);
    assert!(!filter["history"]["samples"].as_array().unwrap().is_empty());
    assert!(filter["workers"][0]["plan"].as_u64().unwrap() > 0);
    // The text is looked after once a minute; a page that begins then finds it.
    for _ in 0..65 {
        page.tick(&mut gateway);
        gateway.tick_rounds(10);
    }
    let late = Page::add(&mut gateway);
    assert_eq!(late.filter(&mut gateway)["servers"].as_array().unwrap().len(), 5);
}

#[test]
fn one_owner_a_key_means_one_server_shown() {
    for strategy in ONE_OWNER {
        let mut gateway = Gateway::start(2, &Setup::servers(5).strategy(strategy));
        let page = Page::add(&mut gateway);
        load(&mut gateway, 40, 7);
        for key in page.filter(&mut gateway)["hot_keys"].as_array().unwrap() {
            assert_eq!(key["owners"].as_array().unwrap().len(), 1, "{strategy}: {key}");
        }
    }
}

/// Documents of the compiled module that the tests in a browser show: gateways of a size that no machine here has.
#[test]
fn documents_for_the_browser() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/status-page");
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, document: &Value| {
        std::fs::write(folder.join(name), document.to_string()).unwrap();
    };
    for (name, strategy, servers) in [
        ("200.json", "spread", 200),
        ("200-rotation.json", "rotation", 200),
        ("1.json", "spread", 1),
    ] {
        let mut gateway = Gateway::start(2, &Setup::servers(servers).strategy(strategy));
        let page = Page::add(&mut gateway);
        for part in 0..12 {
            load(&mut gateway, 10, 8);
            // A gateway of that size has more requests a tick.
            let random = Random::of(part);
            (0..servers * 40).for_each(|i| drop(gateway.request(i % 2, &random.key(100_000))));
            gateway.tick_rounds(1);
        }
        let document = page.json(&mut gateway, "/status.json");
        assert_eq!(document["filter"]["servers"].as_array().unwrap().len(), servers);
        write(name, &document);
    }
    let mut gateway = Gateway::cold(2, &Setup::admin());
    let page = Page::add_cold(&mut gateway);
    write("nothing.json", &page.json(&mut gateway, "/status.json"));
    gateway.admin.answer = crate::common::admin::Answer::Never;
    page.tick(&mut gateway);
    gateway.tick_rounds(25);
    let document = page.json(&mut gateway, "/status.json");
    assert_eq!(document["filter"]["plan"], Value::Null);
    write("before-the-first-plan.json", &document);
    gateway.admin.answer = crate::common::admin::Answer::Well;
    gateway.admin.endpoints.iter_mut().for_each(|endpoint| {
        endpoint.health = r#""failed_active_health_check":true"#.into();
    });
    gateway.tick_rounds(60);
    let document = page.json(&mut gateway, "/status.json");
    assert_eq!(document["filter"]["servers"], json!([]));
    assert_eq!(
        document["filter"]["alarms"][0],
        "No server is usable: Envoy's fallback policy routes."
    );
    write("0.json", &document);
}
