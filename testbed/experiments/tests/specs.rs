//! A spec that is not sound is refused in one line that names the field, what it holds and what is allowed.

#![allow(clippy::unwrap_used)] // helpers of tests are tests too

use rudolph_experiments::{SHIPPED, Spec};

fn text_of(name: &str) -> &'static str {
    SHIPPED.iter().find(|(shipped, _)| *shipped == name).unwrap().1
}

/// What is said of a shipped spec in which `from` is replaced.
fn refusal(name: &str, from: &str, to: &str) -> String {
    let text = text_of(name);
    assert!(text.contains(from), "{name} holds no {from:?}");
    let error = Spec::parse(name, &text.replacen(from, to, 1)).unwrap_err().to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

#[test]
fn values_out_of_bounds_are_named() {
    let cases = [
        ("rivals", "repeats = 3", "repeats = 0", "repeats is 0; allowed: 1 to 100"),
        ("rivals", "slots = 4", "slots = 0", "servers.slots is 0; allowed: 1 to 1000"),
        ("rivals", "hit_ms = 4.0", "hit_ms = -1.0", "servers.hit_ms is -1; allowed: 0 to 10000"),
        ("rivals", "clients = 64", "clients = 0", "load.clients is 0; allowed: 1 to 10000"),
        ("rivals", "alpha = 1.0", "alpha = 99.0", "workload: keys.alpha is 99; allowed: 0 to 10"),
        ("rivals", "seconds = 12", "seconds = 0", "load.seconds is 0; allowed: 1 to 86400"),
    ];
    for (name, from, to, expected) in cases {
        assert_eq!(refusal(name, from, to), expected);
    }
}

#[test]
fn both_or_neither_kind_of_load_is_refused() {
    let both = refusal("rivals", "clients = 64", "clients = 64\nrate = 100.0");
    let neither = refusal("rivals", "clients = 64", "");
    for error in [both, neither] {
        assert!(error.starts_with("load is") && error.contains("either clients"), "{error}");
    }
}

#[test]
fn fields_that_do_not_exist_are_named() {
    let error = refusal("rivals", "slots = 4", "slots = 4\nspeed = 2");
    assert!(error.contains("servers") && error.contains("`speed`"), "{error}");
    let error = refusal("rivals", "slots = 4", "slots = \"four\"");
    assert!(error.starts_with("servers.slots: "), "{error}");
    let error = refusal("fig6a", "p50_ms = 2.14", "p51_ms = 2.14");
    assert!(error.contains("p51_ms"), "{error}");
    let error = refusal("rivals", "title = ", "title ");
    assert!(error.starts_with("not TOML: "), "{error}");
}

#[test]
fn strangers_are_named() {
    let error = refusal("rivals", "\"lpt\"", "\"lbt\"");
    assert!(error.contains("\"lbt\" is nobody") && error.contains("least_request"), "{error}");
    let error =
        refusal("rivals", "reference = \"static\"", "reference = \"ring_hash_bounded_300\"");
    assert!(
        error.starts_with("reference names ring_hash_bounded_300, who does not compete"),
        "{error}"
    );
    let error = refusal("rivals", "times = [\"static\", \"maglev\"]", "times = [\"rotation@7\"]");
    assert!(error.starts_with("expect.of names rotation@7"), "{error}");
}

#[test]
fn events_must_be_possible() {
    let error = refusal("failover", "action = \"restart\"", "action = \"kill\"");
    assert!(error.starts_with("event is Kill of server 1; allowed:"), "{error}");
    let error = refusal("failover", "server = 1", "server = 5");
    assert!(error.starts_with("event is Kill of server 5"), "{error}");
    let error = refusal("failover", "at_s = 14", "at_s = 99");
    assert!(error.starts_with("event is at_s 99; allowed: rising, below load.seconds"), "{error}");
}

#[test]
fn a_ramp_is_needed_to_plot_one() {
    let error = refusal("fig8", "ramp = { to = 2.0, steps = 6, step_s = 4.0 }", "");
    assert!(error.contains("share_per_alpha") && error.contains("keys.ramp"), "{error}");
}
