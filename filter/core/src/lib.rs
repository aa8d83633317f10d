//! The heart of Rudolph: which server a request goes to, and how the workers of a gateway agree on it, without
//! host, clock, entropy or I/O. Time and seeds are arguments; a shared store is a trait; decisions come back as values.
//!
//! **A request.** [`key`] finds its key and [`hash`] names it. [`worker::Worker::route`] asks the [`router`], which
//! looks the key's bin up in the [`table`] of the plan in force; a hot key, known from the worker's own [`sketch`] or
//! from the plan's [`hot`] keys, goes to the least loaded ([`loads`]) of several servers, any other to its home. The
//! ordered owners go back as the text that Envoy routes by. When the request is over, [`loads`] forgets it and
//! [`audit`] may look where it really went.
//!
//! **An epoch.** On each tick [`worker`] publishes what it counted under its own slot in the shared store
//! ([`agreement`], sealed by [`wire`]). One worker claims the next epoch, adds all slots up and calls the pure
//! [`planner`] on the [`servers`] that the configuration or the [`admin`] interface named; it publishes one
//! [`plan`], which every worker spells out as a table ([`rendezvous`] race or [`arcs`]) and adopts whole when its
//! time comes. What there is to tell is in [`telemetry`]; what there is to choose, in [`config`].
//!
//! **A look.** While somebody may look, workers leave in the shared store what is [`shown`]. The status page, a crate of
//! its own, reads it.

pub mod admin;
pub mod agreement;
pub mod arcs;
pub mod audit;
pub mod config;
pub mod hash;
pub mod hot;
pub mod key;
pub mod loads;
pub mod plan;
pub mod planner;
pub mod rendezvous;
pub mod router;
pub mod servers;
pub mod shown;
pub mod sketch;
pub mod table;
pub mod telemetry;
pub mod wire;
pub mod worker;
