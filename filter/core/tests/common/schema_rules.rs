//! The rules about configurations that a JSON Schema cannot say.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use serde_json::Value;

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
