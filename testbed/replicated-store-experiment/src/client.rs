//! One client: a thread that asks and waits, over RESP or over HTTP.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use md5::{Digest, Md5};
use rudolph_replicated_store::client::Client as HttpClient;

use rudolph_experiments::redis::Command;

const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) enum Client {
    /// A connection to each Redis; a key is at the one that md5 names.
    Redis(Vec<BufReader<TcpStream>>),
    Http(HttpClient),
}

impl Client {
    pub(crate) fn of_redis(servers: &[SocketAddr]) -> io::Result<Self> {
        let connect = |server: &SocketAddr| {
            let stream = TcpStream::connect(server)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            Ok(BufReader::new(stream))
        };
        servers.iter().map(connect).collect::<io::Result<_>>().map(Self::Redis)
    }

    /// Does it and checks that it was done.
    pub(crate) fn ask(&mut self, command: Command, key: &str, value: &[u8]) -> io::Result<()> {
        match self {
            Self::Redis(servers) => {
                let server = shard(key, servers.len());
                ask_redis(&mut servers[server], command, key, value)
            }
            Self::Http(http) => {
                let (answer, expected) = match command {
                    Command::Get => (http.get(key, None)?, (200, value)),
                    Command::Set => (http.put(key, None, value)?, (204, &[][..])),
                };
                if (answer.status, &answer.body[..]) == expected {
                    return Ok(());
                }
                let body = String::from_utf8_lossy(&answer.body);
                Err(unexpected(&format!("{} {}", answer.status, body.trim())))
            }
        }
    }
}

fn unexpected(what: &str) -> io::Error {
    let short: String = what.chars().take(200).collect();
    io::Error::new(ErrorKind::InvalidData, format!("unexpected answer: {short}"))
}

/// md5 of the key, as one great number, modulo the number of servers.
fn shard(key: &str, servers: usize) -> usize {
    let digest = Md5::digest(key.as_bytes());
    digest.iter().fold(0, |rest, byte| (rest * 256 + usize::from(*byte)) % servers)
}

fn ask_redis(
    server: &mut BufReader<TcpStream>,
    command: Command,
    key: &str,
    value: &[u8],
) -> io::Result<()> {
    let mut out = Vec::with_capacity(64 + value.len());
    match command {
        Command::Get => write!(out, "*2\r\n$3\r\nGET\r\n${}\r\n{key}\r\n", key.len())?,
        Command::Set => {
            let (keys, values) = (key.len(), value.len());
            write!(out, "*3\r\n$3\r\nSET\r\n${keys}\r\n{key}\r\n${values}\r\n")?;
            out.extend_from_slice(value);
            out.extend_from_slice(b"\r\n");
        }
    }
    server.get_mut().write_all(&out)?;
    let mut line = String::new();
    server.read_line(&mut line)?;
    match command {
        Command::Set if line == "+OK\r\n" => Ok(()),
        Command::Get if line.trim_end() == format!("${}", value.len()) => {
            let mut found = vec![0; value.len() + 2];
            server.read_exact(&mut found)?;
            let same = &found[..value.len()] == value;
            if same { Ok(()) } else { Err(unexpected("another value")) }
        }
        _ => Err(unexpected(line.trim_end())),
    }
}

#[cfg(test)]
mod tests {
    use super::shard;

    #[test]
    fn shards_are_md5_modulo_the_number_of_servers() {
        // Python: int(hashlib.md5(b"key-0").hexdigest(), 16) % 3, and so on.
        let found: Vec<usize> = (0..6).map(|i| shard(&format!("key-{i}"), 3)).collect();
        assert_eq!(found, EXPECTED);
        assert_eq!(shard("anything", 1), 0);
    }

    const EXPECTED: [usize; 6] = [1, 2, 0, 1, 1, 1];
}
