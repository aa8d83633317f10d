//! A listener in the place of a server that was killed, which answers health checks well and requests badly.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Manner {
    /// 503 to every request.
    Unavailable,
    /// A reset in place of every answer.
    Reset,
}

/// Serves until it is dropped.
#[derive(Debug)]
pub(crate) struct Impostor(AbortHandle);

impl Drop for Impostor {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Impostor {
    pub(crate) async fn start(address: SocketAddr, manner: Manner) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        Ok(Self(tokio::spawn(accept(listener, manner)).abort_handle()))
    }
}

/// Connections end with it.
async fn accept(listener: TcpListener, manner: Manner) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => { connections.spawn(serve(stream, manner)); }
                Err(_) => return,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

const HEALTHY: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const UNAVAILABLE: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n";

/// Requests have no body here.
async fn serve(mut stream: TcpStream, manner: Manner) {
    let mut pending = Vec::with_capacity(4096);
    while let Ok(1..) = stream.read_buf(&mut pending).await {
        while let Some(end) = pending.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let head: Vec<u8> = pending.drain(..end + 4).collect();
            let answer = match manner {
                _ if head.starts_with(b"GET /healthz") => HEALTHY,
                Manner::Unavailable => UNAVAILABLE,
                Manner::Reset => {
                    // What follows is a reset and no orderly end; without it the test of resets would be one of closes.
                    _ = stream.set_zero_linger();
                    return;
                }
            };
            if stream.write_all(answer).await.is_err() {
                return;
            }
        }
    }
}
