//! One listener for clients and for the other servers: who begins with `*` speaks RESP, everybody else HTTP.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rudolph_cache::{CacheLimits, LruCache};
use tokio::net::{TcpListener, TcpStream};

use crate::node::Node;
use crate::peers::Peers;
use crate::store::{Store, StoreError};
use crate::{answers, http, repair, upkeep};

const CACHE_BYTES: usize = 64 << 20;

/// What a server is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where its copies are.
    pub data: PathBuf,
    /// The folder of `redis-server`; without, the copies are in an embedded store.
    pub redis: Option<PathBuf>,
    /// How many servers hold a key.
    pub replicas: usize,
    /// Most copies in memory; without, each read goes to the disk's store.
    pub cache_entries: usize,
    /// Some of the other servers, through whom it meets the rest.
    pub peers: Vec<SocketAddr>,
}

/// Serves until it is dropped. Must run within a `LocalSet`.
///
/// # Errors
/// The data cannot be used, or the listener has no address.
pub async fn serve(listener: TcpListener, settings: &Settings) -> Result<(), StoreError> {
    let folder = |source| StoreError::Folder { path: settings.data.clone(), source };
    let own = listener.local_addr().map_err(folder)?;
    let store = Store::open(&settings.data, settings.redis.as_deref()).await?;
    let run = drawn();
    let peers = Peers::new(own, run, settings.replicas);
    for peer in &settings.peers {
        peers.number(*peer);
    }
    let limits = CacheLimits { entries: settings.cache_entries, bytes: CACHE_BYTES };
    let node = Rc::new(Node::new(store, peers, run, LruCache::new(limits)));
    tokio::task::spawn_local(upkeep::meet_all(Rc::clone(&node)));
    tokio::task::spawn_local(upkeep::feel_alive(Rc::clone(&node)));
    tokio::task::spawn_local(repair::keep_settled(Rc::clone(&node)));
    loop {
        match listener.accept().await {
            Ok((stream, _)) => _ = tokio::task::spawn_local(converse(Rc::clone(&node), stream)),
            // Out of file descriptors, mostly: do not spin.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn converse(node: Rc<Node>, stream: TcpStream) {
    _ = stream.set_nodelay(true); // only slower without
    let mut first = [0];
    match stream.peek(&mut first).await {
        Ok(1) if first == *b"*" => answers::serve(node, stream).await,
        Ok(1) => {
            let service = service_fn(move |request| http::handle(Rc::clone(&node), request));
            // Clients may leave as they like.
            _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        }
        _ => {}
    }
}

/// Another number at each start, by the keys that the standard library draws from the system for its maps.
fn drawn() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}
