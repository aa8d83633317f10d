//! Load on one address, closed-loop or open-loop, that knows when it was itself the bottleneck.
//!
//! When to send ([`Pacer`]), when to end ([`StopRule`]) and how to send ([`Sending`]) are separate types. [`LoadRun`] puts
//! them together on a thread of its own; a caller may watch it second by second and stop it early.
//!
//! ```no_run
//! use rudolph_load_generator::{LoadConfig, LoadRun};
//! # async fn example() -> Result<(), rudolph_load_generator::LoadError> {
//! let run = LoadRun::start(LoadConfig::new(([127, 0, 0, 1], 10_000).into()))?;
//! let mut seconds = run.snapshots();
//! while seconds.changed().await.is_ok() {
//!     if let Some(second) = seconds.borrow_and_update().as_ref() {
//!         println!("{} requests", second.requests);
//!     }
//! }
//! println!("{} requests/s", run.finish().await?.rps);
//! # Ok(())
//! # }
//! ```

mod bottleneck;
mod closed_loop;
mod config;
mod error;
mod latency;
mod moves;
mod open_loop;
mod pacing;
mod progress;
mod recording;
mod report;
mod request;
mod run;
mod sending;
mod shared;
mod snapshot;
mod stopping;

pub use bottleneck::{BottleneckReason, GeneratorHealth};
pub use config::{Arrivals, ConfigError, LoadConfig};
pub use error::LoadError;
pub use latency::LatencySummary;
pub use pacing::Pacer;
pub use progress::progress_line;
pub use recording::{CacheMark, Outcome, Reply, SendError};
pub use report::{Report, ServerTotal};
pub use request::{PreparedRequest, encode_key};
pub use run::{LoadRun, Stopper};
pub use sending::{HttpSender, Sending};
pub use snapshot::{ServerSecond, Snapshot};
pub use stopping::{Phase, StopRule};
