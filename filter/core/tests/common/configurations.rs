//! Random configurations, sound and broken, and the rules about them that a JSON Schema cannot say.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use serde_json::{Map, Value, json};

use super::Rng;

/// Why code and schema may differ. docs/configuration.md lists these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A schema counts 3.0 as a whole number.
    WholeNumber,
    /// The epoch is shorter than the strategy's number of ticks.
    Epoch,
    /// A source of the key is the header that carries the owners.
    KeyIsUpstream,
    /// Two sources of the key name one header in another case.
    HeaderTwice,
    /// The debug header is another header of the configuration.
    DebugHeader,
    /// The header of the replicas is another header of the configuration.
    ReplicasHeader,
    /// The address of a server is given twice, spelt or weighed differently.
    ServerTwice,
    /// What stands in brackets is no IPv6 address.
    NoIpv6,
    /// A cluster's name has at most 256 characters and more than 256 bytes.
    LongInBytes,
}

impl Rule {
    pub const ALL: [Self; 9] = [
        Self::WholeNumber,
        Self::Epoch,
        Self::KeyIsUpstream,
        Self::HeaderTwice,
        Self::DebugHeader,
        Self::ReplicasHeader,
        Self::ServerTwice,
        Self::NoIpv6,
        Self::LongInBytes,
    ];
}

/// What breaks a rule.
type Check = (fn(&Value) -> bool, Rule);

/// The first rule that this breaks.
pub fn rule_broken(json: &Value) -> Option<Rule> {
    let checks: [Check; 9] = [
        (whole_number, Rule::WholeNumber),
        (epoch, Rule::Epoch),
        (key_is_upstream, Rule::KeyIsUpstream),
        (header_twice, Rule::HeaderTwice),
        (debug_header, Rule::DebugHeader),
        (replicas_header, Rule::ReplicasHeader),
        (no_ipv6, Rule::NoIpv6),
        (server_twice, Rule::ServerTwice),
        (long_in_bytes, Rule::LongInBytes),
    ];
    checks.into_iter().find(|(broken, _)| broken(json)).map(|(_, rule)| rule)
}

const WHOLE: [&str; 9] = [
    "/refresh_ms",
    "/owners",
    "/replicas/count",
    "/tick_ms",
    "/epoch_ms",
    "/membership/poll_interval_ms",
    "/spread/max_copies",
    "/pin/keys",
    "/rotation/candidates",
];

fn whole_number(json: &Value) -> bool {
    let alone = WHOLE.iter().filter_map(|path| json.pointer(path));
    let segments = elements(json, "/key").filter_map(|source| source.get("path_segment"));
    let weights = elements(json, "/membership/servers").filter_map(|server| server.get("weight"));
    alone.chain(segments).chain(weights).any(Value::is_f64)
}

fn elements<'a>(json: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    json.pointer(list).and_then(Value::as_array).into_iter().flatten()
}

fn epoch(json: &Value) -> bool {
    let ticks = match json["strategy"].as_str() {
        None | Some("spread") => 1,
        Some("pin") => 3,
        Some(_) => 5,
    };
    let tick_ms = json.get("tick_ms").map_or(Some(100), Value::as_u64);
    let epoch_ms = json["epoch_ms"].as_u64();
    matches!((tick_ms, epoch_ms), (Some(tick), Some(epoch)) if epoch < ticks * tick)
}

fn upstream_header(json: &Value) -> String {
    json["upstream_header"].as_str().unwrap_or("x-rudolph-upstream").to_ascii_lowercase()
}

fn key_headers(json: &Value) -> Vec<String> {
    let headers = elements(json, "/key").filter_map(|source| source["header"].as_str());
    headers.map(str::to_ascii_lowercase).collect()
}

fn key_is_upstream(json: &Value) -> bool {
    key_headers(json).contains(&upstream_header(json))
}

fn header_twice(json: &Value) -> bool {
    let headers = key_headers(json);
    headers.iter().collect::<BTreeSet<_>>().len() < headers.len()
}

fn debug_header(json: &Value) -> bool {
    let Some(name) = json["debug_header"].as_str().map(str::to_ascii_lowercase) else {
        return false;
    };
    name == upstream_header(json) || key_headers(json).contains(&name)
}

fn replicas_header(json: &Value) -> bool {
    let Some(replicas) = json["replicas"].as_object() else {
        return false;
    };
    let name = replicas.get("header").and_then(Value::as_str).unwrap_or("x-rudolph-replicas");
    let name = name.to_ascii_lowercase();
    let debug = json["debug_header"].as_str().map(str::to_ascii_lowercase);
    name == upstream_header(json)
        || debug.as_ref() == Some(&name)
        || key_headers(json).contains(&name)
}

fn addresses(json: &Value) -> impl Iterator<Item = &str> {
    elements(json, "/membership/servers").filter_map(|server| server["address"].as_str())
}

