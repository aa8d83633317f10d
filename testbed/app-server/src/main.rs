//! `rudolph-app-server`: one server of the testbed as a process.

use std::{
    io::{self, Write},
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use clap::{ArgAction, Parser};
use rudolph_app_server::{
    CacheLimits, ConfigError, DatabaseUrl, RunningServer, ServerConfig, ServiceTimes, StartError,
    scan_row_from_us, start,
};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A stateful HTTP server: a bounded cache before a database that all servers share.
#[derive(Debug, Parser)]
#[command(version, allow_negative_numbers = true)]
struct Options {
    /// Sent as x-server with every answer; the address if empty
    #[arg(long, default_value = "")]
    name: String,
    /// Port 0 takes a free one and prints it
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// An SQLite file, or postgres://USER@HOST/DATABASE
    #[arg(long, default_value = "rudolph.sqlite")]
    database: PathBuf,
    /// Threads that read an SQLite file
    #[arg(long, default_value_t = 1)]
    database_readers: usize,
    /// Most keys in the cache
    #[arg(long, default_value_t = 10_000)]
    cache_entries: usize,
    /// Most bytes of keys and values in the cache
    #[arg(long, default_value_t = 256 << 20)]
    cache_bytes: usize,
    /// Requests served at a time
    #[arg(long, default_value_t = 4)]
    slots: usize,
    /// Requests that may wait for a slot; more are answered 503
    #[arg(long, default_value_t = 10_000)]
    queue_limit: usize,
    /// Time that a hit holds its slot; 0 is real speed
    #[arg(long, default_value_t = 0.0)]
    hit_ms: f64,
    /// Time that a miss or a write holds its slot; 0 is real speed
    #[arg(long, default_value_t = 0.0)]
    miss_ms: f64,
    /// Time that each key of a scan holds its slot, besides that of a miss, in microseconds
    #[arg(long, default_value_t = 0.0)]
    scan_row_us: f64,
    /// Give a key that is not in the database a value made from its name; false answers 404
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    create_missing: bool,
    /// Size of those values
    #[arg(long, default_value_t = 128)]
    value_bytes: usize,
    /// Larger values are refused
    #[arg(long, default_value_t = 1 << 20)]
    max_value_bytes: usize,
    /// After SIGTERM, how long health says 503 before the listener closes
    #[arg(long, default_value_t = 1000)]
    drain_notice_ms: u64,
    /// After that, how long requests in flight may take
    #[arg(long, default_value_t = 10_000)]
    drain_timeout_ms: u64,
}

impl Options {
    fn config(&self) -> Result<ServerConfig, ConfigError> {
        let database = match self.database.to_str() {
            Some(text) => DatabaseUrl::from(text),
            None => DatabaseUrl::Sqlite(self.database.clone()),
        };
        let config = ServerConfig {
            name: self.name.clone(),
            cache: CacheLimits { entries: self.cache_entries, bytes: self.cache_bytes },
            database,
            database_readers: self.database_readers,
            slots: self.slots,
            queue_limit: self.queue_limit,
            service: ServiceTimes::from_ms(self.hit_ms, self.miss_ms)?,
            scan_row: scan_row_from_us(self.scan_row_us)?,
            absent_value_bytes: self.create_missing.then_some(self.value_bytes),
            max_value_bytes: self.max_value_bytes,
            drain_notice: Duration::from_millis(self.drain_notice_ms),
            drain_timeout: Duration::from_millis(self.drain_timeout_ms),
        };
        config.validate()?;
        Ok(config)
    }
}

#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("--listen {address} cannot be bound: {source}")]
    Bind { address: SocketAddr, source: io::Error },
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("the runtime cannot be started: {0}")]
    Runtime(io::Error),
}

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => return refuse_options(&error),
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("rudolph-app-server: {error}"));
            ExitCode::from(2)
        }
    }
}

/// Help goes out whole; an error is one line.
fn refuse_options(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        _ = error.print(); // nobody may be listening
        return ExitCode::SUCCESS;
    }
    let text = error.to_string();
    let first: Vec<&str> =
        text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    say(&format!("rudolph-app-server: {}; see --help", first.join(" ")));
    ExitCode::from(2)
}

fn run(options: &Options) -> Result<(), RunError> {
    let config = options.config()?;
    let listener = TcpListener::bind(options.listen)
        .map_err(|source| RunError::Bind { address: options.listen, source })?;
    // One thread: several servers share this machine with the gateway, and a server's capacity is its slots.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(RunError::Runtime)?;
    runtime.block_on(async {
        // Before the address is printed: whoever reads it may send a signal at once.
        let terminate = signal(SignalKind::terminate()).map_err(RunError::Runtime)?;
        let server = start(config, listener).await?;
        _ = writeln!(io::stdout(), "listening on {}", server.address()); // nobody may be listening
        serve_until_told(server, terminate).await.map_err(RunError::Runtime)
    })
}

fn say(line: &str) {
    _ = writeln!(io::stderr(), "{line}"); // nobody may be listening
}

/// SIGTERM drains; SIGINT, from the terminal, does the same.
async fn serve_until_told(server: RunningServer, mut terminate: Signal) -> io::Result<()> {
    tokio::select! {
        _ = terminate.recv() => {}
        told = tokio::signal::ctrl_c() => told?,
    }
    server.drain().await;
    Ok(())
}
