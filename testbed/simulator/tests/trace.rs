//! Somebody's own keys: plain, compressed, in an access log, with lines that hold none.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may stop")]

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::{Compression, write::GzEncoder};
use rudolph_simulator::report::{advice_page, advice_text};
use rudolph_simulator::scenario::{Scenario, Strategy, sweep};
use rudolph_simulator::trace::{self, KeyOfLine, Question, Trace};
use rudolph_workload::{KeySpec, WorkloadSpec};

/// A file that goes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("rudolph-sim-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn lines(count: u64, line: impl Fn(&str) -> String) -> Vec<u8> {
    let keys = KeySpec::Zipf { count: 2_000, alpha: 1.0, ramp: None, reshuffle_s: None };
    let mut stream = WorkloadSpec { seed: 6, keys, ..WorkloadSpec::default() }.build().unwrap();
    let mut out = Vec::new();
    for _ in 0..count {
        let mut key = Vec::new();
        stream.write_key(stream.clone().next(0).key, &mut key);
        let _ = stream.next(0);
        out.extend_from_slice(line(std::str::from_utf8(&key).unwrap()).as_bytes());
        out.push(b'\n');
    }
    out
}

fn read(path: &Path, how: &str) -> Trace {
    trace::read(path, &KeyOfLine::parse(how).unwrap()).unwrap()
}

fn question(text: &str) -> Question {
    let scenario: Scenario = sweep::read(text).unwrap().remove(0).scenario;
    Question { scenario, rps: None, today: Strategy::named("modulo").unwrap() }
}

#[test]
fn all_ways_to_the_same_keys_give_the_same_answer() {
    let plain = lines(20_000, str::to_owned);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&plain).unwrap();
    let log = lines(20_000, |key| format!("[now] \"GET {key} HTTP/1.1\" 200 - \"host\""));
    let json = lines(20_000, |key| format!("{{\"user\": \"{key}\", \"status\": 200}}"));
    let files = [
        (Scratch::new("plain", &plain), "line"),
        (Scratch::new("packed", &packed.finish().unwrap()), "line"),
        (Scratch::new("log", &log), "path"),
        (Scratch::new("json", &json), "json:user"),
        (Scratch::new("fields", &log), "regex:GET ([^ ]+)"),
    ];
    let question =
        question("strategies = [\"spread\", \"maglev\"]\nservers = { cache_keys = 200 }");
    let answer = |(file, how): &(Scratch, &str)| {
        let advice = trace::advise(&read(&file.0, how), &question, &|| {}).unwrap();
        serde_json::to_string(&advice).unwrap()
    };
    let first = answer(&files[0]);
    for file in &files[1..] {
        assert_eq!(answer(file), first, "{}", file.1);
    }
}

#[test]
fn lines_without_a_key_are_counted() {
    let file = Scratch::new("broken", b"a=1\n\nnothing\na=2\r\na=2\n\xff\xfe\na=");
    let trace = read(&file.0, "regex:a=([0-9]+)");
    assert_eq!((trace.requests(), trace.different_keys(), trace.unparsable), (3, 2, 4));
    assert_eq!(trace.hottest[0].key, "2");
}

#[test]
fn nothing_to_read_is_said() {
    let how = KeyOfLine::parse("line").unwrap();
    let empty = Scratch::new("empty", b"\n\n");
    let refusal = trace::read(&empty.0, &how).unwrap_err().to_string();
    assert!(refusal.contains("holds no key in 2 lines"), "{refusal}");
    let refusal = trace::read(Path::new("/nowhere/at/all"), &how).unwrap_err().to_string();
    assert!(refusal.contains("cannot be read"), "{refusal}");
}

/// Three keys of equal share can use three servers, and one key alone one: whoever gives a key one owner.
#[test]
fn servers_that_help_nobody_can_go() {
    let file = Scratch::new("one", "x\n".repeat(30_000).as_bytes());
    let trace = read(&file.0, "line");
    let mut question = question(
        "strategies = [\"modulo\", \"spread\"]\nseeds = [1]\nservers = { count = 4, cache_keys = 10, sigma = 0.0 }",
    );
    question.rps = Some(3_000.0);
    let advice = trace::advise(&trace, &question, &|| {}).unwrap();
    assert!((advice.hottest_key_of_a_fair_share - 4.0).abs() < 1e-9);
    assert_eq!(advice.rows[0].servers_enough, Some(1));
    let text = advice_text(&advice);
    assert!(text.contains("its server cannot be relieved"), "{text}");
    let page = advice_page(&advice, "rudolph-sim --trace x");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("100.00"));
}

/// A trace numbers its keys as they come: there are no ranges to cut.
#[test]
fn ranges_are_refused_for_a_trace() {
    let file = Scratch::new("ranges", &lines(1_000, str::to_owned));
    let question = question("strategies = [\"range\"]");
    let refusal = trace::advise(&read(&file.0, "line"), &question, &|| {}).unwrap_err().to_string();
    assert!(refusal.starts_with("range has no place for a trace"), "{refusal}");
}
