//! Plain GET requests: to Envoy's admin interface, over TCP or a Unix socket, and to servers' health pages.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

use crate::error::ClusterError;

/// A health page or an admin page that takes longer is as good as none.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where Envoy's admin interface listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdminAddress {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl fmt::Display for AdminAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(formatter, "http://{address}"),
            Self::Unix(path) => write!(formatter, "unix:{}", path.display()),
        }
    }
}

impl AdminAddress {
    /// Status and body of a page.
    pub(crate) async fn get(&self, path: &str) -> Result<(StatusCode, String), ClusterError> {
        let answer = timeout(PATIENCE, self.exchange(path)).await;
        let answer =
            answer.unwrap_or_else(|_| Err(format!("no answer in {} s", PATIENCE.as_secs()).into()));
        answer.map_err(|reason| self.failed(path, &reason.to_string()))
    }

    async fn exchange(&self, path: &str) -> Result<(StatusCode, String), Failure> {
        match self {
            Self::Tcp(address) => get(TcpStream::connect(address).await?, path).await,
            Self::Unix(socket) => get(UnixStream::connect(socket).await?, path).await,
        }
    }

    pub(crate) fn failed(&self, path: &str, reason: &str) -> ClusterError {
        ClusterError::Http {
            address: self.to_string(),
            path: path.to_owned(),
            reason: reason.to_owned(),
        }
    }

    /// The body of a page that answers 200.
    pub(crate) async fn page(&self, path: &str) -> Result<String, ClusterError> {
        match self.get(path).await? {
            (StatusCode::OK, body) => Ok(body),
            (status, _) => Err(self.failed(path, &format!("answered {status}"))),
        }
    }

    /// All counters and gauges by name.
    pub(crate) async fn stats(&self) -> Result<BTreeMap<String, u64>, ClusterError> {
        self.stats_page("/stats?format=json").await
    }

    /// Those whose name matches a regular expression that needs no escaping in a URL.
    pub(crate) async fn stats_matching(
        &self,
        pattern: &str,
    ) -> Result<BTreeMap<String, u64>, ClusterError> {
        self.stats_page(&format!("/stats?format=json&filter={pattern}")).await
    }

    async fn stats_page(&self, path: &str) -> Result<BTreeMap<String, u64>, ClusterError> {
        let body = self.page(path).await?;
        parse_stats(&body).ok_or_else(|| self.failed(path, "not a list of stats in JSON"))
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

async fn get<S>(stream: S, path: &str) -> Result<(StatusCode, String), Failure>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let request = Request::get(path).header("host", "localhost").header("connection", "close");
    let request = request.body(Empty::<Bytes>::new())?;
    let exchange = async {
        let response = sender.send_request(request).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        Ok((status, String::from_utf8_lossy(&body).into_owned()))
    };
    // The connection moves only while it is polled; it may end before the body is read to its end here.
    tokio::pin!(exchange);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        answer = &mut exchange => answer,
        ended = &mut connection => { ended?; exchange.await }
    }
}

/// Text stats and histograms have no number and are left out.
fn parse_stats(body: &str) -> Option<BTreeMap<String, u64>> {
    let body: serde_json::Value = serde_json::from_str(body).ok()?;
    let entries = body.get("stats")?.as_array()?;
    let numbers = entries.iter().filter_map(|entry| {
        Some((entry.get("name")?.as_str()?.to_owned(), entry.get("value")?.as_u64()?))
    });
    Some(numbers.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_numbers_only() {
        let body =
            r#"{"stats":[{"name":"a","value":3},{"name":"t","value":"x"},{"histograms":{}}]}"#;
        assert_eq!(parse_stats(body), Some(BTreeMap::from([("a".to_owned(), 3)])));
        assert_eq!(parse_stats("{}"), None);
        assert_eq!(parse_stats("<html>"), None);
    }

    #[test]
    fn shows_addresses_as_one_would_type_them() {
        assert_eq!(
            AdminAddress::Tcp(([127, 0, 0, 1], 9901).into()).to_string(),
            "http://127.0.0.1:9901"
        );
        assert_eq!(AdminAddress::Unix("/run/a.sock".into()).to_string(), "unix:/run/a.sock");
    }
}
