//! The shared store of one gateway, or of several that talk: what one worker writes, the others may see only after a
//! delay.

use std::collections::{HashMap, VecDeque};

use rudolph_core::agreement::{Expect, SharedStore, StoreFault, Stored, Versioned};

/// One value as it was written.
#[derive(Clone, Debug)]
struct Write {
    bytes: Vec<u8>,
    version: u32,
    writer: u32,
    at_ns: u64,
}

/// All values. Of each it keeps the writes that somebody may still see.
#[derive(Clone, Debug)]
pub(super) struct Store {
    values: HashMap<String, VecDeque<Write>>,
    delay_ns: u64,
    version: u32,
}

impl Store {
    pub(super) fn new(delay_ns: u64) -> Self {
        Self { values: HashMap::new(), delay_ns, version: 0 }
    }

    /// The store as one worker sees it now.
    pub(super) fn seen_by(&mut self, worker: u32, now_ns: u64) -> View<'_> {
        View { store: self, worker, now_ns }
    }
}

/// A worker's own writes are seen at once, those of others after the delay.
#[derive(Debug)]
pub(super) struct View<'a> {
    store: &'a mut Store,
    worker: u32,
    now_ns: u64,
}

impl View<'_> {
    fn sees(&self, write: &Write) -> bool {
        write.writer == self.worker || write.at_ns + self.store.delay_ns <= self.now_ns
    }
}

impl SharedStore for View<'_> {
    fn get(&mut self, key: &str) -> Result<Option<Versioned>, StoreFault> {
        let writes = self.store.values.get(key);
        let seen = writes.and_then(|writes| writes.iter().rev().find(|write| self.sees(write)));
        Ok(seen.map(|write| Versioned { bytes: write.bytes.clone(), version: write.version }))
    }

    fn set(&mut self, key: &str, value: &[u8], expect: Expect) -> Result<Stored, StoreFault> {
        self.store.version += 1;
        let (delay_ns, version, now_ns) = (self.store.delay_ns, self.store.version, self.now_ns);
        let write = Write { bytes: value.to_vec(), version, writer: self.worker, at_ns: now_ns };
        let Some(writes) = self.store.values.get_mut(key) else {
            if expect != Expect::Absent {
                return Ok(Stored::Lost);
            }
            self.store.values.insert(key.to_owned(), VecDeque::from([write]));
            return Ok(Stored::Yes);
        };
        if writes.back().is_some_and(|newest| expect != Expect::Version(newest.version)) {
            return Ok(Stored::Lost);
        }
        writes.push_back(write);
        // What everybody can see hides all that is older.
        while writes.get(1).is_some_and(|next| next.at_ns + delay_ns <= now_ns) {
            writes.pop_front();
        }
        Ok(Stored::Yes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(view: &mut View<'_>) -> Option<(Vec<u8>, u32)> {
        view.get("key").unwrap().map(|found| (found.bytes, found.version))
    }

    #[test]
    fn others_see_a_write_after_the_delay_and_cannot_overwrite_it_unseen() {
        let mut store = Store::new(50);
        assert_eq!(store.seen_by(1, 0).set("key", b"a", Expect::Absent), Ok(Stored::Yes));
        let (_, first) = text(&mut store.seen_by(1, 0)).unwrap();
        assert_eq!(text(&mut store.seen_by(2, 49)), None);
        assert_eq!(store.seen_by(2, 49).set("key", b"x", Expect::Absent), Ok(Stored::Lost));
        assert_eq!(text(&mut store.seen_by(2, 50)), Some((b"a".to_vec(), first)));
        let put = store.seen_by(1, 60).set("key", b"b", Expect::Version(first));
        assert_eq!(put, Ok(Stored::Yes));
        assert_eq!(text(&mut store.seen_by(2, 61)), Some((b"a".to_vec(), first)));
        assert_eq!(text(&mut store.seen_by(1, 61)).unwrap().0, b"b");
        let stale = store.seen_by(2, 61).set("key", b"x", Expect::Version(first));
        assert_eq!(stale, Ok(Stored::Lost));
        assert_eq!(text(&mut store.seen_by(2, 110)).unwrap().0, b"b");
    }
}
