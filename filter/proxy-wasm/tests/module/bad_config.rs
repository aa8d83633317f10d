//! A configuration that is not sound is refused in one line that names the field, the value and what is allowed.

use rudolph_mock_host::{Configuration, Host, LogLevel, WorkerError, try_configuration};

use crate::common::{Gateway, Setup, module};

const GOOD: &str =
    r#"{"key":["path"],"membership":{"source":"static","servers":[{"address":"10.0.0.1:80"}]}}"#;

/// The good text with one part replaced.
fn with(old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old}");
    GOOD.replacen(old, new, 1)
}

/// The good text with one more field.
fn plus(field: &str) -> String {
    with(r#"{"key""#, &format!(r#"{{{field},"key""#))
}

fn servers(list: &str) -> String {
    with(r#"[{"address":"10.0.0.1:80"}]"#, list)
}

fn admin(fields: &str) -> String {
    let text = r#"{"source":"static","servers":[{"address":"10.0.0.1:80"}]}"#;
    with(text, &format!(r#"{{"source":"envoy_admin",{fields}}}"#))
}

fn refused(text: &str, parts: &[&str]) {
    let host = Host::new();
    let tried = try_configuration(module(), &host, &Configuration::plugin(text));
    assert_eq!(tried, Err(WorkerError::ConfigureRefused), "{text}");
    let lines = host.log().take();
    assert_eq!(lines.len(), 1, "{text}: {lines:?}");
    let line = &lines[0];
    assert_eq!(line.level, LogLevel::Error);
    assert!(line.message.lines().count() == 1 && line.message.len() < 400, "{}", line.message);
    for part in parts {
        assert!(line.message.contains(part), "no {part:?} in: {}", line.message);
    }
    assert_eq!(host.shared_data().keys().len(), 0);
}

#[test]
fn the_good_text_is_taken() {
    let host = Host::new();
    try_configuration(module(), &host, &Configuration::plugin(GOOD)).unwrap();
    assert_eq!(host.log().total(), 0);
}

#[test]
fn what_is_not_json_is_refused() {
    refused("", &["EOF", "line 1"]);
    refused("strategy: spread", &["expected value", "line 1"]);
    refused(&GOOD[..GOOD.len() - 1], &["EOF", "line 1"]);
    refused(&format!("{GOOD} x"), &["trailing characters"]);
    refused("[]", &["configuration"]);
    refused("\u{feff}{}", &["expected value"]);
    let bytes = [&b"{\"key\":[\""[..], b"\xff\"]}"].concat();
    let host = Host::new();
    let tried = try_configuration(module(), &host, &Configuration::plugin(bytes));
    assert_eq!(tried, Err(WorkerError::ConfigureRefused));
    assert_eq!(host.log().total(), 1);
}

#[test]
fn unknown_fields_are_refused() {
    refused(&plus(r#""strateggy":"pin""#), &["strateggy", "expected one of", "`strategy`"]);
    refused(&plus(r#""spread":{"hot":true}"#), &["spread", "`hot`", "`hot_keys`"]);
    refused(&plus(r#""pin":{"key":1}"#), &["pin", "`key`", "`keys`"]);
    refused(&plus(r#""rotation":{"c":1}"#), &["rotation", "`c`", "`candidates`"]);
    refused(
        &servers(r#"[{"address":"10.0.0.1:80","wait":1}]"#),
        &["membership", "`wait`", "`weight`"],
    );
    refused(
        &with(r#""source":"static""#, r#""source":"dns""#),
        &["membership.source", "\"dns\"", "static, envoy_admin"],
    );
    refused(&with(r#"["path"]"#, r#"[{"body":"x"}]"#), &["key[0]", "`body`", "`header`"]);
    refused(&plus(r#""strategy":"maglev""#), &["strategy", "\"maglev\"", "rotation"]);
}

#[test]
fn a_status_page_is_refused_by_its_own_fields() {
    refused(r#"{"mode":"stats"}"#, &["mode", "\"stats\"", "route, status"]);
    refused(
        r#"{"mode":"status","key":["path"]}"#,
        &["`key`", "`title`", "`refresh_ms`", "`hosts`"],
    );
    refused(r#"{"mode":"status","refresh_ms":249}"#, &["refresh_ms: 249", "250 to 60000"]);
    refused(r#"{"mode":"status","title":""}"#, &["title: \"\"", "1 to 64 printable characters"]);
    let host = &["hosts[0]: \"a:80\"", "a host name without a port"];
    refused(r#"{"mode":"status","hosts":["a:80"]}"#, host);
    refused(r#"{"mode":"status","mode":"status"}"#, &["duplicate field `mode`"]);
}

#[test]
fn wrong_types_are_refused() {
    refused(&plus(r#""owners":"3""#), &["owners", "\"3\"", "u64"]);
    refused(&plus(r#""owners":2.5"#), &["owners", "2.5", "u64"]);
    refused(&plus(r#""owners":-1"#), &["owners", "-1", "u64"]);
    refused(&plus(r#""hash_tag":1"#), &["hash_tag", "1", "boolean"]);
    refused(&plus(r#""spread":{"spill":"yes"}"#), &["spread.spill", "yes", "boolean"]);
    refused(&with(r#"["path"]"#, r#""path""#), &["key", "path", "sequence"]);
    refused(&servers("{}"), &["membership", "map", "sequence"]);
    refused(&servers(r#"["10.0.0.1:80"]"#), &["membership", "10.0.0.1:80", "object"]);
}

#[test]
fn missing_and_repeated_fields_are_refused() {
    refused(&with(r#""key":["path"],"#, ""), &["missing field `key`"]);
    refused(r#"{"key":["path"]}"#, &["missing field `membership`"]);
    let cluster = "the name of an Envoy cluster";
    refused(&admin(r#""cluster":"a""#), &["membership.admin_cluster", cluster]);
    refused(&admin(r#""admin_cluster":"a""#), &["membership.cluster", cluster]);
    let both = with(r#""source":"static""#, r#""source":"static","cluster":"a""#);
    refused(&both, &["membership.cluster", "only with \"source\": \"envoy_admin\""]);
    refused(&plus(r#""owners":3,"owners":3"#), &["duplicate field `owners`"]);
}

#[test]
fn values_out_of_bounds_are_refused() {
    let cases = [
        ("\"owners\":0", "owners: 0", "1 to 8"),
        ("\"owners\":9", "owners: 9", "1 to 8"),
        ("\"tick_ms\":9", "tick_ms: 9", "10 to 1000"),
        ("\"tick_ms\":1001", "tick_ms: 1001", "10 to 1000"),
        ("\"epoch_ms\":99", "epoch_ms: 99", "100 to 3600000"),
        ("\"strategy\":\"rotation\",\"epoch_ms\":499", "epoch_ms: 499", "500 to 3600000"),
        ("\"spread\":{\"hot_threshold\":0}", "spread.hot_threshold: 0", "0.0001 to 1"),
        ("\"spread\":{\"share_per_copy\":1.5}", "spread.share_per_copy: 1.5", "0.001 to 1"),
        ("\"spread\":{\"max_copies\":5001}", "spread.max_copies: 5001", "0 to 5000"),
        ("\"spread\":{\"miss_penalty_ms\":-1}", "spread.miss_penalty_ms: -1", "0 to 60000"),
        ("\"pin\":{\"keys\":0}", "pin.keys: 0", "1 to 512"),
        ("\"pin\":{\"tolerance\":0.5}", "pin.tolerance: 0.5", "1 to 2"),
        ("\"rotation\":{\"candidates\":257}", "rotation.candidates: 257", "1 to 256"),
        ("\"rotation\":{\"lambda\":-0.1}", "rotation.lambda: -0.1", "0 to 1000"),
    ];
    for (field, value, allowed) in cases {
        refused(&plus(field), &[value, "is not allowed; allowed: ", allowed]);
    }
    refused(&plus("\"rotation\":{\"lambda\":1e999}"), &["rotation.lambda", "out of range"]);
    let poll = admin(r#""cluster":"a","admin_cluster":"b","poll_interval_ms":99"#);
    refused(&poll, &["membership.poll_interval_ms: 99", "100 to 600000"]);
}

#[test]
fn bad_servers_are_refused() {
    refused(&servers("[]"), &["membership.servers: 0 servers", "1 to 5000 servers"]);
    let one = r#"{"address":"10.0.0.1:80"}"#;
    let again = servers(&format!("[{one},{one}]"));
    refused(&again, &["membership.servers[1].address: \"10.0.0.1:80\"", "each server once"]);
    let v6 = servers(r#"[{"address":"[::1]:80"},{"address":"[0:0::1]:80"}]"#);
    refused(&v6, &["membership.servers[1].address: \"[0:0::1]:80\"", "each server once"]);
    let rule = "ip:port, IPv6 in brackets, port 1 to 65535";
    for bad in
        ["localhost:80", "10.0.0.1", "10.0.0.1:0", "10.0.0.1:65536", "::1:80", "", "10.0.0.1:80 "]
    {
        let text = servers(&format!(r#"[{{"address":"{bad}"}}]"#));
        refused(&text, &[&format!("membership.servers[0].address: \"{bad}\""), rule]);
    }
    for weight in ["0", "1000001"] {
        let text = servers(&format!(r#"[{{"address":"10.0.0.1:80","weight":{weight}}}]"#));
        refused(&text, &[&format!("membership.servers[0].weight: {weight}"), "1 to 1000000"]);
    }
    let many: Vec<String> =
        (0..5001).map(|i| format!(r#"{{"address":"10.0.{}.{}:80"}}"#, i / 250, i % 250)).collect();
    let text = servers(&format!("[{}]", many.join(",")));
    refused(&text, &["membership.servers: 5001 servers", "1 to 5000 servers"]);
    refused(
        &admin(r#""cluster":"","admin_cluster":"b""#),
        &["membership.cluster: \"\"", "Envoy cluster"],
    );
}

#[test]
fn bad_names_and_sources_are_refused() {
    let header = "1 to 256 letters, digits, '-', '_' or '.'";
    refused(&plus(r#""upstream_header":"a b""#), &["upstream_header: \"a b\"", header]);
    refused(&plus(r#""upstream_header":"""#), &["upstream_header: \"\"", header]);
    refused(&plus(r#""upstream_header":":path""#), &["upstream_header: \":path\"", header]);
    refused(&plus(r#""debug_header":"x\ny""#), &["debug_header: \"x\\ny\"", header]);
    refused(&plus(r#""debug_header":"X-Rudolph-Upstream""#), &["debug_header: x-rudolph-upstream"]);
    refused(&plus(r#""replicas":{"count":0}"#), &["replicas.count: 0", "1 to 8"]);
    let twice = r#""replicas":{"header":"x-rudolph-upstream"}"#;
    refused(&plus(twice), &["replicas.header: x-rudolph-upstream", "names once"]);
    refused(&plus(r#""stat_prefix":"a-b""#), &["stat_prefix: \"a-b\"", "1 to 64"]);
    let key = |source: &str| with(r#"["path"]"#, source);
    refused(&key("[]"), &["key: 0 sources", "1 to 16 sources"]);
    refused(&key(r#"["path","path"]"#), &["key[1]: \"path\"", "each source once"]);
    refused(&key(r#"[{"path_segment":0}]"#), &["key[0].path_segment: 0", "1 to 64"]);
    refused(&key(r#"[{"cookie":"a=b"}]"#), &["key[0].cookie: \"a=b\"", "without"]);
    refused(&key(r#"[{"header":"x-rudolph-upstream"}]"#), &["key[0].header", "any header but"]);
}

#[test]
fn a_worker_keeps_its_configuration_when_a_new_one_is_refused() {
    let mut gateway = Gateway::start(2, &Setup::servers(5));
    let before = gateway.request(0, "k");
    for worker in &mut gateway.workers {
        assert_eq!(worker.add_root("{}"), Err(WorkerError::ConfigureRefused));
    }
    gateway.tick_rounds(5);
    assert_eq!(gateway.request(0, "k").owners, before.owners);
}
