//! Clients that cost as little as they can: requests are written beforehand, and a response is only found complete.

use std::net::SocketAddr;
use std::sync::Arc;

use rudolph_workload::{KeySpec, WorkloadSpec};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::Failure;
use crate::options::Options;

/// As many as there are different requests in a row; then they come again.
const PREPARED: usize = 1 << 16;

#[derive(Debug)]
pub(crate) struct Load {
    requests: Arc<Vec<Vec<u8>>>,
    connections: usize,
}

impl Load {
    pub(crate) fn prepare(options: &Options) -> Result<Self, Failure> {
        let keys = KeySpec::Zipf { count: options.keys, alpha: 1.0, ramp: None, reshuffle_s: None };
        let mut stream =
            WorkloadSpec { seed: options.seed, keys, ..WorkloadSpec::default() }.build()?;
        let mut request = || {
            let step = stream.next(0);
            let mut bytes = b"GET / HTTP/1.1\r\nhost: bench\r\nx-key: ".to_vec();
            stream.write_key(step.key, &mut bytes);
            bytes.extend_from_slice(b"\r\n\r\n");
            bytes
        };
        let requests = (0..PREPARED).map(|_| request()).collect();
        Ok(Self { requests: Arc::new(requests), connections: options.connections })
    }

    /// Sends `count` requests, shared out over the connections; any answer but 200 is an error.
    pub(crate) async fn run(&self, gateway: SocketAddr, count: usize) -> Result<(), Failure> {
        let mut clients = JoinSet::new();
        for client in 0..self.connections {
            let share = count / self.connections + usize::from(client < count % self.connections);
            let first = client * (PREPARED / self.connections);
            clients.spawn(exchange(gateway, Arc::clone(&self.requests), first, share));
        }
        while let Some(ended) = clients.join_next().await {
            ended??;
        }
        Ok(())
    }
}

async fn exchange(
    gateway: SocketAddr,
    requests: Arc<Vec<Vec<u8>>>,
    first: usize,
    count: usize,
) -> Result<(), Failure> {
    let mut stream = TcpStream::connect(gateway).await?;
    stream.set_nodelay(true)?;
    let mut response = Vec::with_capacity(4096);
    for index in first..first + count {
        stream.write_all(&requests[index % requests.len()]).await?;
        response.clear();
        while !is_complete(&response)? {
            if stream.read_buf(&mut response).await? == 0 {
                return Err("Envoy closed a connection".into());
            }
        }
    }
    Ok(())
}

fn is_complete(response: &[u8]) -> Result<bool, Failure> {
    let Some(head) = response.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
        return Ok(false);
    };
    let text = std::str::from_utf8(&response[..head])?;
    if !text.starts_with("HTTP/1.1 200") {
        return Err(format!("Envoy answered {:?}", text.lines().next().unwrap_or_default()).into());
    }
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.ok_or("an answer without content-length")?.parse()?;
    Ok(response.len() >= head + 4 + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_complete_with_its_last_byte() {
        let response = b"HTTP/1.1 200 OK\r\nx: y\r\ncontent-length: 2\r\n\r\nok";
        for end in 0..response.len() {
            assert!(!is_complete(&response[..end]).unwrap(), "{end}");
        }
        assert!(is_complete(response).unwrap());
        assert!(
            is_complete(b"HTTP/1.1 503 No\r\n\r\n").unwrap_err().to_string().contains("503 No")
        );
    }
}
