//! The program: what survives kill -9, how it drains, what it refuses.

#![allow(clippy::unwrap_used)] // helpers of tests are tests too

mod support;

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use support::{Folder, try_ask};

/// A server process that does not outlive its test.
struct Process {
    child: Child,
    address: SocketAddr,
}

impl Process {
    fn start(folder: &Folder, options: &[&str]) -> Self {
        let mut child = program(folder, options).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix("listening on ").unwrap().trim().parse().unwrap();
        Self { child, address }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn program(folder: &Folder, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rudolph-app-server"));
    command.current_dir(folder.path()).args(["--database", "shared.sqlite"]).args(options);
    command
}

fn wait_until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "it did not happen in 30 s");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Every write that was acknowledged is there and whole; one that was not is absent or whole.
#[test]
fn acknowledged_writes_survive_kill_9() {
    let folder = Folder::new();
    let mut server = Process::start(&folder, &[]);
    let address = server.address;
    let (killed, acknowledged) = (AtomicBool::new(false), AtomicU32::new(0));
    let value = |writer: u32, number: u32| format!("value {writer} {number}").repeat(40);
    let counts: Vec<u32> = thread::scope(|scope| {
        let write = |writer: u32| {
            let mut number = 0;
            while !killed.load(Ordering::Relaxed) {
                let path = format!("/kv/{writer}-{number}");
                let body = value(writer, number);
                match try_ask(address, "PUT", &path, body.as_bytes()) {
                    Some(answer) if answer.status == 204 => {
                        number += 1;
                        acknowledged.fetch_add(1, Ordering::Relaxed);
                    }
                    _ => break,
                }
            }
            number
        };
        let writers: Vec<_> = (0..4).map(|writer| scope.spawn(move || write(writer))).collect();
        wait_until(|| acknowledged.load(Ordering::Relaxed) >= 400);
        server.child.kill().unwrap();
        killed.store(true, Ordering::Relaxed);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    server.child.wait().unwrap();

    let again = Process::start(&folder, &["--create-missing=false"]);
    for (writer, &count) in (0..).zip(&counts) {
        for number in 0..=count {
            let path = format!("/kv/{writer}-{number}");
            let answer = try_ask(again.address, "GET", &path, b"").unwrap();
            let is_whole = answer.status == 200 && answer.text() == value(writer, number);
            let is_absent = answer.status == 404;
            assert!(is_whole || number == count && is_absent, "{path} of {count}: {answer:?}");
        }
    }
}

#[test]
fn five_servers_share_one_new_file() {
    let folder = Folder::new();
    let starting: Vec<_> = thread::scope(|scope| {
        let start = || Process::start(&folder, &["--create-missing=false"]);
        let threads: Vec<_> = (0..5).map(|_| scope.spawn(start)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (number, server) in starting.iter().enumerate() {
        let put = try_ask(server.address, "PUT", &format!("/kv/{number}"), b"v").unwrap();
        assert_eq!(put.status, 204, "{put:?}");
    }
    for number in 0..5 {
        let got = try_ask(starting[0].address, "GET", &format!("/kv/{number}"), b"").unwrap();
        assert_eq!(got.text(), "v");
    }
}

#[test]
fn sigterm_drains_and_exits_0() {
    let folder = Folder::new();
    let mut server = Process::start(&folder, &["--drain-notice-ms", "200", "--miss-ms", "600"]);
    let address = server.address;
    let in_flight =
        thread::spawn(move || try_ask(address, "GET", "/kv/a", b"").map(|answer| answer.status));
    let taken = || try_ask(address, "GET", "/metrics", b"").unwrap().text();
    wait_until(|| taken().contains("rudolph_app_reads_total 1\n"));
    let pid = server.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let start = Instant::now();
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(in_flight.join().unwrap(), Some(200));
}

#[test]
fn bad_options_are_refused_with_one_line() {
    let folder = Folder::new();
    for (options, says) in [
        (["--slots", "0"], "--slots is 0; allowed: 1 to 100000"),
        (["--hit-ms", "-1"], "--hit-ms"),
        (["--miss-ms", "NaN"], "--miss-ms is NaN; allowed: 0 to 60000"),
        (["--value-bytes", "2000000"], "--value-bytes is 2000000"),
        (["--name", "a b"], "--name is \"a b\""),
        (["--listen", "nowhere"], "--listen"),
        (["--no-such", "1"], "--no-such"),
        (["--database-readers", "x"], "--database-readers"),
    ] {
        let out = program(&folder, &options).output().unwrap();
        let said = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.contains(says) && said.lines().count() == 1, "{options:?}: {said}");
    }
}

#[test]
fn a_database_that_cannot_be_opened_is_named() {
    let folder = Folder::new();
    let out = Command::new(env!("CARGO_BIN_EXE_rudolph-app-server"))
        .args(["--database", "/no/such/folder/x.sqlite"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(said.contains("/no/such/folder/x.sqlite") && said.lines().count() == 1, "{said}");
    assert_eq!(out.status.code(), Some(2));
}
