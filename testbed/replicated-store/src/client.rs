//! A blocking client of the store, over one connection, for tests and experiments.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Longer than a request may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The whole body.
    pub body: Vec<u8>,
}

/// One connection, which is made anew when it was lost.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    stream: Option<TcpStream>,
    out: Vec<u8>,
    read: Vec<u8>,
}

impl Client {
    /// Connects with the first request.
    #[must_use]
    pub fn new(address: SocketAddr) -> Self {
        Self { address, stream: None, out: Vec::new(), read: Vec::new() }
    }

    /// Where requests go from now on.
    pub fn turn_to(&mut self, address: SocketAddr) {
        if address != self.address {
            self.address = address;
            self.stream = None;
        }
    }

    /// Reads a key.
    ///
    /// # Errors
    /// The connection was lost, or what came is no HTTP.
    pub fn get(&mut self, key: &str, replicas: Option<&str>) -> io::Result<Response> {
        self.ask("GET", &format!("/kv/{key}"), replicas, &[])
    }

    /// Writes a key.
    ///
    /// # Errors
    /// The connection was lost, or what came is no HTTP; the value may have been written.
    pub fn put(&mut self, key: &str, replicas: Option<&str>, value: &[u8]) -> io::Result<Response> {
        self.ask("PUT", &format!("/kv/{key}"), replicas, value)
    }

    /// Any request.
    ///
    /// # Errors
    /// The connection was lost, or what came is no HTTP.
    pub fn ask(
        &mut self,
        method: &str,
        path: &str,
        replicas: Option<&str>,
        body: &[u8],
    ) -> io::Result<Response> {
        self.out.clear();
        write!(self.out, "{method} {path} HTTP/1.1\r\nhost: store\r\n")?;
        if let Some(replicas) = replicas {
            write!(self.out, "x-rudolph-replicas: {replicas}\r\n")?;
        }
        if method != "GET" || !body.is_empty() {
            write!(self.out, "content-length: {}\r\n", body.len())?;
        }
        self.out.extend_from_slice(b"\r\n");
        self.out.extend_from_slice(body);
        let answer = self.exchange();
        if answer.is_err() {
            self.stream = None;
        }
        answer
    }

    fn exchange(&mut self) -> io::Result<Response> {
        let stream = match &mut self.stream {
            Some(stream) => stream,
            none => none.insert(connect(self.address)?),
        };
        stream.write_all(&self.out)?;
        self.read.clear();
        loop {
            if let Some(head) = Head::of(&self.read)?
                && self.read.len() >= head.end + head.body
            {
                let body = self.read[head.end..head.end + head.body].to_vec();
                if head.closes {
                    self.stream = None;
                }
                return Ok(Response { status: head.status, body });
            }
            let mut chunk = [0; 16 << 10];
            match stream.read(&mut chunk)? {
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                length => self.read.extend_from_slice(&chunk[..length]),
            }
        }
    }
}

fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

struct Head {
    status: u16,
    end: usize,
    body: usize,
    closes: bool,
}

impl Head {
    /// `None` if it is not whole yet.
    fn of(bytes: &[u8]) -> io::Result<Option<Self>> {
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            return Ok(None);
        };
        let odd = || io::Error::new(ErrorKind::InvalidData, "no HTTP response");
        let text = std::str::from_utf8(&bytes[..end]).map_err(|_| odd())?;
        let mut lines = text.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let mut head =
            Self { status: status.ok_or_else(odd)?, end: end + 4, body: 0, closes: false };
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            if name.eq_ignore_ascii_case("content-length") {
                head.body = value.trim().parse().map_err(|_| odd())?;
            } else if name.eq_ignore_ascii_case("connection") {
                head.closes = value.trim().eq_ignore_ascii_case("close");
            }
        }
        Ok(Some(head))
    }
}
