use std::path::PathBuf;

/// Why a workload was refused. Every message is one line that names the field, its value and what is allowed.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    #[error("workload: {field} is {value}; allowed: {allowed}")]
    OutOfBounds { field: &'static str, value: String, allowed: &'static str },
    #[error("workload: {0}")]
    Parse(#[from] serde_json::Error),
    #[error("workload: keys.path {path:?} cannot be read: {source}")]
    ReplayUnreadable { path: PathBuf, source: std::io::Error },
    #[error("workload: keys.path {path:?} holds no key; allowed: one key a line")]
    ReplayEmpty { path: PathBuf },
    #[error(
        "workload: keys.path {path:?} line {line} is {bytes} bytes long; allowed: 1 to 1024 bytes"
    )]
    ReplayKeyTooLong { path: PathBuf, line: usize, bytes: usize },
}
