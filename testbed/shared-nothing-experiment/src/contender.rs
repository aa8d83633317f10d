use std::fmt;

/// A server that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Contender {
    Redis,
    SharedNothing { threads: u16 },
    Mutex { threads: u16 },
}

const THREADS: [u16; 3] = [1, 2, 4];

impl Contender {
    /// The place of the single-threaded server of ours among all.
    pub(crate) const PLAIN: usize = 1;

    pub(crate) fn all() -> Vec<Self> {
        let own = THREADS.map(|threads| Self::SharedNothing { threads });
        let mutex = THREADS.map(|threads| Self::Mutex { threads });
        [Self::Redis].into_iter().chain(own).chain(mutex).collect()
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Redis => write!(out, "redis"),
            Self::SharedNothing { threads } => write!(out, "shared_nothing@{threads}"),
            Self::Mutex { threads } => write!(out, "mutex@{threads}"),
        }
    }
}
