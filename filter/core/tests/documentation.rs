//! What the pages of `docs/` say of fields, metrics and moved keys, checked against the code.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may stop")]

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::{config, first_plan, members, numbered, table};
use rudolph_core::config::{Config, ConfigError, Configuration, Strategy};
use rudolph_core::hash::KeyHash;
use rudolph_core::servers::Members;
use rudolph_core::table::Table;
use rudolph_core::telemetry::{Counter, Gauge};
use serde_json::{Value, json};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const CONFIGURATION: &str = include_str!("../../../docs/configuration.md");
const METRICS: &str = include_str!("../../../docs/metrics.md");
const STRATEGIES: &str = include_str!("../../../docs/strategies.md");

/// Fields that only hold others.
const GROUPS: [&str; 5] = ["membership", "replicas", "spread", "pin", "rotation"];

/// The cells of all table rows with so many cells, of which the first is a name in backquotes.
fn rows(page: &'static str, cells: usize) -> Vec<Vec<&'static str>> {
    let split = |line: &'static str| -> Vec<&'static str> {
        line.trim_matches('|').split(" | ").map(str::trim).collect()
    };
    let named = page.lines().filter(|line| line.starts_with("| `"));
    named.map(split).filter(|row| row.len() == cells).collect()
}

fn name<'a>(row: &[&'a str]) -> &'a str {
    row[0].trim_matches('`')
}

/// The fields of a filter that routes, and those of one that serves the status page.
fn fields_of(mode: &str) -> Vec<Vec<&'static str>> {
    let (before, rest) = CONFIGURATION.split_once("\n## The status page\n").unwrap();
    let (status, after) = rest.split_once("\n## ").unwrap();
    let parts = if mode == "status" { vec![status] } else { vec![before, after] };
    parts.into_iter().flat_map(|part| rows(part, 5)).collect()
}

fn fields() -> Vec<Vec<&'static str>> {
    fields_of("route")
}

fn parsed(json: &Value) -> Result<Config, ConfigError> {
    Config::from_json(json.to_string().as_bytes())
}

/// The names that the reader says it would have taken in place of `?`.
fn expected_names(text: &str) -> Vec<String> {
    let error = Configuration::from_json(text.as_bytes()).unwrap_err().to_string();
    let (_, expected) = error.split_once("expected").unwrap_or_else(|| panic!("{text}: {error}"));
    expected.split('`').skip(1).step_by(2).map(ToOwned::to_owned).collect()
}

fn with_admin() -> Value {
    let membership = json!({"source": "envoy_admin", "cluster": "a", "admin_cluster": "b"});
    json!({"key": ["path"], "membership": membership})
}

fn with_servers() -> Value {
    let servers = json!([{"address": "10.0.0.1:80"}, {"address": "10.0.0.2:80"}]);
    json!({"key": ["path"], "membership": {"source": "static", "servers": servers}})
}

/// A sound configuration in which the field of this path may be set.
fn base_of(path: &str) -> Value {
    let mut json =
        if path.starts_with("membership.servers") { with_servers() } else { with_admin() };
    if path.starts_with("replicas.") {
        json["replicas"] = json!({});
    }
    json
}

fn set(json: &mut Value, path: &str, value: Value) {
    let mut at = json;
    for part in path.split('.') {
        at = match part.strip_suffix("[]") {
            Some(list) => &mut at[list][0],
            None => &mut at[part],
        };
    }
    *at = value;
}

