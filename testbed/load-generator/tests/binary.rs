//! The command: what it refuses, and what it says when nothing answers.

#![allow(clippy::unwrap_used)] // helpers of tests are tests too

use std::process::{Command, Output};

fn run(options: &[&str]) -> (Output, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_rudolph-load")).args(options).output().unwrap();
    let said = String::from_utf8(out.stderr.clone()).unwrap();
    (out, said)
}

#[test]
fn bad_options_are_refused_with_one_line() {
    let target = ["--target", "127.0.0.1:1"];
    for (options, says) in [
        (["--clients", "0"], "--connections is 0; allowed: 1 to 20000"),
        (["--rate", "0"], "--rate is 0; allowed: 0.001 to 1000000 a second"),
        (["--rate", "-5"], "--rate is -5"),
        (["--seconds", "0"], "--seconds is 0; allowed: above 0, to 86400 s"),
        (["--warm-up-s", "-1"], "--warm-up-s is -1"),
        (["--timeout-ms", "0"], "--timeout-ms is 0; allowed: 1 to 86400000"),
        (["--alpha", "11"], "keys.alpha is 11; allowed: 0 to 10"),
        (["--keys", "0"], "keys.count is 0"),
        (["--read-fraction", "2"], "read_fraction is 2; allowed: 0 to 1"),
        (["--workload", "no-such-file"], "--workload \"no-such-file\" cannot be read"),
        (["--arrivals", "bursty"], "--arrivals"),
        (["--requests", "0"], "--requests is 0; allowed: at least 1"),
        (["--no-such", "1"], "--no-such"),
    ] {
        let (out, said) = run(&[target, options].concat());
        assert_eq!(out.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.contains(says) && said.lines().count() == 1, "{options:?}: {said}");
    }
    for options in [["--target", "nowhere"].as_slice(), &[]] {
        let (out, said) = run(options);
        assert_eq!(out.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.contains("--target") && said.lines().count() == 1, "{options:?}: {said}");
    }
}

#[test]
fn a_run_without_answers_is_a_failure() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (out, said) = run(&[
        "--target",
        &free.to_string(),
        "--seconds",
        "0.3",
        "--warm-up-s",
        "0",
        "--max-lag-ms",
        "10000",
    ]);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("no request was answered well: connect "), "{said}");
}
