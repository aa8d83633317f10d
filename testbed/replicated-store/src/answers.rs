//! What a server answers to the others, in RESP.
//!
//! `VERSION key` and `FETCH key` look, `STORE key copy` keeps a copy unless there is one as new, `INDEX after` lists keys
//! with versions, `HELLO address run` introduces a server, `FENCE servers` waits until no request is underway that
//! began before this server saw those servers, `PING address` tells that a server lives.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::limits::{MAX_KEY_BYTES, MAX_VALUE_BYTES};
use crate::node::Node;
use crate::resp::{self, Value};
use crate::version::{Copied, VERSION_BYTES};

/// Answers that wait for their turn; a server that sends on without reading waits too.
const MOST_WAITING: usize = 4_096;
/// Keys on a page of an index.
const PAGE: usize = 1_000;

/// An answer in its bytes, or one that takes a while.
enum Reply {
    Ready(BytesMut),
    Later(Pin<Box<dyn Future<Output = BytesMut>>>),
}

pub(crate) async fn serve(node: Rc<Node>, stream: TcpStream) {
    let (mut reader, writer) = stream.into_split();
    let (replies, waiting) = mpsc::channel(MOST_WAITING);
    let answering = tokio::task::spawn_local(answer_all(waiting, writer));
    let mut buffer = BytesMut::with_capacity(16 << 10);
    'connection: loop {
        loop {
            let reply = match resp::take(&mut buffer) {
                Ok(Some(value)) => reply(&node, value),
                Ok(None) => break,
                Err(error) => {
                    _ = replies.send(Reply::Ready(refusal(&error.to_string()))).await;
                    break 'connection;
                }
            };
            if replies.send(reply).await.is_err() {
                break 'connection;
            }
        }
        if !matches!(reader.read_buf(&mut buffer).await, Ok(1..)) {
            break;
        }
    }
    drop(replies);
    // It writes what is left, or the other side has gone.
    _ = answering.await;
}

/// In the order of the questions; all that is ready goes out at once.
async fn answer_all(mut replies: mpsc::Receiver<Reply>, mut writer: OwnedWriteHalf) {
    let mut out = BytesMut::new();
    while let Some(reply) = replies.recv().await {
        let mut next = Some(reply);
        while let Some(reply) = next {
            match reply {
                Reply::Ready(bytes) => out.unsplit(bytes),
                Reply::Later(bytes) => out.unsplit(bytes.await),
            }
            next = replies.try_recv().ok();
        }
        if writer.write_all(&out).await.is_err() {
            return;
        }
        out.clear();
    }
}

fn refusal(text: &str) -> BytesMut {
    let mut out = BytesMut::new();
    resp::write_error(&format!("ERR {text}"), &mut out);
    out
}

fn ok() -> BytesMut {
    BytesMut::from(&b"+OK\r\n"[..])
}

fn reply(node: &Rc<Node>, value: Value) -> Reply {
    let Value::Array(parts) = value else {
        return Reply::Ready(refusal("a command is an array of bulk strings"));
    };
    let bulk = |part| if let Value::Bulk(bytes) = part { Some(bytes) } else { None };
    let Some(parts): Option<Vec<Bytes>> = parts.into_iter().map(bulk).collect() else {
        return Reply::Ready(refusal("a command is an array of bulk strings"));
    };
    match parts.iter().map(|part| &part[..]).collect::<Vec<_>>()[..] {
        [b"PING"] => Reply::Ready(BytesMut::from(&b"+PONG\r\n"[..])),
        [b"PING", address] => Reply::Ready(heard(node, address)),
        [b"VERSION", key] if is_key(key) => Reply::Ready(version(node, key)),
        [b"STORE", key, copied] if is_key(key) && is_copy(copied) => {
            store(node, parts[1].clone(), parts[2].clone())
        }
        [b"FETCH", key] if is_key(key) => fetch(node, key),
        [b"INDEX", after] if after.len() <= MAX_KEY_BYTES => Reply::Ready(index(node, after)),
        [b"HELLO", address, run] => Reply::Ready(hello(node, address, run)),
        [b"FENCE", seen] => fence(node, seen),
        [b"VERSION" | b"FETCH" | b"STORE", key, ..] if !is_key(key) => {
            Reply::Ready(refusal(&format!("a key has 1 to {MAX_KEY_BYTES} bytes")))
        }
        [b"STORE", _, _] => Reply::Ready(refusal(&format!(
            "a copy has a version of {VERSION_BYTES} bytes and up to {MAX_VALUE_BYTES} more"
        ))),
        _ => Reply::Ready(refusal(
            "unknown command; there are VERSION, STORE, FETCH, INDEX, HELLO, FENCE and PING",
        )),
    }
}

