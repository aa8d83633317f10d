//! docker-compose.yml and what it mounts, without a container: what people read and copy must be sound.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may stop")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rudolph_cluster::validate;
use rudolph_core::telemetry::{Counter, Gauge};
use serde_json::Value;

const FOLDER: &str = "envoy/compose";
const DASHBOARD: &str = "envoy/compose/grafana/dashboards/rudolph.json";
const MODULE: &str = "/etc/rudolph/rudolph.wasm";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

fn yaml(path: &str) -> Value {
    yaml_serde::from_str(&text(path)).unwrap()
}

fn services() -> Vec<(String, Value)> {
    let compose: Value = yaml("docker-compose.yml");
    let services = compose["services"].as_object().unwrap().clone();
    services.into_iter().map(|(name, service)| (name, merged(service))).collect()
}

/// YAML's `<<`, which the parser leaves to the reader.
fn merged(service: Value) -> Value {
    let mut service = service.as_object().unwrap().clone();
    let mut whole = service
        .remove("<<")
        .map_or_else(Default::default, |base| base.as_object().unwrap().clone());
    whole.extend(service);
    Value::Object(whole)
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Envoy checks a copy in which the module is the one that was built here.
fn accepted_by_envoy(name: &str) {
    let built = std::env::var("RUDOLPH_WASM")
        .map_or_else(|_| root().join("target/rudolph.wasm"), PathBuf::from);
    let config = text(&format!("{FOLDER}/{name}")).replace(MODULE, built.to_str().unwrap());
    let copy = std::env::temp_dir().join(format!("rudolph-compose-{}-{name}", std::process::id()));
    std::fs::write(&copy, config).unwrap();
    let result = validate(&copy);
    std::fs::remove_file(&copy).unwrap();
    result.unwrap();
}

#[test]
fn envoy_accepts_the_gateway_with_the_filter() {
    assert!(text("envoy/compose/Dockerfile").contains(MODULE));
    assert!(text("envoy/compose/rudolph.yaml").contains(MODULE));
    accepted_by_envoy("rudolph.yaml");
}

#[test]
fn envoy_accepts_the_baseline() {
    assert!(!text("envoy/compose/maglev.yaml").contains(MODULE));
    accepted_by_envoy("maglev.yaml");
}

#[test]
fn the_gateway_differs_from_the_stand_alone_one_in_where_servers_are_and_nowhere_else() {
    let policy = |file: &str| {
        let config = yaml(file);
        let clusters = config["static_resources"]["clusters"].as_array().unwrap().clone();
        let mut app = clusters.into_iter().find(|cluster| cluster["name"] == "app").unwrap();
        let fields = app.as_object_mut().unwrap();
        for place in ["type", "cluster_type", "load_assignment"] {
            fields.remove(place);
        }
        let listeners = config["static_resources"]["listeners"].as_array().unwrap();
        let filters = listeners[0]["filter_chains"][0]["filters"].to_string();
        (app, filters.replace("target/rudolph.wasm", MODULE))
    };
    for name in ["rudolph.yaml", "maglev.yaml"] {
        let compose = policy(&format!("{FOLDER}/{name}"));
        assert_eq!(compose, policy(&format!("envoy/standalone/{name}")), "{name}");
    }
}

#[test]
fn every_service_is_hardened() {
    let services = services();
    let names: Vec<&str> = services.iter().map(|(name, _)| name.as_str()).collect();
    let all = ["app", "gateway", "grafana", "load", "postgres", "prometheus"];
    assert_eq!(BTreeSet::from_iter(names), BTreeSet::from(all));
    for (name, service) in &services {
        assert_eq!(service["read_only"], true, "{name}");
        assert_eq!(strings(&service["cap_drop"]), ["ALL"], "{name}");
        assert_eq!(strings(&service["security_opt"]), ["no-new-privileges:true"], "{name}");
        let limits = &service["deploy"]["resources"]["limits"];
        for limit in ["cpus", "memory", "pids"] {
            assert!(!limits[limit].is_null(), "{name} has no limit of {limit}");
        }
        for port in strings(&service["ports"]) {
            assert!(port.starts_with("127.0.0.1:"), "{name} publishes {port}");
        }
        let has_user = service["user"].as_str().is_some_and(|user| !user.starts_with('0'));
        assert!(has_user || !service["build"].is_null(), "{name} has no user");
    }
}

#[test]
fn every_image_that_is_built_here_has_a_user() {
    let dockerfile = text("envoy/compose/Dockerfile");
    let stages: Vec<&str> = dockerfile.split("\nFROM ").collect();
    for (name, service) in services() {
        let Some(target) = service["build"]["target"].as_str() else { continue };
        let named =
            |stage: &&&str| stage.lines().next().unwrap().ends_with(&format!(" AS {target}"));
        let stage = stages.iter().find(named).unwrap_or_else(|| panic!("{name}: no {target}"));
        let user = stage.lines().find_map(|line| line.strip_prefix("USER "));
        assert!(user.is_some_and(|user| !user.starts_with('0') && user != "root"), "{name}");
    }
}

#[test]
fn every_image_from_elsewhere_is_pinned_and_envoy_is_the_one_that_is_tested() {
    let dockerfile = text("envoy/compose/Dockerfile");
    let bases = dockerfile.lines().filter_map(|line| line.strip_prefix("FROM "));
    let bases = bases.filter_map(|line| line.split(' ').next()).map(str::to_owned);
    let bases: Vec<String> =
        bases.filter(|base| base != "scratch" && !base.starts_with('$')).collect();
    let pulled = services().into_iter().filter(|(_, service)| service["build"].is_null());
    let pulled = pulled.map(|(_, service)| service["image"].as_str().unwrap().to_owned());
    for image in pulled.chain(bases.clone()) {
        let (_, tag) = image.split_once(':').unwrap_or_else(|| panic!("{image} has no tag"));
        assert!(
            tag.contains(|character: char| character.is_ascii_digit())
                || tag.starts_with("bookworm"),
            "{image}"
        );
    }
    let versions = text("scripts/versions.sh");
    let envoy = versions.lines().find_map(|line| line.strip_prefix("ENVOY_VERSION=")).unwrap();
    assert!(bases.contains(&format!("envoyproxy/envoy:v{envoy}")), "{bases:?}");
}

#[test]
fn everything_that_is_mounted_is_there() {
    for (name, service) in services() {
        for volume in strings(&service["volumes"]) {
            let volume = volume.replace("${GATEWAY_CONFIG:-rudolph.yaml}", "rudolph.yaml");
            let (from, _) = volume.split_once(':').unwrap();
            assert!(!from.starts_with('.') || root().join(from).exists(), "{name}: {from}");
            assert!(!from.starts_with('.') || volume.ends_with(":ro"), "{name}: {volume}");
        }
    }
}

/// The words of a query that are metrics: what stands before a brace or bracket, or alone as a function's argument.
fn metrics_in(query: &str) -> BTreeSet<String> {
    let mut outside_quotes = String::new();
    for (number, part) in query.split('"').enumerate() {
        outside_quotes.push_str(if number % 2 == 0 { part } else { "" });
    }
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let words = outside_quotes.split(|character| !is_name(character));
    let metric = |word: &&str| word.starts_with("rudolph_") || word.starts_with("envoy_");
    let label =
        ["envoy_cluster_name", "envoy_http_conn_manager_prefix", "envoy_response_code_class"];
    words.filter(metric).filter(|word| !label.contains(word)).map(str::to_owned).collect()
}

#[test]
fn the_dashboard_asks_for_metrics_that_there_are() {
    let dashboard: Value = serde_json::from_str(&text(DASHBOARD)).unwrap();
    let page = text("docs/metrics.md");
    let servers = text("testbed/app-server/src/metrics.rs");
    let counters = Counter::ALL.iter().map(|counter| counter.name());
    let own = counters.chain(Gauge::ALL.iter().map(|gauge| gauge.name()));
    let own: BTreeSet<String> =
        own.map(|name| format!("rudolph_{}", name.replace('.', "_"))).collect();
    let mut asked = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        let targets = panel["targets"].as_array().unwrap();
        assert!(!targets.is_empty(), "{}", panel["title"]);
        for target in targets {
            let metrics = metrics_in(target["expr"].as_str().unwrap());
            assert!(!metrics.is_empty(), "{target}");
            asked.extend(metrics);
        }
    }
    for metric in &asked {
        let known = if let Some(name) = metric.strip_prefix("rudolph_app_") {
            servers.contains(&format!("\"{}\"", name.trim_end_matches("_total")))
        } else if metric.starts_with("rudolph_") {
            own.contains(metric) && page.contains(&format!("`{metric}`"))
        } else {
            // Envoy's own are asked from the real Envoy by `make compose-test`.
            metric.starts_with("envoy_cluster_") || metric.starts_with("envoy_http_downstream_")
        };
        assert!(known, "{metric} is nobody's");
    }
    assert!(asked.len() >= 20, "{asked:?}");
}

