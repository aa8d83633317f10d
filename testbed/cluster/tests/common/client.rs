//! A client that sends exactly the bytes it is told to, over connections that stay open.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::Failure;

/// Only a test that fails anyway waits so long.
const PATIENCE: Duration = Duration::from_secs(30);

/// A GET request, its headers byte by byte as they go out.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    target: String,
    host: String,
    headers: Vec<u8>,
}

impl Request {
    pub(crate) fn get(target: &str) -> Self {
        Self { target: target.to_owned(), host: "gateway".to_owned(), headers: Vec::new() }
    }

    /// As the load generator asks for a key.
    pub(crate) fn for_key(key: &str) -> Self {
        Self::get(&format!("/kv/{key}")).header("x-key", key)
    }

    pub(crate) fn host(mut self, host: &str) -> Self {
        self.host = host.to_owned();
        self
    }

    pub(crate) fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.extend_from_slice(name.as_bytes());
        self.headers.extend_from_slice(b": ");
        self.headers.extend_from_slice(value.as_ref());
        self.headers.extend_from_slice(b"\r\n");
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let first = format!("GET {} HTTP/1.1\r\nhost: {}\r\n", self.target, self.host);
        [first.as_bytes(), &self.headers, b"\r\n"].concat()
    }
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// What `x-rudolph-debug` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) bin: u64,
    pub(crate) plan: u64,
    pub(crate) reason: String,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Which server answered; an error for the gateway's own answers.
    pub(crate) fn server(&self) -> Result<String, Failure> {
        let server = self.header("x-server").ok_or_else(|| format!("no server answered: {self:?}"));
        Ok(server?.to_owned())
    }

    /// Why it was this server.
    pub(crate) fn decision(&self) -> Result<Decision, Failure> {
        let text = self.header("x-rudolph-debug").ok_or("no x-rudolph-debug")?;
        let parts: BTreeMap<_, _> =
            text.split(' ').filter_map(|part| part.split_once('=')).collect();
        let part = |name: &str| parts.get(name).copied().ok_or_else(|| format!("{text}: {name}?"));
        let (bin, plan) = (part("bin")?.parse()?, part("plan")?.parse()?);
        Ok(Decision { bin, plan, reason: part("reason")?.to_owned() })
    }
}

/// One connection, and so one worker, for as long as it lives.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    pub(crate) async fn open(gateway: SocketAddr) -> Result<Self, Failure> {
        let stream = TcpStream::connect(gateway).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// So many that every worker has some, save once in a million runs.
    pub(crate) async fn open_many(gateway: SocketAddr, count: usize) -> Result<Vec<Self>, Failure> {
        let mut connections = Vec::with_capacity(count);
        for _ in 0..count {
            connections.push(Self::open(gateway).await?);
        }
        Ok(connections)
    }

    pub(crate) async fn send(&mut self, request: &Request) -> Result<Response, Failure> {
        Ok(tokio::time::timeout(PATIENCE, self.exchange(request)).await??)
    }

    async fn exchange(&mut self, request: &Request) -> io::Result<Response> {
        self.stream.get_mut().write_all(&request.bytes()).await?;
        let status = self.line().await?;
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or(io::ErrorKind::InvalidData)?;
        let mut headers = Vec::new();
        loop {
            let line = self.line().await?;
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let mut response = Response { status, headers, body: String::new() };
        let length = response.header("content-length").and_then(|length| length.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        self.stream.read_exact(&mut body).await?;
        response.body = String::from_utf8_lossy(&body).into_owned();
        Ok(response)
    }

    async fn line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        self.stream.read_until(b'\n', &mut line).await?;
        if line.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
    }
}

/// One request on a connection of its own.
pub(crate) async fn ask(gateway: SocketAddr, request: &Request) -> Result<Response, Failure> {
    Connection::open(gateway).await?.send(request).await
}
