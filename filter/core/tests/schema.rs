//! `config.schema.json` against the code: the same fields, defaults, bounds and refusals, but for the rules of [`Rule`].
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may stop")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::configurations::random;
use common::schema_rules::{Rule, rule_broken};
use common::{Rng, seeds};
use jsonschema::Validator;
use rudolph_core::config::{Config, Configuration};
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../config.schema.json");
const CONFIGURATION: &str = include_str!("../../../docs/configuration.md");
const REFUSALS: &str = include_str!("../vectors/refusals.txt");

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

fn validator() -> Validator {
    jsonschema::draft202012::new(&schema()).unwrap()
}

fn parsed(json: &Value) -> Result<Configuration, String> {
    Configuration::from_json(json.to_string().as_bytes()).map_err(|error| error.to_string())
}

/// Without the text itself and what follows from it.
fn decided(configuration: Configuration) -> Configuration {
    match configuration {
        Configuration::Route(config) => {
            let text = Vec::new().into();
            Configuration::Route(Box::new(Config { digest: 0, text, ..*config }))
        }
        status => status,
    }
}

#[test]
fn it_is_a_schema_of_draft_2020_12() {
    assert_eq!(schema()["$schema"], "https://json-schema.org/draft/2020-12/schema");
    if let Err(error) = jsonschema::draft202012::meta::validate(&schema()) {
        panic!("{error} at {}", error.instance_path());
    }
}

/// The names that the reader says it would have taken in place of `?`.
fn expected_names(text: &str) -> BTreeSet<String> {
    let error = Configuration::from_json(text.as_bytes()).unwrap_err().to_string();
    let (_, expected) = error.split_once("expected").unwrap_or_else(|| panic!("{text}: {error}"));
    expected.split('`').skip(1).step_by(2).map(ToOwned::to_owned).collect()
}

