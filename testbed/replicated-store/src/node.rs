//! One server: its copies, the others as it sees them, and how sure it is of what it has.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::time::Duration;

use bytes::Bytes;
use rudolph_cache::LruCache;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::peers::{LONGEST_GAP, Peers, SELF};
use crate::placement::Placement;
use crate::store::Store;
use crate::version::Version;

const FENCE_STEP: Duration = Duration::from_millis(2);

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) store: Store,
    pub(crate) peers: Peers,
    /// Drawn at the start: the writer of this run's versions.
    pub(crate) run: u64,
    /// Copies in memory: of its own as long as their versions are, and of others for what `spread` sends here.
    pub(crate) cache: RefCell<LruCache>,
    /// The greatest counter seen.
    clock: Cell<u64>,
    /// The servers with whom this one has all that was acknowledged, and so where it can be sure of what.
    settled: RefCell<Option<Rc<Placement>>>,
    seen_alive: Cell<Instant>,
    /// What is settled must be settled again.
    pub(crate) unsettled: Notify,
    /// Until then every other server counts on this one.
    counted_on_until: Cell<Instant>,
    /// Held by the requests that began since the last fence.
    latest: RefCell<Rc<()>>,
    /// Those that requests from before it may still hold.
    earlier: RefCell<Vec<Weak<()>>>,
    doubts: Cell<u64>,
    pub(crate) counts: Counts,
}

/// What happened so far.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Reads of a value that another server had.
    pub(crate) forwarded: Cell<u64>,
    /// Copies fetched in the background.
    pub(crate) fetched: Cell<u64>,
    /// Copies that a read brought to a replica that lacked them.
    pub(crate) mended: Cell<u64>,
}

pub(crate) fn count(counter: &Cell<u64>) {
    counter.set(counter.get() + 1);
}

impl Node {
    pub(crate) fn new(store: Store, peers: Peers, run: u64, cache: LruCache) -> Self {
        Self {
            clock: Cell::new(store.newest()),
            store,
            peers,
            run,
            cache: RefCell::new(cache),
            settled: RefCell::default(),
            seen_alive: Cell::new(Instant::now()),
            unsettled: Notify::new(),
            counted_on_until: Cell::new(Instant::now()),
            latest: RefCell::default(),
            earlier: RefCell::default(),
            doubts: Cell::new(0),
            counts: Counts::default(),
        }
    }

    /// A version over `above` that no other write has or had.
    pub(crate) fn next_version(&self, above: Version) -> Version {
        let counter = self.clock.get().max(above.counter) + 1;
        self.clock.set(counter);
        Version { counter, writer: self.run }
    }

    /// Whether this server has every acknowledged write of this key: it is an owner and was one when it last had fetched
    /// everything, and has not been away since.
    pub(crate) fn is_sure(&self, key: &[u8]) -> bool {
        self.feel_alive();
        let owns = |placement: &Placement| placement.owners(key).any(|owner| owner == SELF);
        let settled = self.settled.borrow();
        let now = self.peers.placement();
        settled.as_ref().is_some_and(|then| owns(then) && (Rc::ptr_eq(then, &now) || owns(&now)))
    }

    /// Whether no server has acknowledged, or will for a moment, a write of this key without this one: it is sure, and every
    /// other server heard from it a moment ago.
    pub(crate) fn is_counted_on(&self, key: &[u8]) -> bool {
        self.is_sure(key) && Instant::now() < self.counted_on_until.get()
    }

    /// Whether this server may have missed that others came or went: then it carries nothing out.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.feel_alive();
        self.settled.borrow().is_none()
    }

    /// After each answer to a ping.
    pub(crate) fn note_heard(&self) {
        let settled = self.settled.borrow();
        let until = settled.as_ref().and_then(|placement| self.peers.counted_on_until(placement));
        self.counted_on_until.set(until.unwrap_or_else(Instant::now));
    }

    /// A server that was stopped for a while may have been left out of writes. It notices before it says anything.
    pub(crate) fn feel_alive(&self) {
        let now = Instant::now();
        if now.duration_since(self.seen_alive.replace(now)) > LONGEST_GAP {
            self.doubt();
        }
    }

    /// From now on this server is sure of nothing, until it has settled with the others again.
    pub(crate) fn doubt(&self) {
        self.doubts.set(self.doubts.get() + 1);
        self.settled.replace(None);
        self.unsettled.notify_one();
    }

    /// How often this server came to doubt.
    pub(crate) fn doubts(&self) -> u64 {
        self.doubts.get()
    }

    pub(crate) fn settle(&self, placement: Rc<Placement>) {
        self.settled.replace(Some(placement));
        self.note_heard();
    }

    /// The servers with whom this one has settled, if nothing has changed since.
    pub(crate) fn is_settled(&self) -> bool {
        let now = self.peers.placement();
        self.settled.borrow().as_ref().is_some_and(|then| Rc::ptr_eq(then, &now))
    }

    /// Held while a request is worked at.
    pub(crate) fn begin(&self) -> Rc<()> {
        Rc::clone(&self.latest.borrow())
    }

    /// Ends when no request is underway that is underway now.
    pub(crate) fn fence(&self) -> impl Future<Output = ()> + use<> {
        let last = self.latest.replace(Rc::default());
        let mut earlier = self.earlier.borrow_mut();
        earlier.push(Rc::downgrade(&last));
        earlier.retain(|requests| requests.strong_count() > 0);
        drop(last);
        let before = earlier.clone();
        async move {
            while before.iter().any(|requests| requests.strong_count() > 0) {
                tokio::time::sleep(FENCE_STEP).await;
            }
        }
    }

    /// One item of an index: whether this server should fetch it.
    pub(crate) fn wants(&self, placement: &Placement, key: &Bytes, version: Version) -> bool {
        version > self.store.version(key) && placement.owners(key).any(|owner| owner == SELF)
    }
}
