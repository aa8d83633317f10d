//! However the demo ends, what it started ends with it.

#[path = "../../cluster/tests/common/app_server.rs"]
mod app_server;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Five servers and Envoy.
const CHILDREN: usize = 6;
const PATIENCE: Duration = Duration::from_secs(30);

struct Demo {
    process: Child,
    /// Where it keeps its files.
    scratch: TempDir,
}

/// Without the filter, so that no module is needed: what is tested here is not the filter's.
fn start(seconds: &str) -> std::io::Result<Demo> {
    app_server::is_built();
    let scratch = TempDir::new()?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_rudolph-demo"));
    command.args(["--strategy", "maglev", "--clients", "4", "--seconds", seconds]);
    command.env("TMPDIR", scratch.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(Demo { process: command.spawn()?, scratch })
}

fn eventually(what: &str, mut reached: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !reached() {
        assert!(Instant::now() < deadline, "{what}: not in {} s", PATIENCE.as_secs());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Ids of the processes whose parent is `parent`.
fn children_of(parent: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| parent_of(*id) == Some(parent)).collect()
}

fn parent_of(id: u32) -> Option<u32> {
    let line = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    line.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

impl Demo {
    fn wait_for_children(&self) -> Vec<u32> {
        let mut children = Vec::new();
        eventually("children", || {
            children = children_of(self.process.id());
            children.len() == CHILDREN
        });
        children
    }

    fn signal(&self, signal: Signal) -> rustix::io::Result<()> {
        kill_process(Pid::from_child(&self.process), signal)
    }

    fn files(&self) -> std::io::Result<usize> {
        Ok(std::fs::read_dir(self.scratch.path())?.count())
    }
}

fn wait_until_gone(children: &[u32]) {
    eventually("the end of every child", || {
        children.iter().all(|id| !Path::new(&format!("/proc/{id}")).exists())
    });
}

#[test]
fn at_its_own_end() {
    let demo = start("3").unwrap();
    let children = demo.wait_for_children();
    let output = demo.process.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("Rudolph, strategy maglev  3 of 3 s"), "{text}");
    assert!(text.contains(" requests, 0 errors\n"), "{text}");
    wait_until_gone(&children);
    assert_eq!(std::fs::read_dir(demo.scratch.path()).unwrap().count(), 0);
}

#[test]
fn at_ctrl_c() {
    let mut demo = start("0").unwrap();
    let children = demo.wait_for_children();
    let mut output = BufReader::new(demo.process.stdout.take().unwrap()).lines();
    assert!(output.any(|line| line.unwrap().contains("Rudolph, strategy maglev  1 s")));
    demo.signal(Signal::INT).unwrap();
    // Read on, so that it can write its summary.
    assert!(output.any(|line| line.unwrap().contains(" requests, 0 errors")));
    assert!(demo.process.wait().unwrap().success());
    wait_until_gone(&children);
    assert_eq!(demo.files().unwrap(), 0);
}

#[test]
fn at_ctrl_c_while_it_starts() {
    let mut demo = start("0").unwrap();
    eventually("the first child", || !children_of(demo.process.id()).is_empty());
    let children = children_of(demo.process.id());
    demo.signal(Signal::INT).unwrap();
    demo.process.wait().unwrap();
    wait_until_gone(&children);
    assert_eq!(demo.files().unwrap(), 0);
}

/// Files stay then; the next start removes them.
#[test]
fn at_a_kill_that_it_cannot_see() {
    let mut demo = start("0").unwrap();
    let children = demo.wait_for_children();
    demo.signal(Signal::KILL).unwrap();
    demo.process.wait().unwrap();
    wait_until_gone(&children);
}

#[test]
fn a_mistake_on_the_command_line_is_one_line() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rudolph-demo"));
    let output = command.args(["--strategy", "fast"]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains("'fast'") && text.contains("spread"), "{text}");
    assert_eq!(output.status.code(), Some(2));
}
