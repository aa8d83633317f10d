//! `rudolph-replicated-store`: one server of the replicated store as a process.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rudolph_replicated_store::{Settings, StoreError, serve};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// A server that holds the keys that the filter gives it, with other servers that hold the same.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// Port 0 takes a free one and prints it
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Folder of this server's copies
    #[arg(long)]
    data: PathBuf,
    /// Folder of redis-server: the copies are in a Redis of this server's own, else in an embedded store
    #[arg(long)]
    redis: Option<PathBuf>,
    /// How many servers hold a key, as in the filter's configuration
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=8))]
    replicas: u8,
    /// Most values in memory; 0 reads each from the store
    #[arg(long, default_value_t = 10_000)]
    cache_entries: usize,
    /// Another server; one that is up leads to all
    #[arg(long = "peer")]
    peers: Vec<SocketAddr>,
}

#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error("--listen {address} cannot be bound: {source}")]
    Bind { address: SocketAddr, source: io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the runtime cannot be started: {0}")]
    Runtime(io::Error),
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            _ = writeln!(io::stderr(), "rudolph-replicated-store: {error}"); // nobody may be listening
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<(), RunError> {
    let settings = Settings {
        data: options.data.clone(),
        redis: options.redis.clone(),
        replicas: usize::from(options.replicas),
        cache_entries: options.cache_entries,
        peers: options.peers.clone(),
    };
    // One thread: what a server owns, it shares with nobody.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(RunError::Runtime)?;
    tokio::task::LocalSet::new().block_on(&runtime, async {
        // Before the address is printed: whoever reads it may send a signal at once.
        let mut terminate = signal(SignalKind::terminate()).map_err(RunError::Runtime)?;
        let listener = TcpListener::bind(options.listen)
            .await
            .map_err(|source| RunError::Bind { address: options.listen, source })?;
        if let Ok(address) = listener.local_addr() {
            _ = writeln!(io::stdout(), "listening on {address}"); // nobody may be listening
        }
        tokio::select! {
            served = serve(listener, &settings) => Ok(served?),
            _ = terminate.recv() => Ok(()),
            told = tokio::signal::ctrl_c() => told.map_err(RunError::Runtime),
        }
    })
}
