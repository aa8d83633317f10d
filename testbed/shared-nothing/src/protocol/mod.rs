//! Bytes into operations and answers into bytes. Nothing here reads, writes or remembers.

mod answer;
mod memcached;
mod number;
mod resp;
mod round;

pub(crate) use answer::Answer;
pub(crate) use round::{Op, Round, Span, Sum};

use crate::Limits;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// RESP2, and inline commands.
    Redis,
    /// Memcached's text protocol.
    Memcached,
}

/// What stood in a connection's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// No whole request yet.
    Partial,
    /// A request of so many bytes.
    Took(usize),
    /// A request of so many bytes whose refused data follows: so many more are to be dropped, unread.
    Drop { took: usize, skip: usize },
    /// The last one: the connection is to be closed when its replies are sent.
    Last,
}

impl Protocol {
    /// Reads the request that begins at `from` and adds what it asks to `round`.
    #[inline]
    pub(crate) fn next(
        self,
        input: &[u8],
        from: usize,
        limits: &Limits,
        round: &mut Round,
    ) -> Step {
        match self {
            Self::Redis => resp::next(input, from, limits, round),
            Self::Memcached => memcached::next(input, from, limits, round),
        }
    }
}
