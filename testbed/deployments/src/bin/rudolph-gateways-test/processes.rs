//! The servers, a witness among them that sees what reaches a server, and Envoy.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rudolph_deployments::Failure;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

/// Starts a program that ends with this one, its output in a file.
pub(crate) fn start(program: &Path, arguments: &[String], log: &Path) -> Result<Child, Failure> {
    let failed =
        |what: &Path, error: std::io::Error| Failure::unreadable(what.display().to_string(), error);
    let output = File::create(log).map_err(|error| failed(log, error))?;
    let errors = output.try_clone().map_err(|error| failed(log, error))?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(output).stderr(errors);
    command.kill_on_drop(true).spawn().map_err(|error| failed(program, error))
}

pub(crate) fn start_server(
    program: &Path,
    address: SocketAddr,
    scratch: &Path,
) -> Result<Child, Failure> {
    let database = scratch.join("servers.db").display().to_string();
    let arguments = ["--listen", &address.to_string(), "--database", &database].map(str::to_owned);
    start(program, &arguments, &scratch.join(format!("server-{}.log", address.ip())))
}

/// A port that is free on this address of loopback.
pub(crate) async fn free_port() -> Result<u16, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let address = listener.and_then(|listener| listener.local_addr());
    address.map(|address| address.port()).map_err(|error| Failure::unreadable("a port", error))
}

/// Answers everything with 200, and counts requests that carry the header that servers must not see.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    requests: AtomicU64,
    leaks: AtomicU64,
}

impl Witness {
    pub(crate) async fn start(address: SocketAddr) -> Result<Arc<Self>, Failure> {
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(|error| Failure::unreadable(address.to_string(), error))?;
        let witness = Arc::new(Self::default());
        let seen = Arc::clone(&witness);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let seen = Arc::clone(&seen);
                tokio::spawn(async move { seen.answer(stream, address).await });
            }
        });
        Ok(witness)
    }

    /// Requests without a body, one after the other, until the connection ends.
    async fn answer(&self, mut stream: TcpStream, address: SocketAddr) {
        let reply = format!("HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx-server: {address}\r\n\r\n");
        let mut head = Vec::new();
        let mut part = [0; 4096];
        loop {
            match stream.read(&mut part).await {
                Ok(0) | Err(_) => return,
                Ok(count) => head.extend_from_slice(&part[..count]),
            }
            if !head.ends_with(b"\r\n\r\n") {
                continue;
            }
            let text = String::from_utf8_lossy(&head).to_ascii_lowercase();
            if !text.starts_with("get /healthz") {
                self.requests.fetch_add(1, Ordering::Relaxed);
                self.leaks.fetch_add(u64::from(text.contains("x-rudolph")), Ordering::Relaxed);
            }
            head.clear();
            if stream.write_all(reply.as_bytes()).await.is_err() {
                return;
            }
        }
    }

    pub(crate) fn seen(&self) -> (u64, u64) {
        (self.requests.load(Ordering::Relaxed), self.leaks.load(Ordering::Relaxed))
    }
}
