//! A replicated store behind the filter: every server owns a Redis, or an embedded store, and the filter names a key's
//! replicas in a header.
//!
//! A request goes through these files in order: [`server`] accepts it, `http` reads it, `coordinator` asks the replicas
//! and brings them what they lack, `answers` is what they answer, [`store`] keeps the copies, by `version`. Beside that,
//! `upkeep` finds out which of the `peers` are up, `placement` says who should hold what among them, and `repair`
//! fetches what this server lacks. docs/decisions/replicated-store.md argues for the protocol.

mod answers;
pub mod client;
mod coordinator;
mod http;
mod limits;
mod link;
mod node;
mod peers;
mod placement;
mod repair;
mod resp;
mod server;
mod store;
mod upkeep;
mod version;

pub use server::{Settings, serve};
pub use store::StoreError;
