//! What will happen, in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that happens at its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A second of the measurement is over. First of its moment, so that nothing counts for both.
    Window,
    /// A server goes or comes: the number of the scenario's event.
    Membership(u32),
    /// The gateways hear of it.
    Heard(u32),
    /// The balancer asked to be woken.
    Wake(u32),
    /// A client sends after a pause: the worker it is connected to.
    Client(u32),
    /// A request's service ends.
    Completion(u32),
}

impl Event {
    fn pack(self) -> u64 {
        let (kind, number) = match self {
            Self::Window => (0, 0),
            Self::Membership(n) => (1, n),
            Self::Heard(n) => (2, n),
            Self::Wake(n) => (3, n),
            Self::Client(n) => (4, n),
            Self::Completion(n) => (5, n),
        };
        kind << 32 | u64::from(number)
    }

    fn unpack(packed: u64) -> Self {
        let number = packed as u32;
        match packed >> 32 {
            0 => Self::Window,
            1 => Self::Membership(number),
            2 => Self::Heard(number),
            3 => Self::Wake(number),
            4 => Self::Client(number),
            _ => Self::Completion(number),
        }
    }
}

/// A queue by time; events of one moment come in the order of their kinds and numbers, so a run repeats exactly.
#[derive(Debug, Default)]
pub(crate) struct Events(BinaryHeap<Reverse<u128>>);

impl Events {
    pub(crate) fn push(&mut self, at_ns: u64, event: Event) {
        self.0.push(Reverse(u128::from(at_ns) << 64 | u128::from(event.pack())));
    }

    /// When the next one happens.
    #[inline]
    pub(crate) fn next_ns(&self) -> u64 {
        self.0.peek().map_or(u64::MAX, |Reverse(packed)| (packed >> 64) as u64)
    }

    pub(crate) fn pop(&mut self) -> Option<Event> {
        self.0.pop().map(|Reverse(packed)| Event::unpack(packed as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_then_kind_then_number() {
        let mut events = Events::default();
        let expected = [
            (1, Event::Completion(9)),
            (2, Event::Window),
            (2, Event::Membership(1)),
            (2, Event::Heard(0)),
            (2, Event::Wake(7)),
            (2, Event::Client(3)),
            (2, Event::Completion(2)),
            (2, Event::Completion(3)),
        ];
        expected.iter().rev().for_each(|&(at, event)| events.push(at, event));
        for (at, event) in expected {
            assert_eq!((events.next_ns(), events.pop()), (at, Some(event)));
        }
        assert_eq!(events.next_ns(), u64::MAX);
    }
}
