//! One GET of `/status.json`.

use std::net::SocketAddr;
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::document::{Document, FORMAT};

const PATIENCE: Duration = Duration::from_secs(4);

/// Why there is nothing to show.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    #[error("http://{at} does not answer: {reason}")]
    Silent { at: SocketAddr, reason: String },
    #[error("http://{at} answered {status}: {reason}")]
    Refused { at: SocketAddr, status: StatusCode, reason: String },
    #[error("http://{at} is no status page: {reason}")]
    Unreadable { at: SocketAddr, reason: String },
    #[error("http://{at} has status.json in format {found}, and this program knows {FORMAT}")]
    Format { at: SocketAddr, found: u64 },
}

pub(crate) async fn status(at: SocketAddr, filter: Option<&str>) -> Result<Document, FetchError> {
    let path = match filter {
        Some(id) => format!("/status.json?filter={id}"),
        None => "/status.json".to_owned(),
    };
    let answer = match tokio::time::timeout(PATIENCE, exchange(at, &path)).await {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(_) => Err(format!("nothing in {} s", PATIENCE.as_secs())),
    };
    let (status, body) = answer.map_err(|reason| FetchError::Silent { at, reason })?;
    read(at, status, &body)
}

fn read(at: SocketAddr, status: StatusCode, body: &[u8]) -> Result<Document, FetchError> {
    let unreadable =
        |error: serde_json::Error| FetchError::Unreadable { at, reason: error.to_string() };
    let json: serde_json::Value = serde_json::from_slice(body).map_err(unreadable)?;
    if status != StatusCode::OK {
        let reason = json["error"].as_str().unwrap_or("without a reason").to_owned();
        return Err(FetchError::Refused { at, status, reason });
    }
    match json["format"].as_u64() {
        Some(FORMAT) => serde_json::from_value(json).map_err(unreadable),
        found => Err(FetchError::Format { at, found: found.unwrap_or(0) }),
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

async fn exchange(at: SocketAddr, path: &str) -> Result<(StatusCode, Bytes), Failure> {
    let stream = TokioIo::new(TcpStream::connect(at).await?);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await?;
    let request = Request::get(path).header("host", at.to_string()).header("connection", "close");
    let request = request.body(Empty::<Bytes>::new())?;
    let exchange = async {
        let response = sender.send_request(request).await?;
        let status = response.status();
        Ok((status, response.into_body().collect().await?.to_bytes()))
    };
    // The connection moves only while it is polled; it may end before the body is read to its end here.
    tokio::pin!(exchange);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        answer = &mut exchange => answer,
        ended = &mut connection => { ended?; exchange.await }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(status: u16, body: &str) -> String {
        let status = StatusCode::from_u16(status).unwrap();
        let at = SocketAddr::from(([127, 0, 0, 1], 9902));
        read(at, status, body.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_status_page_is_told_apart() {
        assert!(error(200, "<html>").contains("is no status page"));
        assert!(error(404, r#"{"error":"there is no filter 1"}"#).contains("there is no filter 1"));
        assert!(error(200, r#"{"format":7}"#).contains("in format 7, and this program knows 1"));
    }
}
