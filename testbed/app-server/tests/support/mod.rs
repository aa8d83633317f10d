//! What the tests of the server share: a place for the database, a server in this process, and a plain client.

#![allow(dead_code)] // each test file uses its part
#![allow(clippy::unwrap_used)] // helpers of tests are tests too

pub(crate) mod postgres;

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use rudolph_app_server::{DatabaseUrl, RunningServer, ServerConfig, start};

/// A new folder, removed in the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("rudolph-app-server-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.0.join("shared.sqlite")
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn config(folder: &Folder) -> ServerConfig {
    ServerConfig {
        name: "s1".into(),
        database: DatabaseUrl::Sqlite(folder.database()),
        drain_notice: Duration::from_millis(300),
        ..ServerConfig::default()
    }
}

pub(crate) async fn server(config: ServerConfig) -> RunningServer {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    start(config, listener).await.unwrap()
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// One request on a connection of its own. `None` if the connection breaks.
pub(crate) fn try_ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    body: &[u8],
) -> Option<Answer> {
    exchange(address, method, path, "", body)
}

/// A read that only fills the cache.
pub(crate) fn warm(address: SocketAddr, path: &str) -> Answer {
    exchange(address, "GET", path, "x-warm: 1\r\n", b"").unwrap()
}

/// `headers` are whole lines.
fn exchange(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &str,
    body: &[u8],
) -> Option<Answer> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).ok()?;
    _ = stream.write_all(body); // a refusal may come before the whole body is taken
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok()?;
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    Some(Answer {
        status: head.split(' ').nth(1)?.parse().ok()?,
        head,
        body: bytes.split_off(end + 4),
    })
}

/// The same from async code.
pub(crate) async fn ask(address: SocketAddr, method: &str, path: &str, body: &[u8]) -> Answer {
    let (method, path, body) = (method.to_owned(), path.to_owned(), body.to_owned());
    let asked = tokio::task::spawn_blocking(move || try_ask(address, &method, &path, &body));
    asked.await.unwrap().unwrap()
}

pub(crate) async fn get(address: SocketAddr, path: &str) -> Answer {
    ask(address, "GET", path, b"").await
}
