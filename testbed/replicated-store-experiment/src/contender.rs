use std::fmt;

use rudolph_experiments::redis::Command;

/// A store that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Contender {
    /// One Redis.
    Redis,
    /// Three, each key at the one that md5 names.
    Sharded,
    /// Three servers that own a Redis each, behind Envoy with the filter, each key at two of them. Reads come from a
    /// server's memory where it has the newest value.
    Replicated,
    /// The same, every read from Redis.
    Uncached,
}

impl Contender {
    pub(crate) const ALL: [Self; 4] =
        [Self::Redis, Self::Sharded, Self::Replicated, Self::Uncached];

    /// What was published for one of its kind: requests a second of ten clients.
    pub(crate) fn published(self, command: Command) -> f64 {
        match (self, command) {
            (Self::Redis, Command::Get) => 5_820.0,
            (Self::Redis, Command::Set) => 5_938.0,
            (Self::Sharded, Command::Get) => 5_417.0,
            (Self::Sharded, Command::Set) => 5_624.0,
            (Self::Replicated | Self::Uncached, Command::Get) => 464.0,
            (Self::Replicated | Self::Uncached, Command::Set) => 367.0,
        }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Redis => "redis",
            Self::Sharded => "redis_sharded",
            Self::Replicated => "rudolph_replicated",
            Self::Uncached => "rudolph_uncached",
        })
    }
}
