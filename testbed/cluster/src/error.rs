use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

/// Why a cluster could not be started or changed. Variants that concern a process end with the tail of its log.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    #[error("{what} not found ({hint}); looked at: {}", list(.looked_at))]
    NotFound { what: &'static str, looked_at: Vec<PathBuf>, hint: &'static str },

    #[error("configuration {path}: {reason}")]
    Config { path: PathBuf, reason: String },

    #[error("cannot {action} {path}: {source}")]
    Io { action: &'static str, path: PathBuf, source: io::Error },

    #[error("cannot start {program}: {source}")]
    Spawn { program: PathBuf, source: io::Error },

    #[error("no free loopback port from {first} to {last}")]
    NoFreePort { first: u16, last: u16 },

    #[error("{what} not ready after {} s{}", .waited.as_secs_f32(), tail(.log))]
    NotReady { what: String, waited: Duration, log: String },

    #[error("{what} ended with {status}{}", tail(.log))]
    Ended { what: String, status: ExitStatus, log: String },

    #[error("Envoy refused the configuration of the filter{}", tail(.log))]
    Refused { log: String },

    #[error("Envoy does not accept {path}{}", tail(.log))]
    Invalid { path: PathBuf, log: String },

    #[error("{address}{path}: {reason}")]
    Http { address: String, path: String, reason: String },

    #[error("no server {index}: allowed are 0 to {}", .servers.saturating_sub(1))]
    NoSuchServer { index: usize, servers: usize },

    #[error("server {index} is not a process of this cluster, or not running")]
    NotRunning { index: usize },

    #[error("this cluster's Envoy was started without hot restart")]
    NoHotRestart,

    #[error("this cluster runs without the filter: it has no configuration to reload")]
    NoFilter,
}

impl ClusterError {
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn tail(log: &str) -> String {
    if log.is_empty() { String::new() } else { format!("; its log ends with:\n{log}") }
}
