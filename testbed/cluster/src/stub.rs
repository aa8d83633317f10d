//! Servers inside this process that cost next to nothing: for tests, and where only Envoy is to be measured.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Servers that answer every request at once with 200 and their own address as the body. They take requests without a
/// body only, and end when this is dropped.
#[derive(Debug)]
pub struct StubServers {
    addresses: Vec<SocketAddr>,
    listeners: Vec<JoinHandle<()>>,
}

impl StubServers {
    /// Starts `count` servers on free loopback ports, as tasks of the current runtime.
    pub async fn start(count: usize) -> io::Result<Self> {
        let mut servers = Self {
            addresses: Vec::new(),
            listeners: Vec::new(),
        };
        for _ in 0..count {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            let address = listener.local_addr()?;
            servers.addresses.push(address);
            servers
                .listeners
                .push(tokio::spawn(accept(listener, response(address))));
        }
        Ok(servers)
    }

    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

impl Drop for StubServers {
    fn drop(&mut self) {
        for listener in &self.listeners {
            listener.abort();
        }
    }
}

fn response(address: SocketAddr) -> String {
    let body = address.to_string();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

async fn accept(listener: TcpListener, response: String) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(answer(stream, response.clone()));
    }
}

/// Until the client closes the connection or breaks it.
async fn answer(mut stream: TcpStream, response: String) {
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let mut pending = Vec::with_capacity(4096);
    while let Ok(1..) = stream.read_buf(&mut pending).await {
        while let Some(end) = pending.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            pending.drain(..end + 4);
            if stream.write_all(response.as_bytes()).await.is_err() {
                return;
            }
        }
    }
}
