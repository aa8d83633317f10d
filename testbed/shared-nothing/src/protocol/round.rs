/// A piece of a buffer that stands nearby.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    #[inline]
    pub(crate) fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start..self.end]
    }

    #[inline]
    pub(crate) fn len(self) -> usize {
        self.end - self.start
    }

    /// Copies `bytes` to the end of `buffer`.
    #[inline]
    pub(crate) fn put(buffer: &mut Vec<u8>, bytes: &[u8]) -> Self {
        let start = buffer.len();
        buffer.extend_from_slice(bytes);
        Self { start, end: buffer.len() }
    }
}

/// One step of a request; its spans lie in the connection's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Get {
        key: Span,
    },
    Set {
        key: Span,
        value: Span,
        flags: u32,
        quiet: bool,
    },
    /// Already answered: the text lies in [`Round::said`].
    Say {
        text: Span,
    },
    /// Asked of every partition, answered by the sum.
    Sum(Sum),
}

impl Op {
    /// The one key that it is about.
    #[inline]
    pub(crate) fn key(self) -> Option<Span> {
        match self {
            Self::Get { key } | Self::Set { key, .. } => Some(key),
            Self::Say { .. } | Self::Sum(_) => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sum {
    Count,
    Stats,
    Populate { count: u64, prefix: Option<Span>, value_bytes: usize },
}

/// What was read from a connection in one go.
#[derive(Debug, Default)]
pub(crate) struct Round {
    pub(crate) ops: Vec<Op>,
    pub(crate) said: Vec<u8>,
    /// Where the arguments of the request being read are; kept for its memory.
    pub(crate) arguments: Vec<Span>,
}

impl Round {
    pub(crate) fn say(&mut self, text: &[u8]) {
        let text = Span::put(&mut self.said, text);
        self.ops.push(Op::Say { text });
    }

    pub(crate) fn clear(&mut self) {
        self.ops.clear();
        self.said.clear();
    }
}
