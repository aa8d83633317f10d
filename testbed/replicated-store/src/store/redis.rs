use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::net::UnixStream;

use super::StoreError;
use crate::link::{Answer, Link};
use crate::resp::Value;
use crate::version::{Copied, Version};

/// Time to read what it had.
const START: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(10);
/// Keys whose versions are asked for at a time.
const PAGE: &[u8] = b"1000";

/// A `redis-server` of this server's own. It has no port: a socket in the data folder leads to it.
#[derive(Debug)]
pub(super) struct Redis {
    process: Child,
    link: Link,
}

impl Redis {
    pub(super) async fn start(programs: &Path, folder: &Path) -> Result<Self, StoreError> {
        let program = programs.join("redis-server");
        let failed = |source| StoreError::Program { program: program.clone(), source };
        // It is run in the data folder. Its links must stay: it may look at what it was called.
        let program = std::path::absolute(&program).map_err(failed)?;
        fs::metadata(&program).map_err(failed)?;
        let folder = std::path::absolute(folder)
            .map_err(|source| StoreError::Folder { path: folder.into(), source })?;
        let log_file = folder.join("redis.log");
        let log = File::create(&log_file)
            .map_err(|source| StoreError::Folder { path: folder.clone(), source })?;
        // Relative to its own folder: the path of a socket may have 107 bytes.
        let settings = "--port 0 --unixsocket redis.sock --appendonly yes --appendfsync everysec \
                        --daemonize no --logfile";
        let mut command = bound_to_this_process(&program);
        command.args(settings.split_whitespace()).args(["", "--save", "", "--dir"]).arg(&folder);
        command.current_dir(&folder).stdin(Stdio::null()).stdout(log).stderr(Stdio::null());
        let socket = folder.join("redis.sock");
        // That of a Redis that was killed would look like a living one.
        _ = fs::remove_file(&socket);
        let mut process = command.spawn().map_err(failed)?;
        match connect(&mut process, &socket).await {
            Some(link) => Ok(Self { process, link }),
            None => {
                end(&mut process);
                let log = fs::read_to_string(&log_file).unwrap_or_default();
                let log = log.lines().next_back().unwrap_or("it said nothing").to_owned();
                Err(StoreError::Silent { path: folder, log })
            }
        }
    }

    pub(super) fn read(&self, key: &[u8]) -> Answer {
        self.link.call(&[b"GET", key])
    }

    pub(super) fn write(&self, key: &[u8], copied: &Copied) -> Answer {
        self.link.call(&[b"SET", key, &copied.to_bytes()])
    }

    pub(super) async fn versions(&self) -> Result<BTreeMap<Bytes, Version>, StoreError> {
        let mut versions = BTreeMap::new();
        let mut cursor = Bytes::from_static(b"0");
        loop {
            let page = self.link.call(&[b"SCAN", &cursor, b"COUNT", PAGE]).get().await;
            let (next, keys) = scanned(page.map_err(|_| StoreError::Ended)?)?;
            let asked: Vec<Answer> =
                keys.iter().map(|key| self.link.call(&[b"GETRANGE", key, b"0", b"15"])).collect();
            for (key, answer) in keys.into_iter().zip(asked) {
                if let Ok(Value::Bulk(bytes)) = answer.get().await
                    && let Some(version) = Version::from_bytes(&bytes)
                {
                    versions.insert(key, version);
                }
            }
            cursor = next;
            if &cursor[..] == b"0" {
                return Ok(versions);
            }
        }
    }
}

/// The cursor and the keys of an answer to SCAN.
fn scanned(answer: Value) -> Result<(Bytes, Vec<Bytes>), StoreError> {
    let odd = |value: &Value| StoreError::Refused(format!("SCAN answered {value:?}"));
    let Value::Array(mut parts) = answer else { return Err(odd(&answer)) };
    match (parts.pop(), parts.pop()) {
        (Some(Value::Array(keys)), Some(Value::Bulk(cursor))) => {
            let bulk = |key| if let Value::Bulk(key) = key { Some(key) } else { None };
            Ok((cursor, keys.into_iter().filter_map(bulk).collect()))
        }
        (other, _) => Err(odd(&other.unwrap_or(Value::Nil))),
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.link.close();
        end(&mut self.process);
    }
}

fn end(process: &mut Child) {
    // Both fail only if it has ended already.
    _ = process.kill();
    _ = process.wait();
}

/// The link once it answers, which it does not while it still reads its file.
async fn connect(process: &mut Child, socket: &Path) -> Option<Link> {
    let deadline = Instant::now() + START;
    while Instant::now() < deadline && matches!(process.try_wait(), Ok(None)) {
        if let Ok(stream) = connect_to(socket).await {
            let link = Link::over(stream);
            if matches!(link.call(&[b"PING"]).get().await, Ok(Value::Simple(_))) {
                return Some(link);
            }
            link.close();
        }
        tokio::time::sleep(POLL).await;
    }
    None
}

/// Over the folder's descriptor, which is short whatever the folder is called.
async fn connect_to(socket: &Path) -> std::io::Result<UnixStream> {
    let folder = File::open(socket.parent().unwrap_or(Path::new(".")))?;
    let short =
        PathBuf::from(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&folder)));
    UnixStream::connect(short.join("redis.sock")).await
}

/// `setpriv` (util-linux) lets the kernel end it when this process is killed; without, a SIGKILL leaves it behind.
fn bound_to_this_process(program: &Path) -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let setpriv = std::env::split_paths(&path).map(|place| place.join("setpriv"));
    match setpriv.into_iter().find(|file| file.is_file()) {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", "KILL", "--"]).arg(program);
            command
        }
        None => Command::new(program),
    }
}