fn no_ipv6(json: &Value) -> bool {
    addresses(json).any(|text| text.starts_with('[') && text.parse::<SocketAddr>().is_err())
}

fn server_twice(json: &Value) -> bool {
    let parsed: Vec<SocketAddr> = addresses(json).filter_map(|text| text.parse().ok()).collect();
    parsed.iter().collect::<BTreeSet<_>>().len() < parsed.len()
}

fn long_in_bytes(json: &Value) -> bool {
    let names = ["/membership/cluster", "/membership/admin_cluster"];
    let texts = names.iter().filter_map(|path| json.pointer(path).and_then(Value::as_str));
    texts.into_iter().any(|text| text.len() > 256)
}

/// Mostly sound values, so that the one that is not decides.
pub fn random(rng: &mut Rng) -> Value {
    let json = if rng.chance(0.15) { status(rng) } else { route(rng) };
    if rng.chance(0.5) { broken(rng, json) } else { json }
}

fn status(rng: &mut Rng) -> Value {
    let fields: [Field; 3] = [
        ("title", |rng| pick(rng, &["Rudolph", "é", "a b", "<b>"])),
        ("refresh_ms", |rng| whole(rng, 250, 60_000)),
        ("hosts", |rng| (0..rng.below(18)).map(|_| header(rng)).collect()),
    ];
    let mut json = group(rng, &fields);
    json["mode"] = json!("status");
    json
}

fn route(rng: &mut Rng) -> Value {
    let mut json = json!({ "key": key(rng), "membership": membership(rng) });
    let fields: [Field; 13] = [
        ("mode", |_| json!("route")),
        ("clear_keys", boolean),
        ("strategy", |rng| pick(rng, &["spread", "pin", "rotation", "lpt", "static"])),
        ("hash_tag", boolean),
        ("owners", |rng| whole(rng, 1, 8)),
        ("upstream_header", header),
        (
            "debug_header",
            |rng| if rng.chance(0.3) { pick(rng, &["", "X-Key"]) } else { header(rng) },
        ),
        ("replicas", |rng| group(rng, &[("count", |r| whole(r, 1, 8)), ("header", header)])),
        ("stat_prefix", |rng| pick(rng, &["rudolph", "a.b_C9", "a", "A"])),
        ("tick_ms", |rng| whole(rng, 10, 1000)),
        ("epoch_ms", |rng| whole(rng, 10, 3_600_000)),
        ("pin", |rng| {
            group(rng, &[("keys", |r| whole(r, 1, 512)), ("tolerance", |r| number(r, 1.0, 2.0))])
        }),
        ("rotation", rotation),
    ];
    for (name, value) in fields {
        if rng.chance(0.25) {
            json[name] = value(rng);
        }
    }
    if rng.chance(0.25) {
        json["spread"] = spread(rng);
    }
    json
}

