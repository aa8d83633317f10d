//! A client that reads one response.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Status line with headers, and body, of a GET with one key.
pub(crate) async fn get(gateway: SocketAddr, key: &str) -> io::Result<(String, String)> {
    let mut stream = TcpStream::connect(gateway).await?;
    let request = format!(
        "GET /kv/{key} HTTP/1.1\r\nhost: test\r\nx-key: {key}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await?;
    let response = String::from_utf8_lossy(&response);
    let (head, body) = response.split_once("\r\n\r\n").ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok((head.to_owned(), body.to_owned()))
}
