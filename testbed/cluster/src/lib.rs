//! Starts application servers and a real Envoy on loopback, with one of the shipped configurations, and takes
//! everything down again: when the [`Cluster`] is dropped, and when its process dies, even by SIGKILL.
//!
//! ```no_run
//! # async fn example() -> Result<(), rudolph_cluster::ClusterError> {
//! use rudolph_cluster::Cluster;
//! let mut cluster = Cluster::builder().servers(5).strategy("spread").start().await?;
//! println!("send requests to {}", cluster.envoy_address());
//! cluster.kill_server(2)?;
//! cluster.restart_server(2).await?;
//! # Ok(()) }
//! ```
//!
//! What is rendered are the files of `envoy/standalone/`, read as data: only addresses, the path of the module and the
//! filter's own fields change, and servers and filter configuration move to files that Envoy watches, so that
//! both can change while it runs.

mod admin;
mod baseline;
mod builder;
mod changes;
mod cluster;
mod error;
mod launch;
mod locate;
mod ports;
mod process;
mod procfs;
mod range;
mod render;
mod scratch;
mod server;
mod stub;
mod validate;
mod watched;

pub use admin::AdminAddress;
pub use baseline::Baseline;
pub use builder::Builder;
pub use cluster::Cluster;
pub use error::ClusterError;
pub use procfs::{cpu_time, own_cpu_time};
pub use server::{ServerProgram, ServerSettings};
pub use stub::StubServers;
pub use validate::{envoy_version, validate};