type Field = (&'static str, fn(&mut Rng) -> Value);

fn group(rng: &mut Rng, fields: &[Field]) -> Value {
    let mut map = Map::new();
    for (name, value) in fields {
        if rng.chance(0.5) {
            map.insert((*name).to_owned(), value(rng));
        }
    }
    Value::Object(map)
}

fn rotation(rng: &mut Rng) -> Value {
    group(rng, &[("candidates", |r| whole(r, 1, 256)), ("lambda", |r| number(r, 0.0, 1000.0))])
}

fn spread(rng: &mut Rng) -> Value {
    let fields: [Field; 10] = [
        ("hot_keys", boolean),
        ("proportional", boolean),
        ("least_in_flight", boolean),
        ("online", boolean),
        ("spill", boolean),
        ("learn_weights", boolean),
        ("hot_threshold", |r| number(r, 0.0001, 1.0)),
        ("share_per_copy", |r| number(r, 0.001, 1.0)),
        ("max_copies", |r| whole(r, 0, 5000)),
        ("miss_penalty_ms", |r| number(r, 0.0, 60_000.0)),
    ];
    group(rng, &fields)
}

fn boolean(rng: &mut Rng) -> Value {
    json!(rng.chance(0.5))
}

fn pick(rng: &mut Rng, words: &[&str]) -> Value {
    json!(words[rng.below(words.len())])
}

fn whole(rng: &mut Rng, least: u64, most: u64) -> Value {
    match rng.below(12) {
        0 | 1 => json!(least),
        2 | 3 => json!(most),
        4 => json!(most as f64),
        _ => json!(rng.between(least as usize, most as usize)),
    }
}

fn number(rng: &mut Rng, least: f64, most: f64) -> Value {
    match rng.below(4) {
        0 => json!(least),
        1 => json!(most),
        2 => json!(most as u64),
        _ => json!(least + rng.unit() * (most - least)),
    }
}

fn header(rng: &mut Rng) -> Value {
    pick(rng, &["x-key", "X-Key", "x-other", "A.b_9", "x-rudolph-upstream", "x-rudolph-debug"])
}

fn key(rng: &mut Rng) -> Value {
    let count = if rng.chance(0.05) { rng.below(20) } else { rng.between(1, 3) };
    (0..count).map(|_| key_source(rng)).collect()
}

fn key_source(rng: &mut Rng) -> Value {
    match rng.below(6) {
        0 => json!("path"),
        1 => json!("authority"),
        2 => json!({ "header": header(rng) }),
        3 => json!({ "cookie": plain_name(rng) }),
        4 => json!({ "query_parameter": plain_name(rng) }),
        _ => json!({ "path_segment": rng.between(1, 64) }),
    }
}

/// Now and then one character of all that a byte can be.
fn plain_name(rng: &mut Rng) -> Value {
    if rng.chance(0.1) {
        return json!(char::from(rng.below(256) as u8).to_string());
    }
    pick(rng, &["session", "a~b", "!#$%'()*+", "user-id", "x:y/z[0]{1}|^`<>?@\\"])
}

fn membership(rng: &mut Rng) -> Value {
    if rng.chance(0.5) {
        let count = if rng.chance(0.05) { 0 } else { rng.between(1, 3) };
        let servers: Vec<Value> = (0..count).map(|_| server(rng)).collect();
        return json!({ "source": "static", "servers": servers });
    }
    let mut json = json!({
        "source": "envoy_admin",
        "cluster": cluster(rng),
        "admin_cluster": cluster(rng),
    });
    if rng.chance(0.3) {
        json["poll_interval_ms"] = whole(rng, 100, 600_000);
    }
    json
}

fn cluster(rng: &mut Rng) -> Value {
    match rng.below(10) {
        0 => json!("é".repeat(rng.between(120, 260))),
        1 => json!("a".repeat(rng.between(254, 258))),
        _ => pick(rng, &["app", "outbound|80||app.shop.svc.cluster.local", "a b"]),
    }
}

fn server(rng: &mut Rng) -> Value {
    const ADDRESSES: [&str; 16] = [
        "1.2.3.4:5",
        "1.2.3.4:0005",
        "255.255.255.255:65535",
        "[::1]:80",
        "[0:0::1]:80",
        "[2001:db8::7]:80",
        "[::ffff:1.2.3.4]:80",
        "[fe80::1%3]:80",
        "[::1::]:80",
        "[12345::]:80",
        "1.2.3.4:0",
        "1.2.3.4:65536",
        "256.2.3.4:80",
        "01.2.3.4:80",
        "localhost:80",
        "[1.2.3.4]:80",
    ];
    // The first half is sound.
    let most = if rng.chance(0.1) { ADDRESSES.len() } else { 8 };
    let mut json = json!({ "address": ADDRESSES[rng.below(most)] });
    if rng.chance(0.4) {
        json["weight"] = whole(rng, 1, 1_000_000);
    }
    json
}

/// With one field replaced, removed or added somewhere.
fn broken(rng: &mut Rng, mut json: Value) -> Value {
    let mut paths = vec![String::new()];
    collect(&json, String::new(), &mut paths);
    let path = paths[rng.below(paths.len())].clone();
    let at = json.pointer_mut(&path).unwrap();
    match (rng.below(4), &mut *at) {
        (0, Value::Object(map)) => {
            let name = map.keys().nth(rng.below(map.len().max(1))).cloned();
            map.remove(&name.unwrap_or_default());
        }
        (1, Value::Object(map)) => {
            let name = [
                "unknown",
                "cluster",
                "servers",
                "poll_interval_ms",
                "weight",
                "header",
                "title",
                "mode",
            ];
            map.insert(name[rng.below(name.len())].to_owned(), junk(rng));
        }
        (2, Value::Array(list)) if !list.is_empty() => list.push(list[0].clone()),
        _ => *at = junk(rng),
    }
    json
}

fn collect(json: &Value, path: String, into: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match json {
        Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(i, v)| (i.to_string(), v)).collect(),
        _ => Vec::new(),
    };
    for (name, value) in children {
        let path = format!("{path}/{name}");
        into.push(path.clone());
        collect(value, path, into);
    }
}

fn junk(rng: &mut Rng) -> Value {
    let numbers = [-1.0, 0.0, 0.000_01, 0.5, 1.000_01, 2.000_01, 1e9, 1e300];
    let wholes = [-1, 0, 1, 9, 65, 99, 257, 513, 1001, 5001, 600_001, 1_000_001, 3_600_001];
    match rng.below(9) {
        0 => Value::Null,
        1 => json!([]),
        2 => json!({}),
        3 => boolean(rng),
        4 => json!(numbers[rng.below(numbers.len())]),
        5 | 6 => json!(wholes[rng.below(wholes.len())]),
        7 => json!("a".repeat([63, 64, 65, 255, 256, 257][rng.below(6)])),
        _ => pick(
            rng,
            &[
                "", "path", "static", "spread", "status", "a b", "a\nb", "a-b", "é", "a;b", "5",
                "x\n",
            ],
        ),
    }
}
