use rudolph_cache::HashedKey;

use super::Store;
use crate::protocol::{Op, Protocol, Span, Sum};

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

/// What is asked, in few bytes: they travel from one core's cache to another's. Its key and its value lie in the batch's
/// data, behind those of the asks before it.
#[derive(Debug)]
struct Ask {
    /// Of its key, if it has one.
    hash: u64,
    key_bytes: u32,
    value_bytes: u32,
    flags: u32,
    what: What,
    protocol: Protocol,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Get,
    Set {
        quiet: bool,
    },
    /// The next of the batch's sums; what it names lies where others have their key.
    Sum,
}

/// What is an answer's: bytes for the client, or a part of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    Bytes(&'a [u8]),
    Sum(u64),
}

/// All that a thread asks of another at once; it travels there, is answered and travels back.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    data: Vec<u8>,
    asks: Vec<Ask>,
    /// Each with the part that the answering thread adds.
    sums: Vec<(Sum, u64)>,
    /// Read by the asking thread alone, so they stay in its core's cache.
    tickets: Vec<Ticket>,
    replies: Vec<u8>,
    /// How much of `replies` is each ask's.
    reply_bytes: Vec<u32>,
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
        let (what, key_bytes, value_bytes, flags) = match op {
            Op::Get { key } => (What::Get, Span::put(data, key.of(from)).len(), 0, 0),
            Op::Set { key, value, flags, quiet } => {
                let key = Span::put(data, key.of(from));
                (What::Set { quiet }, key.len(), Span::put(data, value.of(from)).len(), flags)
            }
            Op::Sum(sum) => {
                let before = data.len();
                self.sums.push((sum.copied(from, data), 0));
                (What::Sum, data.len() - before, 0, 0)
            }
            // Is said where it was read.
            Op::Say { .. } => return,
        };
        let (key_bytes, value_bytes) = (key_bytes as u32, value_bytes as u32);
        self.asks.push(Ask { hash, key_bytes, value_bytes, flags, what, protocol });
        self.tickets.push(ticket);
    }

    fn is_empty(&self) -> bool {
        self.asks.is_empty()
    }

    fn is_full(&self) -> bool {
        self.data.len() >= FULL_BYTES || self.asks.len() >= FULL_ASKS
    }

    /// Does all that is asked, in order.
    pub(crate) fn answer(&mut self, store: &mut Store) {
        let Self { data, asks, sums, replies, reply_bytes, .. } = self;
        store.glance(
            placed(asks)
                .filter(|(ask, ..)| ask.what != What::Sum)
                .map(|(Ask { hash, .. }, key, _)| HashedKey { key: key.of(data), hash: *hash }),
        );
        let mut sums = sums.iter_mut();
        for (ask, key, value) in placed(asks) {
            let before = replies.len();
            let op = match ask.what {
                What::Get => Op::Get { key },
                What::Set { quiet } => Op::Set { key, value, flags: ask.flags, quiet },
                What::Sum => {
                    if let Some((sum, part)) = sums.next() {
                        *part = store.sum(*sum, data);
                    }
                    reply_bytes.push(0);
                    continue;
                }
            };
            store.perform(op, ask.hash, data, ask.protocol, replies);
            reply_bytes.push((replies.len() - before) as u32);
        }
    }

    pub(crate) fn answers(&self) -> impl Iterator<Item = (Ticket, Part<'_>)> {
        let (mut rest, mut sums) = (&self.replies[..], self.sums.iter());
        let answered = self.asks.iter().zip(&self.reply_bytes).map(move |(ask, bytes)| {
            let (reply, after) = rest.split_at(*bytes as usize);
            rest = after;
            match ask.what {
                What::Sum => Part::Sum(sums.next().map_or(0, |(_, part)| *part)),
                What::Get | What::Set { .. } => Part::Bytes(reply),
            }
        });
        self.tickets.iter().copied().zip(answered)
    }

    fn clear(&mut self) {
        self.asks.clear();
        self.sums.clear();
        self.tickets.clear();
        self.reply_bytes.clear();
        for buffer in [&mut self.data, &mut self.replies] {
            buffer.clear();
            buffer.shrink_to(KEPT_BYTES);
        }
    }
}

/// The asks, each with where its key and its value lie.
fn placed(asks: &[Ask]) -> impl Iterator<Item = (&Ask, Span, Span)> {
    asks.iter().scan(0, |at, ask| {
        let key = Span { start: *at, end: *at + ask.key_bytes as usize };
        let value = Span { start: key.end, end: key.end + ask.value_bytes as usize };
        *at = value.end;
        Some((ask, key, value))
    })
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

#[cfg(test)]
mod tests {
    use rudolph_cache::{CacheLimits, KeyHasher};

    use super::*;
    use crate::engine::{Keys, Partition};

    #[test]
    fn everything_finds_its_own_bytes_with_sums_in_between() {
        let (hasher, limits) = (KeyHasher::default(), CacheLimits { entries: 10, bytes: 1 << 20 });
        let partition = Partition::new(0, 1, limits, hasher.clone());
        let mut store = Store::new(0, 1, hasher, Keys::Own(partition));
        let from = b"some:1value";
        let span = |start, end| Span { start, end };
        let (prefix, key, value) = (span(0, 4), span(0, 6), span(6, 11));
        let fill = Sum::Populate { count: 3, prefix: Some(prefix), value_bytes: 0 };
        let ops = [
            Op::Get { key },
            Op::Set { key, value, flags: 7, quiet: false },
            Op::Sum(fill),
            Op::Get { key },
            Op::Sum(Sum::Count),
            Op::Set { key: value, value: key, flags: 0, quiet: true },
            Op::Get { key: value },
        ];
        let mut batch = Batch::default();
        let mut answer = |batch: &mut Batch, ops: &[Op]| {
            for (place, op) in ops.iter().enumerate() {
                let hash = op.key().map_or(0, |key| store.home(key.of(from)).hash);
                let ticket = Ticket { connection: 5, generation: 6, place };
                batch.ask(ticket, Protocol::Memcached, *op, hash, from);
            }
            batch.answer(&mut store);
        };
        answer(&mut batch, &ops);
        let (tickets, parts): (Vec<Ticket>, Vec<Part<'_>>) = batch.answers().unzip();
        assert!(tickets.iter().map(|ticket| ticket.place).eq(0..ops.len()));
        let expected = [
            Part::Bytes(b""),
            Part::Bytes(b"STORED\r\n"),
            Part::Sum(3),
            Part::Bytes(b"VALUE some:1 7 5\r\nvalue\r\n"),
            Part::Sum(3),
            Part::Bytes(b""),
            Part::Bytes(b"VALUE value 0 6\r\nsome:1\r\n"),
        ];
        assert_eq!(parts, expected);
        batch.clear();
        answer(&mut batch, &[Op::Get { key }, Op::Sum(Sum::Count)]);
        let parts: Vec<Part<'_>> = batch.answers().map(|(_, part)| part).collect();
        assert_eq!(parts, [Part::Bytes(b"VALUE some:1 7 5\r\nvalue\r\n"), Part::Sum(4)]);
    }
}
