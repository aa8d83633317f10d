//! A data folder that cannot be used, and a disk that is full.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod support;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rudolph_replicated_store::client::Client;
use support::{PROGRAM, stores};

#[test]
fn a_data_folder_that_cannot_be_used_is_named_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let broken = folder.path().join("broken");
    std::fs::create_dir(&broken).unwrap();
    std::fs::write(broken.join("store.sqlite"), "this is no database, and long enough to tell")
        .unwrap();
    for (data, words) in
        [(file.join("data"), "data folder"), (file, "data folder"), (broken, "not a database")]
    {
        let output = Command::new(PROGRAM).arg("--data").arg(&data).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains(words) && said.contains(data.to_str().unwrap()), "{said}");
    }
    let output = Command::new(PROGRAM)
        .arg("--data")
        .arg(folder.path())
        .args(["--redis", "/nowhere"])
        .output();
    let said = String::from_utf8_lossy(&output.unwrap().stderr).into_owned();
    assert!(said.contains("/nowhere") && said.lines().count() == 1, "{said}");
}

/// A server no file of which may grow beyond so many KiB: writes then fail as on a full disk.
fn on_a_small_disk(kib: u32, data: &Path, redis: Option<&Path>) -> (Child, SocketAddr) {
    let mut command = Command::new("bash");
    let limited = "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\"";
    command.args(["-c", limited, &kib.to_string(), PROGRAM, "--data"]).arg(data);
    if let Some(redis) = redis {
        command.arg("--redis").arg(redis);
    }
    let mut server = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on ").expect("it says where").parse();
    (server, address.unwrap())
}

/// Once no write is taken any more, what was acknowledged is still there and what was refused is not.
#[test]
fn a_full_disk_refuses_writes_and_loses_nothing() {
    for redis in stores() {
        let data = tempfile::tempdir().unwrap();
        let (mut server, address) = on_a_small_disk(400, data.path(), redis.as_deref());
        let mut client = Client::new(address);
        let value = |i: usize| vec![b'a' + (i % 26) as u8; 8 << 10];
        let mut kept = Vec::new();
        let mut refused = Vec::new();
        let deadline = Instant::now() + Duration::from_secs(20);
        for i in 0.. {
            assert!(Instant::now() < deadline, "the disk never filled up");
            let answer = client.put(&format!("key-{i}"), None, &value(i)).unwrap();
            match answer.status {
                204 => kept.push(i),
                507 => refused.push((i, String::from_utf8(answer.body).unwrap())),
                // Just started.
                503 => std::thread::sleep(Duration::from_millis(5)),
                other => panic!("{other}: {}", String::from_utf8_lossy(&answer.body)),
            }
            if refused.len() >= 3 {
                break;
            }
        }
        assert!(kept.len() > 10, "only {} were kept", kept.len());
        for i in &kept {
            let answer = client.get(&format!("key-{i}"), None).unwrap();
            assert_eq!((answer.status, answer.body), (200, value(*i)), "key-{i} of {}", kept.len());
        }
        for (i, text) in refused {
            let answer = client.get(&format!("key-{i}"), None).unwrap();
            assert!(kept.contains(&i) || answer.status == 404, "key-{i}: {}", answer.status);
            assert!(text.contains("Redis: ") || text.contains("embedded store"), "{text}");
        }
        server.kill().unwrap();
        server.wait().unwrap();
    }
}
