//! Who owns a key, and how an operation gets there.

mod batch;
mod partition;
mod post;
mod store;

pub(crate) use batch::{Batch, Outgoing, Part, Ticket};
pub(crate) use partition::Partition;
pub(crate) use post::{Inbox, Letter, PostOffice, post_offices};
pub(crate) use store::{Home, Keys, Store};

/// How the threads share the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// Each thread owns a part of the keys.
    SharedNothing,
    /// All threads use one cache, one at a time.
    Mutex,
}
