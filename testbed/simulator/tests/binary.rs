//! The program itself: what it prints, and how it refuses.

#![allow(clippy::unwrap_used, reason = "tests may stop")]

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rudolph-sim")).args(arguments).output().unwrap()
}

const SHORT: [&str; 6] = ["--seconds", "2", "--warmup", "1", "--seeds", "1"];

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn rows_have_the_names_of_the_experiments() {
    let output = run(&[&SHORT[..], &["--strategies", "spread,bound", "--json"]].concat());
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = summary["sections"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["strategy"], "spread");
    let names = [
        "rps",
        "mean_ms",
        "p50_ms",
        "p90_ms",
        "p99_ms",
        "p999_ms",
        "hit_percent",
        "peak_over_mean",
        "errors",
    ];
    for name in names {
        assert!(rows[0][name].is_number(), "{name} in {}", rows[0]);
    }
}

#[test]
fn threads_do_not_change_a_figure() {
    let with = |threads| {
        let more = ["--strategies", "spread,pin,modulo", "--threads", threads];
        run(&[&SHORT[..], &more].concat()).stdout
    };
    let one = with("1");
    assert!(text(&one).contains("requests/s"), "{}", text(&one));
    assert_eq!(text(&one), text(&with("3")));
}

#[test]
fn refusals_are_one_line_and_a_failure() {
    let cases: [(&[&str], &str); 6] = [
        (&["--servers", "0"], "servers.count is 0; allowed: 1 to 5000"),
        (&["--set", "servers.cout=3"], "servers.cout: unknown field `cout`"),
        (&["--service", "5,1"], "allowed: two times in ms"),
        (&["--set", "nothing"], "allowed: FIELD=VALUE"),
        (&["/nowhere.toml"], "/nowhere.toml cannot be read"),
        (&["--trace", "/nowhere.txt"], "cannot be read"),
    ];
    for (arguments, expected) in cases {
        let output = run(arguments);
        let problem = text(&output.stderr);
        assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}");
        assert!(problem.contains(expected) && problem.lines().count() == 1, "{problem}");
    }
}

#[test]
fn a_page_is_written_where_it_is_asked_for() {
    let path = std::env::temp_dir().join(format!("rudolph-sim-{}.html", std::process::id()));
    let sweep = "sweep=[{fields=[\"workload.keys.alpha\"],rows=[[0.5],[1.0]]}]";
    let more = ["--strategies", "spread", "--set", sweep, "--plot", path.to_str().unwrap()];
    let output = run(&[&SHORT[..], &more].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(page.contains("<svg") && page.contains("workload.keys.alpha = 0.5"));
}