fn properties(schema: &Value, pointer: &str) -> BTreeMap<String, Value> {
    let properties = schema.pointer(pointer).unwrap()["properties"].as_object().unwrap();
    properties.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Every group of fields: where it is in the schema, a text that makes the code name its fields, and a way to set one.
const GROUPS: [(&str, &str, &str); 9] = [
    ("/$defs/route", r#"{"?": 0}"#, ""),
    ("/$defs/status", r#"{"mode": "status", "?": 0}"#, ""),
    ("/$defs/spread", r#"{"spread": {"?": 0}}"#, "/spread"),
    ("/$defs/replicas", r#"{"replicas": {"?": 0}}"#, "/replicas"),
    ("/$defs/pin", r#"{"pin": {"?": 0}}"#, "/pin"),
    ("/$defs/rotation", r#"{"rotation": {"?": 0}}"#, "/rotation"),
    ("/$defs/membership/then", r#"{"membership": {"?": 0}}"#, "/membership"),
    ("/$defs/membership/else", r#"{"membership": {"?": 0}}"#, "/membership"),
    ("/$defs/server", r#"{"membership": {"servers": [{"?": 0}]}}"#, "/membership/servers/0"),
];

#[test]
fn it_has_the_fields_of_the_code_and_no_other() {
    let schema = schema();
    for (pointer, text, _) in GROUPS {
        let written: BTreeSet<String> = properties(&schema, pointer).into_keys().collect();
        assert_eq!(written, expected_names(text), "{pointer}");
        assert_eq!(schema.pointer(pointer).unwrap()["additionalProperties"], json!(false));
    }
}

/// A sound configuration in which a field of this group may be set.
fn base_of(group: &str) -> Value {
    if group == "/$defs/status" {
        return json!({"mode": "status"});
    }
    let of_servers = ["/$defs/server", "/$defs/membership/then"].contains(&group);
    let membership = if of_servers {
        json!({"source": "static", "servers": [{"address": "10.0.0.1:80"}]})
    } else {
        json!({"source": "envoy_admin", "cluster": "a", "admin_cluster": "b"})
    };
    let mut json =
        json!({"key": ["path"], "membership": membership, "spread": {}, "pin": {}, "rotation": {}});
    if group == "/$defs/replicas" {
        json["replicas"] = json!({});
    }
    json
}

/// That configuration with one field set, as text, so that a number stays as it was written.
fn with(group: &str, target: &str, field: &str, value: &Value) -> Value {
    let mut json = base_of(group);
    json.pointer_mut(target).unwrap()[field] = value.clone();
    json
}

#[test]
fn its_defaults_are_those_of_the_code() {
    let mut checked = 0;
    for (group, _, target) in GROUPS {
        for (field, rules) in properties(&schema(), group) {
            let Some(default) = rules.get("default") else { continue };
            let written = parsed(&with(group, target, &field, default)).unwrap();
            let left_out = parsed(&base_of(group)).unwrap();
            assert_eq!(decided(written), decided(left_out), "{group} {field}");
            checked += 1;
        }
    }
    assert!(checked >= 24, "only {checked} defaults were read");
}

#[test]
fn its_bounds_are_those_of_the_code() {
    let mut checked = 0;
    for (group, _, target) in GROUPS {
        for (field, rules) in properties(&schema(), group) {
            let [Some(least), Some(most)] = ["minimum", "maximum"].map(|rule| rules.get(rule))
            else {
                continue;
            };
            let whole = rules["type"] != "number";
            let next = |bound: &Value, up: i64| match (whole, bound.as_i64(), bound.as_f64()) {
                (true, Some(whole), _) => json!(whole + up),
                (_, _, Some(number)) => json!(number + up as f64 * 0.000_01),
                _ => panic!("{field}: {bound}"),
            };
            let values = [next(least, -1), least.clone(), most.clone(), next(most, 1)];
            let taken = values.map(|value| {
                let mut json = with(group, target, &field, &value);
                // The shortest epoch of all needs the shortest tick of all.
                if field == "epoch_ms" {
                    json["tick_ms"] = json!(10);
                }
                (validator().is_valid(&json), parsed(&json).is_ok())
            });
            let good = (true, true);
            let bad = (false, false);
            assert_eq!(taken, [bad, good, good, bad], "{group} {field}");
            checked += 1;
        }
    }
    assert!(checked >= 12, "only {checked} bounds were read");
}

#[test]
fn random_configurations_are_taken_or_refused_by_both() {
    let validator = validator();
    let mut met: BTreeMap<Rule, u32> = BTreeMap::new();
    let (mut taken, mut refused) = (0, 0);
    for seed in seeds(40_000) {
        let text = random(&mut Rng::new(seed)).to_string();
        let json: Value = serde_json::from_str(&text).unwrap();
        let by_code = Configuration::from_json(text.as_bytes());
        let rule = rule_broken(&json);
        let by_schema = validator.validate(&json);
        let (allowed, kept) = (by_code.is_ok(), by_schema.is_ok());
        // The code may only be the stricter one, and by a known rule.
        let agree = if rule.is_some() { !allowed } else { allowed == kept };
        assert!(
            agree,
            "RUDOLPH_SEED={seed}\n{text}\ncode: {:?}\nschema: {:?}\nrule: {rule:?}",
            by_code.err().map(|error| error.to_string()),
            by_schema.err().map(|error| error.to_string()),
        );
        if allowed {
            taken += 1;
        } else {
            refused += 1;
        }
        if let Some(rule) = rule.filter(|_| allowed != kept) {
            *met.entry(rule).or_default() += 1;
        }
    }
    assert!(taken > 8_000 && refused > 8_000, "{taken} taken, {refused} refused");
    let silent: Vec<&Rule> = Rule::ALL.iter().filter(|rule| !met.contains_key(rule)).collect();
    assert!(silent.is_empty(), "never needed: {silent:?}; met: {met:?}");
}

/// The whole text of a refusal's example; see the file.
fn whole(place: &str, text: &str) -> String {
    let (key, member) = (r#""key": ["path"]"#, r#""membership""#);
    let one = r#"{"source": "static", "servers": [{"address": "1.2.3.4:5"}]}"#;
    match place {
        "whole" => text.to_owned(),
        "field" => format!("{{{key}, {member}: {one}, {text}}}"),
        "key" => format!(r#"{{{member}: {one}, "key": {text}}}"#),
        "membership" => format!("{{{key}, {member}: {{{text}}}}}"),
        "servers" => {
            format!(r#"{{{key}, {member}: {{"source": "static", "servers": [{text}]}}}}"#)
        }
        other => panic!("{other}"),
    }
}

#[test]
fn what_the_code_is_known_to_refuse_is_refused_too() {
    let lines: Vec<&str> = REFUSALS.lines().filter(|line| !line.starts_with('#')).collect();
    let mut checked = 0;
    for pair in lines.chunks(2) {
        let (place, text) = pair[0].split_once(' ').unwrap_or((pair[0], ""));
        // What is no JSON, or is none without its repeated field, never meets a schema.
        if pair[1].contains("duplicate field") {
            continue;
        }
        let Ok(json) = serde_json::from_str::<Value>(&whole(place, text)) else { continue };
        let refused = !validator().is_valid(&json) || rule_broken(&json).is_some();
        assert!(refused, "{}", pair[0]);
        checked += 1;
    }
    assert!(checked >= 30, "only {checked} refusals were read");
}

#[test]
fn examples_on_the_configuration_page_follow_it() {
    let blocks: Vec<&str> = CONFIGURATION
        .split("```json\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(blocks.len() >= 5);
    for block in blocks {
        let json: Value = serde_json::from_str(block).unwrap();
        if let Err(error) = validator().validate(&json) {
            panic!("{error}\n{block}");
        }
    }
}
