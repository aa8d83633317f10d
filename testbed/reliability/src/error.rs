use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use rudolph_cluster::ClusterError;
use rudolph_load_generator::LoadError;

/// Why a run could not be carried out. What a run found wrong is in its verdicts.
#[derive(Debug, thiserror::Error)]
pub enum ReliabilityError {
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("cannot {action} {path}: {source}")]
    File { action: &'static str, path: PathBuf, source: io::Error },
    #[error("cannot listen on {address}: {source}")]
    Network { address: SocketAddr, source: io::Error },
    #[error("cannot change the limits of process {pid}: {source}")]
    Process { pid: u32, source: io::Error },
    #[error("the module cannot be changed: {reason}")]
    Module { reason: String },
    #[error("{what} cannot be written: {reason}")]
    Output { what: &'static str, reason: String },
}

impl ReliabilityError {
    pub(crate) fn file(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File { action, path: path.to_owned(), source }
    }
}
