use std::fmt;

use rudolph_experiments::redis::Command;

/// What the clients of a run ask, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// So many requests at once on each connection.
    Pipelined { command: Command, depth: u32 },
    /// [`KEYS`] keys in a request: the cache is most of what there is to do.
    ManyKeys,
}

const KEYS: u32 = 50;

impl Demand {
    /// What is set first can be got.
    pub(crate) const ALL: [Self; 5] = [
        Self::Pipelined { command: Command::Set, depth: 1 },
        Self::Pipelined { command: Command::Get, depth: 1 },
        Self::Pipelined { command: Command::Set, depth: 10 },
        Self::Pipelined { command: Command::Get, depth: 10 },
        Self::ManyKeys,
    ];

    pub(crate) fn pipeline(self) -> u32 {
        match self {
            Self::Pipelined { depth, .. } => depth,
            Self::ManyKeys => 1,
        }
    }

    /// How many requests take about the time of so many simple ones.
    pub(crate) fn requests(self, simple: u32) -> u32 {
        match self {
            Self::Pipelined { depth, .. } => simple * depth,
            Self::ManyKeys => simple / 5,
        }
    }

    /// redis-benchmark's words for it.
    pub(crate) fn words(self) -> Vec<String> {
        match self {
            Self::Pipelined { command, .. } => vec!["-t".to_owned(), command.to_string()],
            Self::ManyKeys => {
                let keys = (0..KEYS).map(|_| "key:__rand_int__".to_owned());
                ["mget".to_owned()].into_iter().chain(keys).collect()
            }
        }
    }

    /// For names of files.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Pipelined { command, depth } => format!("{command}-{depth}"),
            Self::ManyKeys => "mget".to_owned(),
        }
    }
}

impl fmt::Display for Demand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pipelined { command, depth } => write!(out, "{command}, pipelines of {depth}"),
            Self::ManyKeys => write!(out, "mget of {KEYS} keys"),
        }
    }
}
