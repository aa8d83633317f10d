//! A client of the scans: one connection, whole answers.

use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::{Request, client::conn::http1::SendRequest, header::HOST};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::SequentialError;

#[derive(Debug)]
pub(super) struct Link {
    target: SocketAddr,
    sender: SendRequest<Empty<Bytes>>,
}

/// An answer, read to its end.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) server: String,
    pub(super) body: Bytes,
}

impl Link {
    pub(super) async fn open(target: SocketAddr) -> Result<Self, SequentialError> {
        let failed = |reason: String| SequentialError::Server { target, reason };
        let stream = TcpStream::connect(target).await.map_err(|e| failed(e.to_string()))?;
        _ = stream.set_nodelay(true); // only slower without
        let opened = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = opened.map_err(|error| failed(error.to_string()))?;
        tokio::spawn(connection); // its errors reach the requests on it
        Ok(Self { target, sender })
    }

    pub(super) fn target(&self) -> SocketAddr {
        self.target
    }

    /// `key` goes into the header by which the gateway routes.
    pub(super) async fn get(&mut self, path: &str, key: &str) -> Result<Answer, SequentialError> {
        let target = self.target;
        let failed = |reason: String| SequentialError::Server { target, reason };
        let request = Request::get(path).header(HOST, target.to_string()).header("x-key", key);
        let request = request.body(Empty::new()).map_err(|error| failed(error.to_string()))?;
        let answer = self.sender.send_request(request).await.map_err(|e| failed(e.to_string()))?;
        let (head, body) = answer.into_parts();
        let body = body.collect().await.map_err(|error| failed(error.to_string()))?.to_bytes();
        let server = head.headers.get("x-server").and_then(|value| value.to_str().ok());
        Ok(Answer {
            status: head.status.as_u16(),
            server: server.unwrap_or_default().to_owned(),
            body,
        })
    }
}

/// One of a server's own metrics.
pub(super) async fn metric(target: SocketAddr, name: &str) -> Result<f64, SequentialError> {
    let page = Link::open(target).await?.get("/metrics", "-").await?;
    let text = String::from_utf8_lossy(&page.body).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let value = line.and_then(|value| value.trim().parse().ok());
    value.ok_or_else(|| SequentialError::Server { target, reason: format!("no metric {name}") })
}
