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

    /// Copies `bytes` to the end of `buffer`.
    #[inline]
    pub(crate) fn put(buffer: &mut Vec<u8>, bytes: &[u8]) -> Self {
        let start = buffer.len();
        buffer.extend_from_slice(bytes);
        Self { start, end: buffer.len() }
    }

    #[inline]
    fn moved_by(self, offset: usize) -> Self {
        Self { start: self.start + offset, end: self.end + offset }
    }
}

/// One step of a request; its spans lie in the bytes that it was read from.
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

    #[inline]
    fn moved_by(self, offset: usize) -> Self {
        match self {
            Self::Get { key } => Self::Get { key: key.moved_by(offset) },
            Self::Set { key, value, flags, quiet } => {
                let (key, value) = (key.moved_by(offset), value.moved_by(offset));
                Self::Set { key, value, flags, quiet }
            }
            Self::Sum(Sum::Populate { count, prefix, value_bytes }) => {
                let prefix = prefix.map(|prefix| prefix.moved_by(offset));
                Self::Sum(Sum::Populate { count, prefix, value_bytes })
            }
            Self::Say { .. } | Self::Sum(Sum::Count | Sum::Stats) => self,
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

    /// Operations from the `first` on were read `offset` bytes into the connection's bytes.
    #[inline]
    pub(crate) fn shift(&mut self, first: usize, offset: usize) {
        if offset == 0 {
            return;
        }
        for op in &mut self.ops[first..] {
            *op = op.moved_by(offset);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.ops.clear();
        self.said.clear();
    }
}
