//! What the deployment tests share: a list of named checks, commands with a time limit, and a client of the gateway.
//!
//! ```no_run
//! # async fn example() -> std::process::ExitCode {
//! use rudolph_deployments::{Checks, Gateway, numbered_keys};
//! let gateway = Gateway::new(([127, 0, 0, 1], 10_000).into());
//! let mut checks = Checks::new();
//! checks
//!     .check("a key meets the same server", async {
//!         let keys = numbered_keys("cart", 2000);
//!         let before = gateway.servers_of(&keys).await?;
//!         let after = gateway.servers_of(&keys).await?;
//!         Ok(format!("{} of {} keys moved", before.moved_in(&after).len(), keys.len()))
//!     })
//!     .await;
//! checks.finish()
//! # }
//! ```

mod checks;
mod command;
mod failure;
mod gateway;
mod http;
mod load;
mod prometheus;
mod status_page;
mod waiting;

pub use checks::Checks;
pub use command::{Cmd, CommandError, Output};
pub use failure::Failure;
pub use gateway::{Answers, Gateway, Reply, numbered_keys};
pub use http::{HttpError, Page, get};
pub use load::BackgroundLoad;
pub use prometheus::{Sample, Samples};
pub use status_page::{owners_of, servers_shown, status_of};
pub use waiting::eventually;