#[test]
fn a_panel_has_a_unit_a_description_and_the_provisioned_data_source() {
    let dashboard: Value = serde_json::from_str(&text(DASHBOARD)).unwrap();
    let sources = yaml("envoy/compose/grafana/provisioning/datasources/prometheus.yml");
    let provisioned = sources["datasources"][0]["uid"].as_str().unwrap();
    let mut ids = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{}", panel["id"]);
        assert_eq!(panel["datasource"]["uid"], provisioned);
        assert!(panel["description"].as_str().is_some_and(|text| !text.is_empty()));
        assert!(panel["fieldConfig"]["defaults"]["unit"].is_string());
        for target in panel["targets"].as_array().unwrap() {
            assert_eq!(target["datasource"]["uid"], provisioned);
        }
    }
    let folder = yaml("envoy/compose/grafana/provisioning/dashboards/rudolph.yml");
    let folder = folder["providers"][0]["options"]["path"].as_str().unwrap().to_owned();
    assert!(
        text("docker-compose.yml")
            .contains(&format!("./envoy/compose/grafana/dashboards:{folder}:ro"))
    );
}

#[test]
fn servers_say_goodbye_for_longer_than_it_takes_to_be_heard() {
    let gateway = yaml("envoy/compose/rudolph.yaml");
    let clusters = gateway["static_resources"]["clusters"].as_array().unwrap();
    let app = clusters.iter().find(|cluster| cluster["name"] == "app").unwrap();
    let seconds =
        |text: &Value| text.as_str().unwrap().trim_end_matches('s').parse::<f64>().unwrap();
    let check = seconds(&app["health_checks"][0]["interval"])
        + seconds(&app["health_checks"][0]["timeout"]);
    let poll_s = 1.0;
    assert!(text("envoy/compose/rudolph.yaml").contains("\"poll_interval_ms\": 1000"));
    let (_, server) = services().into_iter().find(|(name, _)| name == "app").unwrap();
    let notice = strings(&server["command"])
        .into_iter()
        .find_map(|word| word.strip_prefix("--drain-notice-ms="));
    let notice_s = notice.unwrap().parse::<f64>().unwrap() / 1000.0;
    assert!(
        notice_s > check + poll_s,
        "{notice_s} s of notice, {check} s of checks, {poll_s} s of polls"
    );
    assert!(seconds(&server["stop_grace_period"]) > notice_s + 10.0);
}
