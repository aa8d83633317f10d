//! One request on a connection of its own, or one after the other on a connection that stays open.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::HeaderMap;
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Longer than any time-out of the gateway.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, thiserror::Error)]
#[error("http://{address}{path}: {reason}")]
pub struct HttpError {
    pub address: SocketAddr,
    pub path: String,
    pub reason: String,
}

/// An answer, whatever its status.
#[derive(Debug, Clone)]
pub struct Page {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Page {
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// The body of a page that answers 200.
pub async fn get(address: SocketAddr, path: &str) -> Result<String, HttpError> {
    let page = Connection::open(address).await?.send(Method::GET, path, &[], Bytes::new()).await?;
    if page.status == 200 {
        return Ok(page.text());
    }
    let reason = format!("answered {}: {}", page.status, page.text().trim());
    Err(HttpError { address, path: path.to_owned(), reason })
}

#[derive(Debug)]
pub(crate) struct Connection {
    address: SocketAddr,
    sender: SendRequest<Full<Bytes>>,
    moving: JoinHandle<()>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self, HttpError> {
        let failed = |reason: String| HttpError { address, path: String::new(), reason };
        let connected = timeout(PATIENCE, TcpStream::connect(address)).await;
        let stream = connected
            .map_err(|_| failed("no connection in time".to_owned()))?
            .map_err(|error| failed(error.to_string()))?;
        let (sender, connection) =
            handshake(TokioIo::new(stream)).await.map_err(|error| failed(error.to_string()))?;
        // Its errors reach the requests on it.
        let moving = tokio::spawn(async move { _ = connection.await });
        Ok(Self { address, sender, moving })
    }

    pub(crate) async fn send(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Result<Page, HttpError> {
        let answer = timeout(PATIENCE, self.exchange(method, path, headers, body)).await;
        let answer =
            answer.unwrap_or_else(|_| Err(format!("no answer in {} s", PATIENCE.as_secs())));
        answer.map_err(|reason| HttpError { address: self.address, path: path.to_owned(), reason })
    }

    async fn exchange(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Result<Page, String> {
        let mut request = Request::builder().method(method).uri(path);
        request = request.header("host", self.address.to_string());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body)).map_err(|error| error.to_string())?;
        self.sender.ready().await.map_err(|error| error.to_string())?;
        let answer = self.sender.send_request(request).await.map_err(|error| error.to_string())?;
        let (parts, body) = answer.into_parts();
        let body = body.collect().await.map_err(|error| error.to_string())?.to_bytes();
        Ok(Page { status: parts.status.as_u16(), headers: parts.headers, body })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.moving.abort();
    }
}
