//! What the module shows of itself: a new import or export is a decision, not an accident.

use std::collections::BTreeSet;

use rudolph_core::telemetry::{Counter, Gauge};
use rudolph_mock_host::MetricType;

use crate::common::{Gateway, Setup, module, wasm_path};

const IMPORTS: [&str; 16] = [
    "proxy_define_metric",
    "proxy_get_buffer_bytes",
    "proxy_get_current_time_nanoseconds",
    "proxy_get_header_map_value",
    "proxy_get_metric",
    "proxy_get_property",
    "proxy_get_shared_data",
    "proxy_http_call",
    "proxy_increment_metric",
    "proxy_log",
    "proxy_record_metric",
    "proxy_remove_header_map_value",
    "proxy_replace_header_map_value",
    "proxy_send_local_response",
    "proxy_set_shared_data",
    "proxy_set_tick_period_milliseconds",
];

const MOST_BYTES: usize = 500 * 1024;

#[test]
fn exports_are_those_listed() {
    let listed: BTreeSet<&str> = include_str!("../../exports.txt")
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .filter_map(|line| line.split('=').next().map(str::trim))
        .collect();
    let exports = module().exports();
    let found: BTreeSet<&str> = exports.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(found, listed);
}

#[test]
fn imports_are_those_allowed() {
    let allowed: Vec<String> = IMPORTS.iter().map(|name| format!("env.{name}")).collect();
    assert_eq!(module().imports(), allowed);
}

#[test]
fn it_is_small_and_tells_nothing_of_where_it_was_built() {
    let bytes = std::fs::read(wasm_path()).unwrap();
    assert!(bytes.len() <= MOST_BYTES, "{} bytes are more than {MOST_BYTES}", bytes.len());
    assert_eq!(custom_sections(&bytes), Vec::<String>::new());
    for home in ["home", "root", "Users"].map(|folder| format!("/{folder}/")) {
        let found = bytes.windows(home.len()).any(|window| window == home.as_bytes());
        assert!(!found, "the module holds a path under {home}");
    }
}

/// Names of the custom sections, `producers` aside: it says which compiler made the module.
fn custom_sections(wasm: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = &wasm[8..];
    while let [id, after @ ..] = rest {
        let (size, after) = number(after);
        let (section, next) = after.split_at(size);
        rest = next;
        if *id == 0 {
            let (length, text) = number(section);
            names.push(String::from_utf8_lossy(&text[..length]).into_owned());
        }
    }
    names.retain(|name| name != "producers" && name != "target_features");
    names
}

/// A number in LEB128, and what follows it.
fn number(bytes: &[u8]) -> (usize, &[u8]) {
    let last = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap();
    let value =
        bytes[..=last].iter().rev().fold(0, |sum, byte| sum << 7 | usize::from(byte & 0x7f));
    (value, &bytes[last + 1..])
}

#[test]
fn it_defines_the_metrics_of_the_core_and_no_others() {
    let mut gateway = Gateway::start(2, &Setup::admin());
    for i in 0..100 {
        gateway.request(0, &format!("key-{i}"));
    }
    gateway.tick_rounds(5);
    let counters = Counter::ALL.iter().map(|counter| (MetricType::Counter, counter.name()));
    let gauges = Gauge::ALL.iter().map(|gauge| (MetricType::Gauge, gauge.name()));
    let listed: BTreeSet<(MetricType, String)> =
        counters.chain(gauges).map(|(kind, name)| (kind, format!("rudolph.{name}"))).collect();
    let found: BTreeSet<(MetricType, String)> =
        gateway.host.metrics().names().into_iter().collect();
    assert_eq!(found, listed);
}
