use rudolph_cache::HashedKey;

use super::Store;
use crate::protocol::{Op, Protocol, Span};

/// A batch takes no further round once it holds so much.
const FULL_BYTES: usize = 1 << 20;
const FULL_ASKS: usize = 4096;
/// What a batch keeps of its memory between journeys.
const KEPT_BYTES: usize = 4 * FULL_BYTES;

/// Where an answer goes: a connection, which one of those that had its place, and which request of its round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) connection: usize,
    pub(crate) generation: u64,
    pub(crate) place: usize,
}

#[derive(Debug)]
struct Ask {
    ticket: Ticket,
    protocol: Protocol,
    op: Op,
    /// Of its key, if it has one.
    hash: u64,
}

/// What is an answer's: bytes for the client, or a part of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    Bytes(&'a [u8]),
    Sum(u64),
}

#[derive(Clone, Copy, Debug)]
enum Answered {
    Bytes(Span),
    Sum(u64),
}

/// All that a thread asks of another at once; it travels there, is answered and travels back.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    data: Vec<u8>,
    asks: Vec<Ask>,
    replies: Vec<u8>,
    answers: Vec<Answered>,
}

impl Batch {
    /// Copies what is asked; `from` is what the operation's spans lie in.
    #[inline]
    pub(crate) fn ask(
        &mut self,
        ticket: Ticket,
        protocol: Protocol,
        op: Op,
        hash: u64,
        from: &[u8],
    ) {
        let data = &mut self.data;
        let op = match op {
            Op::Get { key } => Op::Get { key: Span::put(data, key.of(from)) },
            Op::Set { key, value, flags, quiet } => {
                let key = Span::put(data, key.of(from));
                Op::Set { key, value: Span::put(data, value.of(from)), flags, quiet }
            }
            Op::Sum(sum) => Op::Sum(sum.copied(from, data)),
            Op::Say { text } => Op::Say { text },
        };
        self.asks.push(Ask { ticket, protocol, op, hash });
    }

    fn is_empty(&self) -> bool {
        self.asks.is_empty()
    }

    fn is_full(&self) -> bool {
        self.data.len() >= FULL_BYTES || self.asks.len() >= FULL_ASKS
    }

    /// Does all that is asked, in order.
    pub(crate) fn answer(&mut self, store: &mut Store) {
        store.glance(self.asks.iter().filter_map(|Ask { op, hash, .. }| {
            op.key().map(|key| HashedKey { key: key.of(&self.data), hash: *hash })
        }));
        for ask in &self.asks {
            let answered = match ask.op {
                Op::Sum(sum) => Answered::Sum(store.sum(sum, &self.data)),
                op => {
                    let start = self.replies.len();
                    store.perform(op, ask.hash, &self.data, ask.protocol, &mut self.replies);
                    Answered::Bytes(Span { start, end: self.replies.len() })
                }
            };
            self.answers.push(answered);
        }
    }

    pub(crate) fn answers(&self) -> impl Iterator<Item = (Ticket, Part<'_>)> {
        self.asks.iter().zip(&self.answers).map(|(ask, answered)| {
            let part = match answered {
                Answered::Bytes(span) => Part::Bytes(span.of(&self.replies)),
                Answered::Sum(sum) => Part::Sum(*sum),
            };
            (ask.ticket, part)
        })
    }

    fn clear(&mut self) {
        self.asks.clear();
        self.answers.clear();
        for buffer in [&mut self.data, &mut self.replies] {
            buffer.clear();
            buffer.shrink_to(KEPT_BYTES);
        }
    }
}

/// What goes to one other thread: one batch is filled while at most one is under way. The busier the other thread is,
/// the more the next batch holds.
#[derive(Debug)]
pub(crate) struct Outgoing {
    filling: Box<Batch>,
    /// `None` while it is under way.
    spare: Option<Box<Batch>>,
}

impl Outgoing {
    pub(crate) fn new() -> Self {
        Self { filling: Box::default(), spare: Some(Box::default()) }
    }

    #[inline]
    pub(crate) fn filling(&mut self) -> &mut Batch {
        &mut self.filling
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.filling.is_full()
    }

    #[inline]
    pub(crate) fn is_under_way(&self) -> bool {
        self.spare.is_none()
    }

    /// What is to be sent now.
    pub(crate) fn ready(&mut self) -> Option<Box<Batch>> {
        if self.filling.is_empty() {
            return None;
        }
        let empty = self.spare.take()?;
        Some(std::mem::replace(&mut self.filling, empty))
    }

    pub(crate) fn came_back(&mut self, mut batch: Box<Batch>) {
        batch.clear();
        self.spare = Some(batch);
    }
}
