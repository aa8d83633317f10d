//! HTTP in, engine calls out. Nothing here knows about caches, databases or slots.

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue},
};
use tokio::sync::watch;

use crate::{
    CacheOutcome, Engine, EngineError, Found, LONGEST_SCAN,
    key_path::{KeyPathError, end_of_scan, key_of},
    server::Phase,
};

type Answer = Response<Full<Bytes>>;

const X_CACHE: HeaderName = HeaderName::from_static("x-cache");
/// How many keys a scan found.
const X_ROWS: HeaderName = HeaderName::from_static("x-rows");
const X_SERVER: HeaderName = HeaderName::from_static("x-server");
/// On a read that fills the cache and takes no service time.
const X_WARM: HeaderName = HeaderName::from_static("x-warm");
const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
const LONGEST_BODY_WAIT: Duration = Duration::from_secs(10);

/// What every connection of a server shares.
#[derive(Debug)]
pub(crate) struct Handler {
    pub(crate) engine: Arc<Engine>,
    pub(crate) name: HeaderValue,
    pub(crate) max_value_bytes: usize,
    pub(crate) phase: watch::Receiver<Phase>,
}

impl Handler {
    pub(crate) async fn handle(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Answer, Infallible> {
        let mut answer = self.route(request).await;
        answer.headers_mut().insert(X_SERVER, self.name.clone());
        Ok(answer)
    }

    async fn route(&self, request: Request<Incoming>) -> Answer {
        match request.uri().path() {
            "/healthz" => self.health(),
            "/metrics" => self.metrics(),
            path => match key_of(path) {
                Ok(key) => self.key_value(request, key).await,
                Err(error) => self.refuse(status_of(error), &error),
            },
        }
    }

    async fn key_value(&self, request: Request<Incoming>, key: Vec<u8>) -> Answer {
        match *request.method() {
            Method::GET if request.uri().query().is_some_and(|query| query.contains("to=")) => {
                self.scan(&request, key).await
            }
            Method::GET if request.headers().contains_key(X_WARM) => {
                read_answer(self.engine.warm(&key).await)
            }
            Method::GET => read_answer(self.engine.get(&key).await),
            Method::PUT => match self.body(request.into_body()).await {
                Ok(value) => self.put(key, value).await,
                Err(refusal) => refusal,
            },
            _ => {
                let mut answer =
                    self.refuse(StatusCode::METHOD_NOT_ALLOWED, &"a key takes GET and PUT only");
                answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, PUT"));
                answer
            }
        }
    }

    /// `GET /kv/FROM?to=END`: the keys from one up to another, in order, a line each.
    async fn scan(&self, request: &Request<Incoming>, from: Vec<u8>) -> Answer {
        let to = match end_of_scan(request.uri().query()) {
            Some(Ok(to)) => to,
            Some(Err(error)) => return self.refuse(status_of(error), &error),
            None => return self.refuse(StatusCode::BAD_REQUEST, &"a scan ends with to=KEY"),
        };
        match self.engine.scan(from, to).await {
            Ok(keys) if keys.len() > LONGEST_SCAN => {
                let message = format!("the scan finds more than {LONGEST_SCAN} keys");
                self.refuse(StatusCode::PAYLOAD_TOO_LARGE, &message)
            }
            Ok(keys) => {
                let mut body = Vec::new();
                for key in &keys {
                    body.extend_from_slice(key);
                    body.push(b'\n');
                }
                let mut answer = Response::new(Full::new(Bytes::from(body)));
                answer.headers_mut().insert(X_ROWS, HeaderValue::from(keys.len()));
                answer
            }
            Err(error) => failure(&error),
        }
    }

    async fn put(&self, key: Vec<u8>, value: Bytes) -> Answer {
        let engine = Arc::clone(&self.engine);
        // A task of its own: a client that goes away must not stop a write half-way.
        let written = tokio::spawn(async move { engine.put(&key, value).await }).await;
        match written {
            Ok(Ok(())) => empty(StatusCode::NO_CONTENT),
            Ok(Err(error)) => failure(&error),
            Err(_) => text(StatusCode::INTERNAL_SERVER_ERROR, "the write was stopped\n"),
        }
    }

    /// The whole body, read before the request queues for a slot: a slow client holds none.
    async fn body(&self, body: Incoming) -> Result<Bytes, Answer> {
        let limited = Limited::new(body, self.max_value_bytes).collect();
        match tokio::time::timeout(LONGEST_BODY_WAIT, limited).await {
            Ok(Ok(collected)) => Ok(collected.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                let message = format!("the value is longer than {} bytes", self.max_value_bytes);
                Err(self.refuse(StatusCode::PAYLOAD_TOO_LARGE, &message))
            }
            Ok(Err(_)) => Err(self.refuse(StatusCode::BAD_REQUEST, &"the body ended early")),
            Err(_) => {
                Err(self.refuse(StatusCode::REQUEST_TIMEOUT, &"the body took longer than 10 s"))
            }
        }
    }

    fn health(&self) -> Answer {
        match *self.phase.borrow() {
            Phase::Serving => text(StatusCode::OK, "ok\n"),
            Phase::Draining | Phase::Closing => text(StatusCode::SERVICE_UNAVAILABLE, "draining\n"),
        }
    }

    fn metrics(&self) -> Answer {
        match self.engine.render_metrics() {
            Ok(rendered) => {
                let mut answer = Response::new(Full::new(Bytes::from(rendered)));
                answer.headers_mut().insert(CONTENT_TYPE, OPEN_METRICS);
                answer
            }
            Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
        }
    }

    fn refuse(&self, status: StatusCode, message: &dyn std::fmt::Display) -> Answer {
        self.engine.metrics().refused.inc();
        text(status, format!("{message}\n"))
    }
}

fn read_answer(read: Result<Found, EngineError>) -> Answer {
    let found = match read {
        Ok(found) => found,
        Err(error) => return failure(&error),
    };
    let mut answer = match found.value {
        Some(value) => Response::new(Full::new(value)),
        None => text(StatusCode::NOT_FOUND, "no such key\n"),
    };
    let outcome = match found.outcome {
        CacheOutcome::Hit => HeaderValue::from_static("hit"),
        CacheOutcome::Miss => HeaderValue::from_static("miss"),
    };
    answer.headers_mut().insert(X_CACHE, outcome);
    answer
}

fn status_of(error: KeyPathError) -> StatusCode {
    match error {
        KeyPathError::NoSuchPath => StatusCode::NOT_FOUND,
        KeyPathError::TooLong => StatusCode::URI_TOO_LONG,
        KeyPathError::Empty | KeyPathError::BadEscape | KeyPathError::Slash => {
            StatusCode::BAD_REQUEST
        }
    }
}

fn failure(error: &EngineError) -> Answer {
    let status = match error {
        EngineError::Enter(_) => StatusCode::SERVICE_UNAVAILABLE,
        EngineError::Database(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    text(status, format!("{error}\n"))
}

fn text(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, plain);
    answer
}

fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::new()));
    *answer.status_mut() = status;
    answer
}
