use std::time::Duration;

use rudolph_load_generator::LoadError;

use crate::{CommandError, HttpError};

/// Why a check did not hold.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("{what} cannot be read: {reason}")]
    Unreadable { what: String, reason: String },
    #[error("{what}: wanted {wanted}, found {found}")]
    Unmet { what: String, wanted: String, found: String },
    #[error("not within {} s: {last}", .limit.as_secs())]
    TooLate { limit: Duration, last: Box<Failure> },
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    /// For what was looked at and is not as it should be.
    pub fn unmet(what: impl Into<String>, wanted: impl ToString, found: impl ToString) -> Self {
        Self::Unmet { what: what.into(), wanted: wanted.to_string(), found: found.to_string() }
    }

    /// Holds, or says what was wanted and what was found.
    pub fn unless(
        holds: bool,
        what: impl Into<String>,
        wanted: impl ToString,
        found: impl ToString,
    ) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self::unmet(what, wanted, found)) }
    }

    pub fn unreadable(what: impl Into<String>, reason: impl ToString) -> Self {
        Self::Unreadable { what: what.into(), reason: reason.to_string() }
    }
}
