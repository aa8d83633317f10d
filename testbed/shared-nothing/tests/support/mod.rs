//! A server in this process, and a client that speaks bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rudolph_cache::CacheLimits;
use rudolph_shared_nothing::{EngineKind, Limits, Protocol, Server, ServerConfig};

/// Both engines, alone and with several threads.
pub(crate) const SHAPES: [(EngineKind, usize); 5] = [
    (EngineKind::SharedNothing, 1),
    (EngineKind::SharedNothing, 2),
    (EngineKind::SharedNothing, 4),
    (EngineKind::Mutex, 1),
    (EngineKind::Mutex, 3),
];

pub(crate) fn start((engine, threads): (EngineKind, usize), limits: Limits) -> Server {
    let anywhere: SocketAddr = "127.0.0.1:0".parse().unwrap();
    Server::start(&ServerConfig {
        engine,
        threads,
        listen: vec![(Protocol::Redis, anywhere), (Protocol::Memcached, anywhere)],
        cache: CacheLimits { entries: 1_000_000, bytes: 1 << 30 },
        limits,
    })
    .unwrap()
}

pub(crate) fn address(server: &Server, protocol: Protocol) -> SocketAddr {
    server.addresses().iter().find(|(found, _)| *found == protocol).unwrap().1
}

#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    reader: BufReader<TcpStream>,
}

#[allow(dead_code)] // each test file uses some
impl Client {
    pub(crate) fn connect(server: &Server, protocol: Protocol) -> Self {
        let stream = TcpStream::connect(address(server, protocol)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let reader = BufReader::new(stream.try_clone().unwrap());
        Self { stream, reader }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    pub(crate) fn line(&mut self) -> String {
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line).unwrap();
        assert!(line.ends_with(b"\r\n"), "cut off: {}", line.escape_ascii());
        line.truncate(line.len() - 2);
        line.escape_ascii().to_string()
    }

    pub(crate) fn ask(&mut self, request: &[u8]) -> String {
        self.send(request);
        self.line()
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.reader.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// The value of a bulk string.
    pub(crate) fn bulk(&mut self) -> Option<Vec<u8>> {
        let line = self.line();
        let length: i64 =
            line.strip_prefix('$').unwrap_or_else(|| panic!("{line}")).parse().unwrap();
        let length = usize::try_from(length).ok()?;
        let mut value = self.bytes(length + 2);
        assert_eq!(value.split_off(length), b"\r\n");
        Some(value)
    }

    /// What else comes until the server closes.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        self.reader.read_to_end(&mut rest).unwrap();
        rest
    }
}

#[allow(dead_code)]
pub(crate) fn command(words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}
