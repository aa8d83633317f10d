use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a module was not trimmed; each prints as one line.
#[derive(Debug)]
pub enum TrimError {
    Usage { argument: String },
    Read { path: PathBuf, source: io::Error },
    Write { path: PathBuf, source: io::Error },
    EmptyKeepList,
    BadEntry { entry: String },
    DuplicateName { name: String },
    NotWasm { reason: String },
    MissingExports { missing: Vec<String>, present: Vec<String> },
}

impl fmt::Display for TrimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage { argument } => write!(f, "{argument}; {}", crate::USAGE),
            Self::Read { path, source } => write!(f, "cannot read {}: {source}", path.display()),
            Self::Write { path, source } => write!(f, "cannot write {}: {source}", path.display()),
            Self::EmptyKeepList => write!(f, "the keep-list is empty; name at least one export"),
            Self::BadEntry { entry } => write!(
                f,
                "keep-list entry {entry:?} is not understood; allowed: NAME, or NAME = SYMBOL"
            ),
            Self::DuplicateName { name } => write!(f, "keep-list names {name:?} twice"),
            Self::NotWasm { reason } => write!(f, "the input is no valid Wasm module: {reason}"),
            Self::MissingExports { missing, present } => write!(
                f,
                "the module does not export {}; it exports {}",
                missing.join(", "),
                present.join(", ")
            ),
        }
    }
}

impl std::error::Error for TrimError {}
