//! `rudolph-shared-nothing`: the cache as a server of its own, for Redis's and memcached's clients.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use rudolph_cache::CacheLimits;
use rudolph_shared_nothing::{EngineKind, Limits, Protocol, Server, ServerConfig, StartError};

/// A cache that answers Redis's and memcached's protocols, with a thread a partition and no lock between them.
#[derive(Debug, Parser)]
#[command(name = "rudolph-shared-nothing", version)]
struct Options {
    /// Where to answer RESP; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:6380")]
    redis: SocketAddr,
    /// Where to answer memcached's text protocol
    #[arg(long, value_name = "ADDRESS")]
    memcached: Option<SocketAddr>,
    /// Threads, each with its own part of the keys
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    #[arg(long, value_enum, default_value_t = Engine::SharedNothing)]
    engine: Engine,
    /// Entries that all threads keep together
    #[arg(long, default_value_t = 1_000_000)]
    cache_entries: usize,
    /// Bytes of keys and values that all threads keep together
    #[arg(long, default_value_t = 1 << 30)]
    cache_bytes: usize,
    /// Longest value that a client may set
    #[arg(long, default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(1..=64 << 20))]
    value_bytes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// Each thread owns a part of the keys
    SharedNothing,
    /// All threads use one cache behind one lock, to compare with
    Mutex,
}

#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("the server ended: {0}")]
    Ended(#[from] io::Error),
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            _ = writeln!(io::stderr(), "rudolph-shared-nothing: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), RunError> {
    let redis = (Protocol::Redis, options.redis);
    let memcached = options.memcached.map(|address| (Protocol::Memcached, address));
    let server = Server::start(&ServerConfig {
        engine: match options.engine {
            Engine::SharedNothing => EngineKind::SharedNothing,
            Engine::Mutex => EngineKind::Mutex,
        },
        threads: options.threads.into(),
        listen: [redis].into_iter().chain(memcached).collect(),
        cache: CacheLimits { entries: options.cache_entries, bytes: options.cache_bytes },
        limits: Limits { value_bytes: options.value_bytes, ..Limits::default() },
    })?;
    for (protocol, address) in server.addresses() {
        _ = writeln!(io::stdout(), "{} {address}", format!("{protocol:?}").to_lowercase());
    }
    _ = writeln!(io::stdout(), "ready");
    Ok(server.join()?)
}