fn is_key(key: &[u8]) -> bool {
    (1..=MAX_KEY_BYTES).contains(&key.len())
}

fn is_copy(copied: &[u8]) -> bool {
    (VERSION_BYTES..=VERSION_BYTES + MAX_VALUE_BYTES).contains(&copied.len())
}

fn version(node: &Node, key: &[u8]) -> BytesMut {
    let mut bytes = [0; VERSION_BYTES + 1];
    bytes[..VERSION_BYTES].copy_from_slice(&node.store.version(key).to_bytes());
    bytes[VERSION_BYTES] = u8::from(node.is_sure(key));
    let mut out = BytesMut::new();
    resp::write_bulk(&bytes, &mut out);
    out
}

fn store(node: &Rc<Node>, key: Bytes, copied: Bytes) -> Reply {
    let Some(copied) = Copied::from_bytes(copied) else {
        return Reply::Ready(refusal("no copy"));
    };
    let (node, writing) = (Rc::clone(node), node.store.write(&key, &copied));
    Reply::Later(Box::pin(async move {
        match node.store.finish(&key, writing).await {
            Ok(()) => ok(),
            Err(error) => refusal(&error.to_string()),
        }
    }))
}

fn fetch(node: &Rc<Node>, key: &[u8]) -> Reply {
    let reading = node.store.read(key);
    Reply::Later(Box::pin(async move {
        let mut out = BytesMut::new();
        match reading.get().await {
            Ok(Some(copied)) => resp::write_bulk(&copied.to_bytes(), &mut out),
            Ok(None) => out.extend_from_slice(b"$-1\r\n"),
            Err(error) => return refusal(&error.to_string()),
        }
        out
    }))
}

fn index(node: &Node, after: &[u8]) -> BytesMut {
    let page = node.store.page(after, PAGE);
    let mut out = BytesMut::new();
    resp::write_head(b'*', page.len() * 2, &mut out);
    for (key, version) in page {
        resp::write_bulk(&key, &mut out);
        resp::write_bulk(&version.to_bytes(), &mut out);
    }
    out
}

fn address_of(text: &[u8]) -> Option<std::net::SocketAddr> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The answer is this server's own run and all servers that it knows.
fn hello(node: &Node, address: &[u8], run: &[u8]) -> BytesMut {
    let (Some(address), 8) = (address_of(address), run.len()) else {
        return refusal("HELLO takes ip:port and 8 bytes");
    };
    node.peers.number(address);
    let mut out = BytesMut::new();
    let known = node.peers.addresses();
    resp::write_array(&[&node.run.to_be_bytes(), known.as_bytes()], &mut out);
    out
}

/// Whoever is told so may rely on it for a while: this server counts on it, and will until it has been silent for long.
fn heard(node: &Node, address: &[u8]) -> BytesMut {
    let Some(address) = address_of(address) else { return refusal("PING takes ip:port") };
    let number = node.peers.number(address);
    node.peers.change(number, |peer| peer.heard = Instant::now());
    if !node.peers.placement().peers.contains(&number) {
        return refusal("this server does not count on you");
    }
    BytesMut::from(&b"+PONG\r\n"[..])
}

/// Whoever asks must see the same servers: what begins from now on then counts on it.
fn fence(node: &Rc<Node>, seen: &[u8]) -> Reply {
    if node.peers.placed().as_bytes() != seen {
        return Reply::Ready(refusal("this server sees others"));
    }
    let ended = node.fence();
    Reply::Later(Box::pin(async move {
        ended.await;
        ok()
    }))
}
