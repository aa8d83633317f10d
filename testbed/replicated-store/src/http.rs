//! HTTP in, requests to the replicas out: `GET` and `PUT` of `/kv/KEY`, `/healthz` and `/status`.

use std::convert::Infallible;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use serde_json::json;

use crate::coordinator::RequestError;
use crate::limits::{MAX_KEY_BYTES, MAX_VALUE_BYTES};
use crate::node::Node;
use crate::peers::BadList;

type Answer = Response<Full<Bytes>>;

/// What the filter writes.
const REPLICAS: HeaderName = HeaderName::from_static("x-rudolph-replicas");
const LONGEST_BODY_WAIT: Duration = Duration::from_secs(10);

pub(crate) async fn handle(
    node: Rc<Node>,
    request: Request<Incoming>,
) -> Result<Answer, Infallible> {
    let path = request.uri().path();
    Ok(match (path, path.strip_prefix("/kv/")) {
        ("/healthz", _) => text(StatusCode::OK, "ok\n"),
        ("/status", _) => status(&node),
        (_, Some(key)) => match key.len() {
            0 => text(StatusCode::BAD_REQUEST, no_key()),
            _ if key.contains('/') => {
                text(StatusCode::BAD_REQUEST, "the key holds a /; write it as %2F\n")
            }
            // As it was sent, since that is what the filter hashes.
            1..=MAX_KEY_BYTES => {
                let key = Bytes::copy_from_slice(key.as_bytes());
                key_value(node, request, key).await
            }
            _ => text(StatusCode::URI_TOO_LONG, no_key()),
        },
        _ => text(StatusCode::NOT_FOUND, "no such path; there are /kv/KEY, /healthz and /status\n"),
    })
}

fn no_key() -> String {
    format!("a key has 1 to {MAX_KEY_BYTES} bytes\n")
}

async fn key_value(node: Rc<Node>, request: Request<Incoming>, key: Bytes) -> Answer {
    let named = match named(&node, request.headers()) {
        Ok(named) => named,
        Err(error) => return text(StatusCode::BAD_REQUEST, format!("{REPLICAS}: {error}\n")),
    };
    match *request.method() {
        Method::GET => match node.get(&key, &named).await {
            Ok(Some(value)) => Response::new(Full::new(value)),
            Ok(None) => text(StatusCode::NOT_FOUND, "no such key\n"),
            Err(error) => failure(&error),
        },
        Method::PUT => match body(request.into_body()).await {
            Ok(value) => put(node, key, named, value).await,
            Err(refusal) => refusal,
        },
        _ => {
            let refusal = "a key takes GET and PUT only\n";
            let mut answer = text(StatusCode::METHOD_NOT_ALLOWED, refusal);
            answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, PUT"));
            answer
        }
    }
}

fn named(node: &Node, headers: &HeaderMap) -> Result<Rc<[usize]>, BadList> {
    match headers.get(REPLICAS) {
        Some(list) => node.peers.listed(list.as_bytes()),
        None => Ok(Rc::default()),
    }
}

/// A task of its own: a client that goes away must not stop a write half-way.
async fn put(node: Rc<Node>, key: Bytes, named: Rc<[usize]>, value: Bytes) -> Answer {
    let written = tokio::task::spawn_local(async move { node.put(&key, &named, value).await });
    match written.await {
        Ok(Ok(())) => empty(StatusCode::NO_CONTENT),
        Ok(Err(error)) => failure(&error),
        Err(_) => text(StatusCode::INTERNAL_SERVER_ERROR, "the write was stopped\n"),
    }
}

async fn body(body: Incoming) -> Result<Bytes, Answer> {
    let limited = Limited::new(body, MAX_VALUE_BYTES).collect();
    match tokio::time::timeout(LONGEST_BODY_WAIT, limited).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = format!("the value is longer than {MAX_VALUE_BYTES} bytes\n");
            Err(text(StatusCode::PAYLOAD_TOO_LARGE, message))
        }
        Ok(Err(_)) => Err(text(StatusCode::BAD_REQUEST, "the body ended early\n")),
        Err(_) => Err(text(StatusCode::REQUEST_TIMEOUT, "the body took longer than 10 s\n")),
    }
}

fn status(node: &Node) -> Answer {
    let counts = &node.counts;
    let status = json!({
        "address": node.peers.own_address().to_string(),
        "servers": node.peers.placed().split(',').collect::<Vec<_>>(),
        "settled": node.is_settled(),
        "doubts": node.doubts(),
        "keys": node.store.keys(),
        "forwarded": counts.forwarded.get(),
        "fetched": counts.fetched.get(),
        "mended": counts.mended.get(),
    });
    let mut answer = text(StatusCode::OK, format!("{status}\n"));
    let json = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, json);
    answer
}

fn failure(error: &RequestError) -> Answer {
    let status = match error {
        RequestError::Unreachable(_) | RequestError::Unsure => StatusCode::SERVICE_UNAVAILABLE,
        RequestError::Replica { .. } | RequestError::Store(_) => StatusCode::INSUFFICIENT_STORAGE,
    };
    text(status, format!("{error}\n"))
}

fn text(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    let mut answer = empty(status);
    *answer.body_mut() = Full::new(body.into());
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, plain);
    answer
}

fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Full::default());
    *answer.status_mut() = status;
    answer
}
