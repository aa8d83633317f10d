use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use mio::net::TcpListener;
use mio::{Poll, Waker};
use rudolph_cache::{CacheLimits, KeyHasher};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with, sockopt};

use super::worker::{WAKER, Worker};
use crate::engine::{Keys, Partition, PostOffice, Store, post_offices};
use crate::{EngineKind, Limits, Protocol};

const BACKLOG: i32 = 1024;

#[derive(Clone, Debug)]
pub struct ServerConfig {
    pub engine: EngineKind,
    pub threads: usize,
    /// Port 0 takes a free one.
    pub listen: Vec<(Protocol, SocketAddr)>,
    /// Of all threads together.
    pub cache: CacheLimits,
    pub limits: Limits,
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("{threads} threads were asked for; allowed: 1 to {most}", most = Server::MOST_THREADS)]
    Threads { threads: usize },
    #[error("{address} cannot be listened on: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("a thread cannot be started: {0}")]
    Thread(io::Error),
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    addresses: Vec<(Protocol, SocketAddr)>,
    threads: Vec<JoinHandle<io::Result<()>>>,
    offices: Vec<PostOffice>,
    stop: Arc<AtomicBool>,
}

impl Server {
    pub const MOST_THREADS: usize = 256;

    /// Each thread has its own listeners; the system deals connections out to them.
    pub fn start(config: &ServerConfig) -> Result<Self, StartError> {
        let threads = config.threads;
        if !(1..=Self::MOST_THREADS).contains(&threads) {
            return Err(StartError::Threads { threads });
        }
        let (listeners, addresses) = listeners(config)?;
        let polls: Vec<Poll> = (0..threads)
            .map(|_| Poll::new())
            .collect::<Result<_, _>>()
            .map_err(StartError::Thread)?;
        let wakers = polls.iter().map(|poll| Waker::new(poll.registry(), WAKER));
        let wakers = wakers.collect::<Result<_, _>>().map_err(StartError::Thread)?;
        let (offices, inboxes) = post_offices(wakers);
        let stop = Arc::new(AtomicBool::new(false));
        let mut server = Self { addresses, threads: Vec::new(), offices, stop };
        let parts = polls.into_iter().zip(listeners).zip(inboxes).zip(stores(config));
        for (index, (((poll, listeners), inbox), store)) in parts.enumerate() {
            let (offices, stop) = (server.offices.clone(), server.stop.clone());
            let limits = config.limits;
            let worker = Worker::new(index, poll, listeners, limits, store, inbox, offices, stop);
            let worker = worker.map_err(StartError::Thread)?;
            let thread = std::thread::Builder::new().name(format!("partition-{index}"));
            let thread = thread.spawn(move || worker.run()).map_err(StartError::Thread)?;
            server.threads.push(thread);
        }
        Ok(server)
    }

    /// Where it listens, in the order of the configuration.
    #[must_use]
    pub fn addresses(&self) -> &[(Protocol, SocketAddr)] {
        &self.addresses
    }

    /// Until a thread fails, which none does on its own.
    pub fn join(mut self) -> io::Result<()> {
        self.threads.drain(..).try_for_each(finished)
    }

    /// Ends the threads and their connections.
    pub fn stop(mut self) -> io::Result<()> {
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        self.offices.iter().try_for_each(PostOffice::wake)?;
        self.threads.drain(..).try_for_each(finished)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.end();
    }
}

fn finished(thread: JoinHandle<io::Result<()>>) -> io::Result<()> {
    thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
}

fn stores(config: &ServerConfig) -> Vec<Store> {
    let (of, hasher) = (config.threads, KeyHasher::default());
    match config.engine {
        EngineKind::SharedNothing => (0..of)
            .map(|index| {
                let CacheLimits { entries, bytes } = config.cache;
                let limits =
                    CacheLimits { entries: entries.div_ceil(of), bytes: bytes.div_ceil(of) };
                let partition = Partition::new(index, of, limits, hasher.clone());
                Store::new(index, of, hasher.clone(), Keys::Own(partition))
            })
            .collect(),
        EngineKind::Mutex => {
            let all = Partition::new(0, 1, config.cache, hasher.clone());
            let all = Arc::new(Mutex::new(all));
            let store = |i| Store::new(i, of, hasher.clone(), Keys::Shared(all.clone()));
            (0..of).map(store).collect()
        }
    }
}

type Listeners = Vec<(TcpListener, Protocol)>;
type Addresses = Vec<(Protocol, SocketAddr)>;

/// A set of listeners for each thread, and the addresses that they share.
fn listeners(config: &ServerConfig) -> Result<(Vec<Listeners>, Addresses), StartError> {
    let mut sets: Vec<Listeners> = (0..config.threads).map(|_| Vec::new()).collect();
    let mut addresses = Vec::new();
    for (protocol, wanted) in &config.listen {
        let mut address = *wanted;
        // Nobody else may hold the port: with the ports shared, somebody's old server would get half the clients.
        let failed = |source| StartError::Listen { address: *wanted, source };
        if address.port() != 0 {
            drop(std::net::TcpListener::bind(address).map_err(failed)?);
        }
        for set in &mut sets {
            let listener = listener(address).map_err(failed)?;
            address = listener.local_addr().map_err(failed)?;
            set.push((listener, *protocol));
        }
        addresses.push((*protocol, address));
    }
    Ok((sets, addresses))
}

fn listener(address: SocketAddr) -> io::Result<TcpListener> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    sockopt::set_socket_reuseport(&socket, true)?;
    bind(&socket, &address)?;
    listen(&socket, BACKLOG)?;
    let listener = std::net::TcpListener::from(socket);
    listener.set_nonblocking(true)?;
    Ok(TcpListener::from_std(listener))
}
