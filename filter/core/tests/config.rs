//! The configuration: defaults, bounds from both sides, and what each refusal says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

use rudolph_core::config::{Config, Membership, Replicas, Strategy};
use rudolph_core::key::KeySource;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const KEY: &str = r#""key": ["path"]"#;
const MEMBERSHIP: &str =
    r#""membership": {"source": "static", "servers": [{"address": "1.2.3.4:5"}]}"#;

fn read(text: &str) -> Result<Config, String> {
    Config::from_json(text.as_bytes()).map_err(|error| error.to_string())
}

fn with(fields: &str) -> Result<Config, String> {
    read(&format!("{{{KEY}, {MEMBERSHIP}, {fields}}}"))
}

fn key(value: &str) -> Result<Config, String> {
    read(&format!(r#"{{{MEMBERSHIP}, "key": {value}}}"#))
}

fn membership(fields: &str) -> Result<Config, String> {
    read(&format!(r#"{{{KEY}, "membership": {{{fields}}}}}"#))
}

fn servers(list: &str) -> Result<Config, String> {
    membership(&format!(r#""source": "static", "servers": [{list}]"#))
}

/// The refusal after `configuration: ` and before the position in the text.
fn refusal(found: &Result<Config, String>) -> &str {
    let text = found.as_ref().expect_err("it was taken");
    let text = text.strip_prefix("configuration: ").expect("it says what it is about");
    text.split(" at line ").next().unwrap_or_default()
}

#[test]
fn defaults() {
    let config = read(&format!("{{{KEY}, {MEMBERSHIP}}}")).unwrap();
    assert_eq!(config.strategy, Strategy::Spread);
    assert_eq!(config.key.sources, [KeySource::Path]);
    assert!(!config.key.hash_tag);
    assert_eq!((config.owners, config.tick_ms, config.epoch_ms), (3, 100, 100));
    assert_eq!(config.upstream_header, "x-rudolph-upstream");
    assert_eq!((config.debug_header, config.stat_prefix.as_str()), (None, "rudolph"));
    assert_eq!(config.replicas, None);
    let spread = config.spread;
    let all = [
        spread.hot_keys,
        spread.proportional,
        spread.least_in_flight,
        spread.online,
        spread.spill,
        spread.learn_weights,
    ];
    assert_eq!(all, [true; 6]);
    let numbers = [spread.hot_threshold, spread.share_per_copy, spread.miss_penalty_ms];
    assert_eq!((numbers, spread.max_copies), ([0.01, 0.03, 4.0], 0));
    assert_eq!((config.pin.keys, config.pin.tolerance), (64, 1.02));
    assert_eq!((config.rotation.candidates, config.rotation.lambda), (64, 0.125));
    let Membership::Static(members) = config.membership else { panic!("static") };
    assert_eq!((members.len(), members.servers()[0].weight), (1, 1));
    let admin = r#""source": "envoy_admin", "cluster": "a", "admin_cluster": "b""#;
    let Membership::EnvoyAdmin { poll_interval_ms, .. } = membership(admin).unwrap().membership
    else {
        panic!("envoy_admin")
    };
    assert_eq!(poll_interval_ms, 1000);
}

#[test]
fn replicas_stay_where_they_are_when_a_server_is_slow() {
    let text = format!("{{{KEY}, {MEMBERSHIP}, \"replicas\": {{\"header\": \"X-Copies\"}}}}");
    let config = read(&text).unwrap();
    assert_eq!(config.replicas, Some(Replicas { count: 2, header: "x-copies".into() }));
    assert!(!config.spread.learn_weights);
}

#[test]
fn the_epoch_follows_strategy_and_tick() {
    let epoch = |strategy: &str, tick| {
        with(&format!(r#""strategy": "{strategy}", "tick_ms": {tick}"#)).unwrap().epoch_ms
    };
    assert_eq!([epoch("spread", 100), epoch("spread", 700)], [100, 700]);
    assert_eq!([epoch("pin", 10), epoch("pin", 100)], [250, 300]);
    for strategy in ["rotation", "lpt", "static"] {
        assert_eq!([epoch(strategy, 100), epoch(strategy, 1000)], [1000, 5000], "{strategy}");
    }
}

/// Field (as its JSON), lowest, highest, and the nearest beyond each.
const BOUNDS: [(&str, [&str; 4]); 14] = [
    (r##""tick_ms": #"##, ["10", "1000", "9", "1001"]),
    (r##""owners": #"##, ["1", "8", "0", "9"]),
    (r##""epoch_ms": #"##, ["100", "3600000", "99", "3600001"]),
    (r##""strategy": "pin", "epoch_ms": #"##, ["300", "3600000", "299", "3600001"]),
    (r##""strategy": "lpt", "epoch_ms": #"##, ["500", "3600000", "499", "3600001"]),
    (r##""spread": {"hot_threshold": #}"##, ["0.0001", "1", "0.00009", "1.01"]),
    (r##""spread": {"share_per_copy": #}"##, ["0.001", "1", "0.0009", "1.01"]),
    (r##""spread": {"max_copies": #}"##, ["0", "5000", "-1", "5001"]),
    (r##""spread": {"miss_penalty_ms": #}"##, ["0", "60000", "-0.1", "60001"]),
    (r##""pin": {"keys": #}"##, ["1", "512", "0", "513"]),
    (r##""pin": {"tolerance": #}"##, ["1", "2", "0.99", "2.01"]),
    (r##""rotation": {"candidates": #}"##, ["1", "256", "0", "257"]),
    (r##""rotation": {"lambda": #}"##, ["0", "1000", "-0.1", "1000.1"]),
    (
        r##""strategy": "rotation", "tick_ms": 10, "epoch_ms": #"##,
        ["50", "3600000", "49", "3600001"],
    ),
];

#[test]
fn bounds_from_both_sides() {
    for (field, [least, most, under, over]) in BOUNDS {
        let given = |value: &str| with(&field.replace('#', value));
        for sound in [least, most] {
            assert!(given(sound).is_ok(), "{field}: {sound}");
        }
        for bad in [under, over] {
            let found = given(bad);
            let text = refusal(&found);
            assert!(text.contains(bad), "{field}: {text}");
            let allowed = format!("{bad} is not allowed; allowed: {least} to {most}");
            assert!(text.ends_with(&allowed) || bad == "-1", "{field}: {text}");
        }
    }
}

#[test]
fn names_from_both_sides() {
    let long = |bytes| "a".repeat(bytes);
    let header = |name: &str| key(&format!(r#"[{{"header": "{name}"}}]"#));
    assert_eq!(header("X-User_1.a").unwrap().key.sources, [KeySource::Header("x-user_1.a".into())]);
    assert!(header(&long(256)).is_ok() && header(&long(257)).is_err());
    let prefix = |name: &str| with(&format!(r#""stat_prefix": "{name}""#));
    assert!(prefix(&long(64)).is_ok() && prefix(&long(65)).is_err() && prefix("").is_err());
    let cookie = |name: &str| key(&format!(r#"[{{"cookie": "{name}"}}]"#));
    assert!(cookie(&long(256)).is_ok() && cookie(&long(257)).is_err() && cookie("").is_err());
    let segment = |n: u32| key(&format!(r#"[{{"path_segment": {n}}}]"#));
    assert!(segment(1).is_ok() && segment(64).is_ok());
    let sources = |count: usize| {
        let all: Vec<String> = (0..count).map(|i| format!(r#"{{"header": "h{i}"}}"#)).collect();
        key(&format!("[{}]", all.join(",")))
    };
    assert!(sources(16).is_ok());
    assert_eq!(refusal(&sources(17)), "key: 17 sources is not allowed; allowed: 1 to 16 sources");
    assert_eq!(with(r#""debug_header": """#).unwrap().debug_header, None);
}

#[test]
fn addresses_and_weights() {
    let one = |address: &str| servers(&format!(r#"{{"address": "{address}"}}"#));
    for sound in ["1.2.3.4:1", "255.255.255.255:65535", "[::1]:80", "[2001:db8::7]:80"] {
        assert!(one(sound).is_ok(), "{sound}");
    }
    let bad = [
        "",
        "1.2.3.4",
        "1.2.3.4:0",
        "1.2.3.4:65536",
        "1.2.3:80",
        "1.2.3.4:80 ",
        "host:80",
        "host.example:80",
        "localhost:80",
        "::1:80",
        "2001:db8::7:80",
        "[::1]",
        "[::1]:0",
        ":80",
        "http://1.2.3.4:80",
        "1.2.3.4:http",
        "unix:/run/a",
        "1.2.3.4:-1",
    ];
    for address in bad {
        let expected = format!(
            r#"membership.servers[0].address: "{address}" is not allowed; allowed: ip:port, IPv6 in brackets, port 1 to 65535"#
        );
        assert_eq!(refusal(&one(address)), expected);
    }
    let weight =
        |weight: u64| servers(&format!(r#"{{"address": "1.2.3.4:5", "weight": {weight}}}"#));
    assert!(weight(1).is_ok() && weight(1_000_000).is_ok());
    for bad in [0, 1_000_001, u64::MAX] {
        let expected =
            format!("membership.servers[0].weight: {bad} is not allowed; allowed: 1 to 1000000");
        assert_eq!(refusal(&weight(bad)), expected);
    }
    let many = |count: usize| {
        let all: Vec<String> = (0..count)
            .map(|i| format!(r#"{{"address": "10.0.{}.{}:80"}}"#, i / 250, i % 250))
            .collect();
        servers(&all.join(","))
    };
    assert!(many(5_000).is_ok());
    let over = "membership.servers: 5001 servers is not allowed; allowed: 1 to 5000 servers";
    assert_eq!(refusal(&many(5_001)), over);
}

#[test]
fn refusals_word_for_word() {
    let table = include_str!("../vectors/refusals.txt");
    let lines: Vec<&str> = table.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(lines.len() >= 60 && lines.len().is_multiple_of(2), "{} lines", lines.len());
    for pair in lines.chunks(2) {
        let (place, text) = pair[0].split_once(' ').unwrap_or((pair[0], ""));
        let found = match place {
            "whole" => read(text),
            "field" => with(text),
            "key" => key(text),
            "membership" => membership(text),
            "servers" => servers(text),
            other => panic!("{other}"),
        };
        assert_eq!(refusal(&found), pair[1].trim_start(), "{}", pair[0]);
    }
    let unknown = with(r#""tikc_ms": 5"#);
    assert!(refusal(&unknown).starts_with("tikc_ms: unknown field `tikc_ms`, expected one of `"));
    let unknown = with(r#""spread": {"hot": 1}"#);
    assert!(refusal(&unknown).starts_with("spread.hot: unknown field `hot`, expected one of `"));
}

#[test]
fn membership_refusals_name_the_field() {
    let admin = r#""source": "envoy_admin", "cluster": "a", "admin_cluster": "b""#;
    let table = [
        (membership(""), "membership"),
        (membership(r#""source": "dns""#), "membership.source"),
        (membership(r#""source": 7"#), "membership.source"),
        (servers(r#"{"address": 5}"#), "membership.servers[0].address"),
        (servers(r#"{"address": "1.2.3.4:5", "weight": "1"}"#), "membership.servers[0].weight"),
        (servers(r#"{"address": "1.2.3.4:5", "wieght": 1}"#), "membership.servers[0].wieght"),
        (servers(r#"{"address": "1.2.3.4:5"}, "1.2.3.4:6""#), "membership.servers[1]"),
        (
            membership(&format!(r#"{admin}, "poll_interval_ms": "1""#)),
            "membership.poll_interval_ms",
        ),
        (membership(&format!(r#"{admin}, "servers": []"#)), "membership.servers"),
        (
            membership(r#""source": "envoy_admin", "cluster": 7, "admin_cluster": "b""#),
            "membership.cluster",
        ),
    ];
    for (found, field) in &table {
        let text = refusal(found);
        assert!(text.starts_with(&format!("{field}: ")), "{field} is not named: {text}");
    }
}

#[test]
fn a_strategy_that_is_no_word_is_told_what_is_allowed() {
    for bad in ["7", "null", "[]", r#"{"spread": 1}"#] {
        let found = with(&format!(r#""strategy": {bad}"#));
        let text = refusal(&found);
        assert!(text.starts_with("strategy: ") && text.contains("spread"), "{bad}: {text}");
    }
}

#[test]
fn a_refusal_is_one_short_line() {
    let long = "x".repeat(3_000);
    let found = [
        with(r#""a\nb": 5"#),
        with(&format!(r#""{long}": 5"#)),
        with(r#""strategy": "a\nb""#),
        with(&format!(r#""strategy": "{long}""#)),
        with(r#""stat_prefix": "a\nb""#),
        with(&format!(r#""stat_prefix": "{long}""#)),
        with("\"debug_header\": \"x-\u{7f}\u{85}\""),
        with(r#""owners": "a\nb""#),
        key(r#"["a\nb"]"#),
        key(r#"[{"header": "a\nb\u2028\u0000"}]"#),
        membership(r#""source": "a\nb""#),
        servers(r#"{"address": "a\nb"}"#),
        servers(&format!(r#"{{"address": "{long}"}}"#)),
        servers(r#"{"address": "1.2.3.4:5", "a\r\nb": 7}"#),
    ];
    for (i, found) in found.iter().enumerate() {
        let text = found.as_ref().expect_err("it was taken");
        assert!(!text.contains(char::is_control), "{i}: {text:?}");
        assert!(text.len() <= 1_000, "{i}: {} bytes", text.len());
    }
}

#[test]
fn what_is_no_text_at_all() {
    assert!(Config::from_json(b"\xff\xfe").is_err());
    let deep = format!(r#"{{"key": {}"#, "[".repeat(100_000));
    assert!(read(&deep).is_err());
    let whole = format!("{{{KEY}, {MEMBERSHIP}}}");
    for end in 0..whole.len() {
        assert!(read(&whole[..end]).is_err(), "cut at {end}");
    }
}

#[test]
fn the_digest_is_of_the_text() {
    let digest = |fields: &str| with(fields).unwrap().digest;
    assert_eq!(digest(r#""owners": 3"#), digest(r#""owners": 3"#));
    assert_ne!(digest(r#""owners": 3"#), digest(r#""owners": 4"#));
}
