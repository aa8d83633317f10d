//! A discrete-event simulator of gateways in front of servers with caches. Servers, queues, caches and time are
//! simulated; what routes is the filter's own core, driven call by call as the shipped module drives it, so a figure here
//! is a figure of the code that ships. Rivals that Envoy or others have exist here alone.
//!
//! A [`scenario`] is a TOML file, checked field by field and perhaps a sweep of many. [`run`] runs each strategy with
//! each seed in the `engine`, where the strategies are behind one trait (`balancer`): `core_driver` for ours,
//! `rivals` for the others. [`report`] turns what was measured into rows. [`trace`] puts somebody's
//! own keys in the place of the workload.

mod balancer;
mod core_driver;
mod engine;
pub mod report;
mod rivals;
pub mod run;
pub mod scenario;
pub mod trace;

pub use engine::{Measured, Second};
