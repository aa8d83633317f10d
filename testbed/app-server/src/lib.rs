//! The stateful server that the gateway shards over: a bounded cache before a database that all servers share.
//!
//! A request goes through these files in order: `http` reads it, [`Slots`] lets it in first come, first served
//! and holds it for its service time, [`Engine`] looks into the [`Cache`] and, on a miss, asks the [`Database`].
//! Another protocol or another engine replaces its file and leaves the others alone.

mod config;
mod database;
mod engine;
mod http;
mod key_path;
mod metrics;
mod server;
mod slots;
mod write_marks;

pub use config::{ConfigError, DatabaseUrl, ServerConfig, ServiceTimes, scan_row_from_us};
pub use database::{Database, DatabaseError, DatabaseFuture, LONGEST_SCAN, open_database};
pub use engine::{CacheOutcome, Engine, EngineError, Found};
pub use metrics::Metrics;
pub use rudolph_cache::{Cache, CacheLimits, LruCache};
pub use server::{RunningServer, StartError, start};
pub use slots::{EnterError, Occupied, Slots};
