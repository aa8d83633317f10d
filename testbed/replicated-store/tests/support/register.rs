//! The model: one key is a register, and what clients saw must be what one register could have answered.

use std::collections::HashSet;

/// What a client asked of one key, and what it knows of the outcome. Values are numbers that no two writes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Acknowledged, or else it may have happened at any time since, or never.
    Write { value: u64, acknowledged: bool },
    /// `None`: there was no value.
    Read(Option<u64>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub what: What,
    pub began: u64,
    pub ended: u64,
}

impl Event {
    fn is_certain(&self) -> bool {
        !matches!(self.what, What::Write { acknowledged: false, .. })
    }

    fn ended(&self) -> u64 {
        if self.is_certain() { self.ended } else { u64::MAX }
    }
}

/// Whether the events of one key can be put in an order that a register would have answered so, in which nothing comes
/// before what had ended when it began. Looks at every order, but at each place of it only once.
pub fn is_linearizable(events: &[Event]) -> bool {
    let mut events = events.to_vec();
    events.sort_by_key(|event| event.began);
    let mut search = Search { events: &events, seen: HashSet::new() };
    search.from(vec![false; events.len()], None)
}

struct Search<'e> {
    events: &'e [Event],
    seen: HashSet<(Vec<bool>, Option<u64>)>,
}

impl Search<'_> {
    fn from(&mut self, done: Vec<bool>, value: Option<u64>) -> bool {
        let left = || self.events.iter().zip(&done).filter(|(_, done)| !**done);
        if !left().any(|(event, _)| event.is_certain()) {
            return true;
        }
        if !self.seen.insert((done.clone(), value)) {
            return false;
        }
        let first_end = left().map(|(event, _)| event.ended()).min().unwrap_or(u64::MAX);
        for i in 0..self.events.len() {
            let event = &self.events[i];
            if done[i] || event.began > first_end {
                continue;
            }
            let after = match event.what {
                What::Write { value, .. } => Some(value),
                What::Read(read) if read == value => value,
                What::Read(_) => continue,
            };
            let mut done = done.clone();
            done[i] = true;
            // A read that fits can be taken at once: it changes nothing.
            let is_read = matches!(event.what, What::Read(_));
            if self.from(done, after) {
                return true;
            }
            if is_read {
                return false;
            }
        }
        false
    }
}
