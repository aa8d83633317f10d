//! The servers' cache as one process that shares nothing: a thread a partition, each owning its keys, and messages
//! instead of locks. It answers RESP2 (what Redis speaks) and memcached's text, both pipelined.
//!
//! A request goes through these folders in order. [`serving`](Server): the thread that accepted the connection reads it.
//! `protocol`: its bytes become operations, a round of them at a time. `engine`: an operation on a key of the thread's own
//! partition is done at once; the others travel, all that a turn of the loop found for one partition in one message, and
//! their replies come back in it. A connection's replies leave in the order of its requests, and only then is its next
//! round read: that, and one message under way between any two threads, is what bounds every queue.
//!
//! [`EngineKind::Mutex`] is the contrast: the same threads and one cache behind one lock.

mod engine;
mod limits;
mod protocol;
mod serving;

pub use engine::EngineKind;
pub use limits::Limits;
pub use protocol::Protocol;
pub use serving::{Server, ServerConfig, StartError};