#[test]
fn the_configuration_page_has_a_row_for_every_field_and_no_other() {
    let mut real = BTreeSet::new();
    let mut add = |prefix: &str, text: &str| {
        for field in expected_names(text) {
            real.insert(format!("{prefix}{field}"));
        }
    };
    add("", r#"{"?": 0}"#);
    add("spread.", r#"{"spread": {"?": 0}}"#);
    add("replicas.", r#"{"replicas": {"?": 0}}"#);
    add("pin.", r#"{"pin": {"?": 0}}"#);
    add("rotation.", r#"{"rotation": {"?": 0}}"#);
    add("membership.", r#"{"membership": {"source": "static", "?": 0}}"#);
    add("membership.", r#"{"membership": {"source": "envoy_admin", "?": 0}}"#);
    let server = r#"{"membership": {"source": "static", "servers": [{"?": 0}]}}"#;
    add("membership.servers[].", server);
    real.insert("membership.source".to_owned());
    real.retain(|field| !GROUPS.contains(&field.as_str()));
    let written: BTreeSet<String> = fields().iter().map(|row| name(row).to_owned()).collect();
    assert_eq!(written, real);
}

/// The words that the reader says it would have taken in place of `?`.
fn expected_words(text: &str) -> Vec<String> {
    let error = Config::from_json(text.as_bytes()).unwrap_err().to_string();
    let (_, expected) = error.split_once("expected").unwrap_or_else(|| panic!("{text}: {error}"));
    let (expected, _) = expected.split_once(" at line").unwrap_or((expected, ""));
    expected
        .split(|character: char| !character.is_ascii_lowercase() && character != '_')
        .filter(|word| !["", "or", "an", "object", "with", "one", "of"].contains(word))
        .map(ToOwned::to_owned)
        .collect()
}

#[test]
fn the_configuration_page_names_every_word_that_a_field_takes() {
    let fields = [
        (r#"{"mode": "?"}"#, 2),
        (r#"{"strategy": "?"}"#, 5),
        (r#"{"key": ["?"]}"#, 6),
        (r#"{"membership": {"source": "?"}}"#, 2),
    ];
    for (text, count) in fields {
        let words = expected_words(text);
        assert_eq!(words.len(), count, "{words:?}");
        for word in words {
            let quoted = format!("\"{word}\"");
            assert!(CONFIGURATION.contains(&quoted), "{quoted} is not on the page");
        }
    }
}

#[test]
fn defaults_on_the_configuration_page_are_those_of_the_code() {
    let mut checked = 0;
    for row in fields() {
        let Ok(default) = serde_json::from_str::<Value>(row[2].trim_matches('`')) else {
            continue;
        };
        let field = name(&row);
        let mut written = base_of(field);
        set(&mut written, field, default);
        let (written, left_out) = (parsed(&written).unwrap(), parsed(&base_of(field)).unwrap());
        let (digest, text) = (left_out.digest, left_out.text.clone());
        let written = Config { digest, text, ..written };
        assert_eq!(written, left_out, "{field}");
        checked += 1;
    }
    assert!(checked >= 20, "only {checked} defaults were read");
}

#[test]
fn bounds_on_the_configuration_page_are_those_of_the_code() {
    let mut checked = 0;
    for row in fields() {
        let Some((least, most)) = row[3].split_once(" to ") else { continue };
        let bounds = (least.parse::<f64>(), most.parse::<f64>());
        let (Ok(least), Ok(most)) = bounds else { continue };
        let whole = row[1] == "integer";
        let taken = |value: f64| {
            let mut json = base_of(name(&row));
            let value = if whole { json!(value as i64) } else { json!(value) };
            set(&mut json, name(&row), value);
            parsed(&json).is_ok()
        };
        let step = if whole { 1.0 } else { 0.000_01 };
        let edges = [least - step, least, most, most + step].map(taken);
        assert_eq!(edges, [false, true, true, false], "{}", name(&row));
        checked += 1;
    }
    assert!(checked >= 10, "only {checked} bounds were read");
}

fn status_page(field: &str, value: &Value) -> Result<Configuration, ConfigError> {
    let mut json = json!({"mode": "status"});
    json[field] = value.clone();
    Configuration::from_json(json.to_string().as_bytes())
}

#[test]
fn the_fields_of_the_status_page_are_those_of_the_code() {
    let fields = fields_of("status");
    let real: BTreeSet<String> =
        expected_names(r#"{"mode": "status", "?": 0}"#).into_iter().collect();
    let written: BTreeSet<String> = fields.iter().map(|row| name(row).to_owned()).collect();
    assert_eq!(written, real);
    let least = status_page("mode", &json!("status")).unwrap();
    for row in &fields[1..] {
        let default = serde_json::from_str(row[2].trim_matches('`')).unwrap();
        assert_eq!(status_page(name(row), &default).unwrap(), least, "{}", name(row));
    }
    let refresh = |ms: u64| status_page("refresh_ms", &json!(ms)).is_ok();
    assert_eq!([249, 250, 60_000, 60_001].map(refresh), [false, true, true, false]);
    let title = |length: usize| status_page("title", &json!("t".repeat(length))).is_ok();
    assert_eq!([0, 1, 64, 65].map(title), [false, true, true, false]);
    let hosts = |count: usize| status_page("hosts", &json!(vec!["a.example"; count])).is_ok();
    assert_eq!([0, 16, 17].map(hosts), [true, true, false]);
}

#[test]
fn epochs_on_the_configuration_page_are_those_of_the_code() {
    let mut found = 0;
    for row in rows(CONFIGURATION, 3) {
        let strategy = name(&row);
        for (tick_ms, cell) in [(100, row[1]), (1000, row[2])] {
            let mut json = with_admin();
            set(&mut json, "strategy", json!(strategy));
            set(&mut json, "tick_ms", json!(tick_ms));
            let epoch_ms = parsed(&json).unwrap().epoch_ms;
            assert_eq!(cell, epoch_ms.to_string(), "{strategy} at {tick_ms}");
        }
        found += 1;
    }
    assert_eq!(found, 5);
}

#[test]
fn examples_on_the_configuration_page_are_accepted() {
    let blocks: Vec<&str> = CONFIGURATION
        .split("```json\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(blocks.len() >= 5);
    for block in blocks {
        if let Err(error) = Configuration::from_json(block.as_bytes()) {
            panic!("{error}\n{block}");
        }
    }
}

#[test]
fn the_metrics_page_has_every_metric_in_both_forms() {
    let counters = Counter::ALL.iter().map(|counter| counter.name());
    let gauges = Gauge::ALL.iter().map(|gauge| gauge.name());
    let real: BTreeSet<&str> = counters.chain(gauges).collect();
    let mut written = BTreeSet::new();
    for row in rows(METRICS, 4) {
        let Some(metric) = name(&row).strip_prefix("wasmcustom.rudolph.") else { continue };
        let prometheus = format!("`rudolph_{}`", metric.replace('.', "_"));
        assert_eq!(row[1], prometheus);
        written.insert(metric);
    }
    assert_eq!(written, real);
}

/// What a change of members does to the homes of keys, in per cent of all keys.
fn moved(strategy: &str, before: &Members, after: &Members) -> [String; 2] {
    const KEYS: u64 = 200_000;
    let homes = |members: &Members| -> Arc<Table> {
        let config = config(strategy, members, &[]);
        table(&config, &first_plan(&config, members))
    };
    let (old, new) = (homes(before), homes(after));
    let home = |members: &Members, table: &Table, key: KeyHash| {
        members.servers()[table.home(table.bin(key)).index()].address.clone()
    };
    let (mut moved, mut between_survivors) = (0, 0);
    for i in 0..KEYS {
        let key = KeyHash::of(format!("key-{i}").as_bytes());
        let (from, to) = (home(before, &old, key), home(after, &new, key));
        if from != to {
            moved += 1;
            let survived = after.find(&from).is_some() && before.find(&to).is_some();
            between_survivors += u64::from(survived);
        }
    }
    [moved, between_survivors].map(|n| format!("{:.1}", n as f64 / KEYS as f64 * 100.0))
}

#[test]
fn the_strategies_page_says_how_many_keys_a_change_of_members_moves() {
    let five = members(5);
    let four = numbered([0, 1, 3, 4].map(|i| (i, 1)));
    let six = members(6);
    let mut measured = Vec::new();
    for strategy in common::STRATEGIES {
        let [lost, lost_between] = moved(strategy, &five, &four);
        let [gained, gained_between] = moved(strategy, &five, &six);
        measured.push(vec![strategy.to_owned(), lost, lost_between, gained, gained_between]);
    }
    let written: Vec<Vec<String>> = rows(STRATEGIES, 5)
        .iter()
        .map(|row| row.iter().map(|cell| cell.trim_matches('`').to_owned()).collect())
        .collect();
    assert_eq!(written, measured);
}

#[test]
fn the_strategies_page_has_a_part_for_each_strategy() {
    for strategy in common::STRATEGIES {
        assert!(STRATEGIES.contains(&format!("\n## {strategy}\n")), "{strategy}");
        let quoted = json!(strategy);
        assert!(serde_json::from_value::<Strategy>(quoted).is_ok());
    }
}
