//! Servers inside this process that cost next to nothing: for tests, and where only Envoy is to be measured.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Servers that answer every request at once with 200. They take requests without a body only, and end when this is
/// dropped.
#[derive(Debug)]
pub struct StubServers {
    addresses: Vec<SocketAddr>,
    listeners: Vec<JoinHandle<()>>,
}

impl StubServers {
    /// Starts `count` servers on free loopback ports, as tasks of the current runtime. Each answers with its own address
    /// as the body.
    pub async fn start(count: usize) -> io::Result<Self> {
        Self::start_as(count, Manner::Name).await
    }

    /// The same, but each names itself in `x-server` and sends back the head of the request, as it came, as the body.
    pub async fn start_echoing(count: usize) -> io::Result<Self> {
        Self::start_as(count, Manner::Echo).await
    }

    async fn start_as(count: usize, manner: Manner) -> io::Result<Self> {
        let mut servers = Self { addresses: Vec::new(), listeners: Vec::new() };
        for _ in 0..count {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
            let address = listener.local_addr()?;
            servers.addresses.push(address);
            servers.listeners.push(tokio::spawn(accept(listener, address, manner)));
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

#[derive(Debug, Clone, Copy)]
enum Manner {
    Name,
    Echo,
}

fn naming(address: SocketAddr) -> Vec<u8> {
    let body = address.to_string();
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
}

fn echoing(address: SocketAddr, head: &[u8]) -> Vec<u8> {
    let length = head.len();
    let response =
        format!("HTTP/1.1 200 OK\r\nx-server: {address}\r\ncontent-length: {length}\r\n\r\n");
    let mut response = response.into_bytes();
    response.extend_from_slice(head);
    response
}

async fn accept(listener: TcpListener, address: SocketAddr, manner: Manner) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(answer(stream, address, manner));
    }
}

/// Until the client closes the connection or breaks it.
async fn answer(mut stream: TcpStream, address: SocketAddr, manner: Manner) {
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let named = naming(address);
    let mut pending = Vec::with_capacity(4096);
    while let Ok(1..) = stream.read_buf(&mut pending).await {
        while let Some(end) = pending.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let echo = match manner {
                Manner::Name => None,
                Manner::Echo => Some(echoing(address, &pending[..end + 4])),
            };
            pending.drain(..end + 4);
            if stream.write_all(echo.as_ref().unwrap_or(&named)).await.is_err() {
                return;
            }
        }
    }
}
