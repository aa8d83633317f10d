use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
    sync::{Mutex, MutexGuard, PoisonError},
};

const STRIPES: usize = 256;

/// Keeps the cache from holding an older value than the database: whoever wants to put a value in the cache must have
/// been alone with its key since it asked the database.
///
/// Keys share 256 stripes, so a value is now and then not kept without need; a stale one is never kept.
#[derive(Debug)]
pub(crate) struct WriteMarks {
    stripes: [Mutex<Stripe>; STRIPES],
}

#[derive(Clone, Copy, Debug, Default)]
struct Stripe {
    started: u64,
    finished: u64,
}

/// Taken before asking the database.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    started: u64,
    alone: bool,
}

impl WriteMarks {
    pub(crate) fn new() -> Self {
        Self { stripes: std::array::from_fn(|_| Mutex::default()) }
    }

    pub(crate) fn begin_read(&self, key: &[u8]) -> Mark {
        let stripe = self.stripe(key);
        Mark { started: stripe.started, alone: stripe.started == stripe.finished }
    }

    /// True if no write was under way at any time since the mark.
    pub(crate) fn may_fill(&self, key: &[u8], mark: Mark) -> bool {
        mark.alone && self.stripe(key).started == mark.started
    }

    /// Each must be ended, also when the database failed.
    pub(crate) fn begin_write(&self, key: &[u8]) -> Mark {
        let mut stripe = self.stripe(key);
        let alone = stripe.started == stripe.finished;
        stripe.started += 1;
        Mark { started: stripe.started, alone }
    }

    /// True if no other write overlapped this one.
    pub(crate) fn end_write(&self, key: &[u8], mark: Mark) -> bool {
        let mut stripe = self.stripe(key);
        stripe.finished += 1;
        mark.alone && stripe.started == mark.started
    }

    fn stripe(&self, key: &[u8]) -> MutexGuard<'_, Stripe> {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let index = usize::try_from(hasher.finish() % STRIPES as u64).unwrap_or(0);
        let stripe = self.stripes[index].lock();
        stripe.unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_in_between_forbids_the_fill() {
        let marks = WriteMarks::new();
        let before = marks.begin_read(b"k");
        assert!(marks.may_fill(b"k", before));
        let write = marks.begin_write(b"k");
        let during = marks.begin_read(b"k");
        assert!(!marks.may_fill(b"k", before) && !marks.may_fill(b"k", during));
        assert!(marks.end_write(b"k", write));
        assert!(!marks.may_fill(b"k", before) && !marks.may_fill(b"k", during));
        let after = marks.begin_read(b"k");
        assert!(marks.may_fill(b"k", after));
    }

    #[test]
    fn of_overlapping_writes_none_is_kept() {
        let marks = WriteMarks::new();
        let (first, second) = (marks.begin_write(b"k"), marks.begin_write(b"k"));
        assert!(!marks.end_write(b"k", first));
        assert!(!marks.end_write(b"k", second));
        let alone = marks.begin_write(b"k");
        assert!(marks.end_write(b"k", alone));
    }
}
