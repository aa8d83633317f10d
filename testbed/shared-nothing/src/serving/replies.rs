use crate::engine::Part;
use crate::protocol::{Span, Sum};

/// What a connection keeps of its memory once everything is sent.
const KEPT_BYTES: usize = 64 << 10;

#[derive(Debug)]
enum Slot {
    /// Lies in `held`.
    Bytes(Span),
    /// Boxed, for it is rare and long.
    Sum(Box<Adding>),
}

/// A sum of which not all parts are there.
#[derive(Debug)]
struct Adding {
    sum: Sum,
    total: u64,
    left: usize,
}

/// A connection's replies, which leave in the order of its requests whoever answers first. Until a reply has to come
/// from elsewhere, they are written straight to where they leave from.
#[derive(Debug, Default)]
pub(crate) struct Replies {
    out: Vec<u8>,
    sent: usize,
    slots: Vec<Slot>,
    held: Vec<u8>,
    waiting: usize,
}

impl Replies {
    /// A reply that is given now.
    #[inline]
    pub(crate) fn here(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.slots.is_empty() {
            write(&mut self.out);
            return;
        }
        let start = self.held.len();
        write(&mut self.held);
        self.slots.push(Slot::Bytes(Span { start, end: self.held.len() }));
    }

    /// A place for a reply that comes from elsewhere.
    #[inline]
    pub(crate) fn elsewhere(&mut self) -> usize {
        self.waiting += 1;
        self.slots.push(Slot::Bytes(Span { start: 0, end: 0 }));
        self.slots.len() - 1
    }

    /// A place for a sum to which `others` add.
    pub(crate) fn sum(&mut self, sum: Sum, total: u64, others: usize) -> usize {
        self.waiting += others;
        self.slots.push(Slot::Sum(Box::new(Adding { sum, total, left: others })));
        self.slots.len() - 1
    }

    /// What came for a place. True when nothing more is waited for.
    #[inline]
    pub(crate) fn arrived(&mut self, place: usize, part: Part<'_>, threads: usize) -> bool {
        match (part, &mut self.slots[place]) {
            (Part::Bytes(bytes), slot) => *slot = Slot::Bytes(Span::put(&mut self.held, bytes)),
            (Part::Sum(more), slot) => {
                if let Slot::Sum(adding) = slot {
                    adding.total += more;
                    adding.left -= 1;
                    if adding.left == 0 {
                        let start = self.held.len();
                        adding.sum.write(adding.total, threads, &mut self.held);
                        *slot = Slot::Bytes(Span { start, end: self.held.len() });
                    }
                }
            }
        }
        self.waiting -= 1;
        if self.waiting == 0 {
            self.line_up();
        }
        self.waiting == 0
    }

    fn line_up(&mut self) {
        for slot in self.slots.drain(..) {
            if let Slot::Bytes(span) = slot {
                self.out.extend_from_slice(span.of(&self.held));
            }
        }
        self.held.clear();
        self.held.shrink_to(KEPT_BYTES);
    }

    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting > 0
    }

    #[inline]
    pub(crate) fn unsent(&self) -> &[u8] {
        &self.out[self.sent..]
    }

    #[inline]
    pub(crate) fn was_sent(&mut self, bytes: usize) {
        self.sent += bytes;
        if self.sent == self.out.len() {
            self.sent = 0;
            self.out.clear();
            self.out.shrink_to(KEPT_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_leave_in_the_order_of_requests() {
        let mut replies = Replies::default();
        replies.here(|out| out.push(b'1'));
        let second = replies.elsewhere();
        replies.here(|out| out.push(b'3'));
        let fourth = replies.sum(Sum::Count, 3, 2);
        let fifth = replies.elsewhere();
        assert_eq!(replies.unsent(), b"1");
        assert!(!replies.arrived(fifth, Part::Bytes(b"5"), 3));
        assert!(!replies.arrived(fourth, Part::Sum(1), 3));
        assert!(!replies.arrived(second, Part::Bytes(b"2"), 3));
        assert!(replies.is_waiting());
        assert!(replies.arrived(fourth, Part::Sum(1), 3));
        assert_eq!(replies.unsent(), b"123:5\r\n5");
        replies.was_sent(3);
        replies.here(|out| out.push(b'6'));
        assert_eq!(replies.unsent(), b":5\r\n56");
    }
}
