use std::io;
use std::path::PathBuf;

/// Why nothing was written; each prints as one line.
#[derive(Debug, thiserror::Error)]
pub enum DistError {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("{} is no Wasm module of version 1", path.display())]
    NotWasm { path: PathBuf },
    #[error("{} is no JSON: {source}", path.display())]
    NotJson { path: PathBuf, source: serde_json::Error },
    #[error("{} is not empty; name a folder that is, or that is not there", path.display())]
    NotEmpty { path: PathBuf },
    #[error("cannot pack the module: {source}")]
    Pack { source: io::Error },
    #[error("cannot write JSON: {source}")]
    Json { source: serde_json::Error },
    #[error("cargo's metadata is not understood: {source}")]
    Metadata { source: serde_json::Error },
    #[error("cargo's metadata has no package {name}; it has {present}")]
    NoPackage { name: String, present: String },
    #[error("cargo's metadata names {id}, and does not describe it")]
    Dangling { id: String },
}
