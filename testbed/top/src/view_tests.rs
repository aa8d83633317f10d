use super::*;

const PLAIN: Look = Look { color: false, rows: 20 };

fn document(filter: &str) -> Document {
    let text = format!(r#"{{"title": "T", "now_ms": 5000, "filters": [], "filter": {filter}}}"#);
    serde_json::from_str(&text).unwrap()
}

fn state(servers: usize, count: u64) -> String {
    let server = |i: usize| {
        format!(
            r#"{{"address": "10.0.0.{i}:80", "weight": 1, "learned": 1.0, "load": {}, "load_5m": null, "in_flight": {i}}}"#,
            i as f64 / 10.0
        )
    };
    let servers: Vec<String> = (1..=servers).map(server).collect();
    format!(
        r#"{{"id": "0", "strategy": "spread", "epoch": 3, "plan": {{"version": 7, "rotation": null}},
            "load": {{"peak_over_mean": 1.05, "plain_peak_over_mean": 1.54}}, "servers": [{}],
            "left_out": [{{"address": "10.0.0.99:80", "reason": "draining"}}],
            "hot_keys": [{{"hash": "00ff", "key": "a\u001b[2Jb", "share": 0.25, "owners": [0]}}],
            "workers": [{{"slot": 0, "plan": 6, "epoch": 2, "agrees": false}}],
            "causes": [{{"text": "no key", "total": 9, "recent": 0, "matters": false}}],
            "alarms": ["look here"], "metrics": {{"requests.owner": {count}}}}}"#,
        servers.join(", ")
    )
}

#[test]
fn it_says_what_the_page_says() {
    let text = lines(&document(&state(2, 5)), &mut Memory::default(), PLAIN).join("\n");
    for part in [
        "plan 7, epoch 3, 2 servers",
        "busiest over mean 1.05, hashing alone 1.54",
        "! look here",
        "10.0.0.99:80  draining",
        "0: plan 6 of epoch 2, behind",
        " 25.0%  10.0.0.1:80",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    assert!(!text.contains("no key"), "what is long past is not shown:\n{text}");
}

#[test]
fn a_key_cannot_command_the_terminal() {
    let text = lines(&document(&state(1, 5)), &mut Memory::default(), PLAIN).join("\n");
    assert!(!text.contains('\x1b') && text.contains("a\\u{1b}[2Jb"), "{text}");
}

#[test]
fn of_many_servers_the_busiest_are_shown() {
    let look = Look { rows: 3, ..PLAIN };
    let text = lines(&document(&state(30, 5)), &mut Memory::default(), look).join("\n");
    assert!(text.contains("10.0.0.30:80") && !text.contains("10.0.0.1:80  "), "{text}");
    assert!(text.contains("and 27 less busy"), "{text}");
}

#[test]
fn requests_a_second_are_those_since_the_last_look() {
    let mut memory = Memory::default();
    let mut at = |now_ms: u64, count: u64| {
        let mut document = document(&state(1, count));
        document.now_ms = now_ms;
        lines(&document, &mut memory, PLAIN).remove(0)
    };
    assert!(!at(1_000, 100).contains("requests/s"));
    assert!(at(3_000, 600).contains("250 requests/s"));
    assert!(!at(4_000, 10).contains("requests/s"), "counters began anew");
}

#[test]
fn without_a_filter_it_says_so() {
    let text = lines(&document("null"), &mut Memory::default(), PLAIN).join("\n");
    assert!(text.contains("no filter has told anything yet"));
}

#[test]
fn a_bar_is_as_long_as_the_load_and_marks_the_mean() {
    assert_eq!(bar(0.5, PLAIN), "######      |           ");
    assert_eq!(bar(9.0, PLAIN), "############|###########");
}
