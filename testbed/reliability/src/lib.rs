//! Breaks a real Envoy with the filter on purpose, and watches it for hours.
//!
//! [`chaos`] breaks one thing after the other, and compares with Envoy's own `MAGLEV` through the same. [`soak`] runs a cluster under a modest load while members come and go, the filter is reconfigured and its VMs trap, and
//! judges by [`trend`] whether anything grows. [`limits`] has as many connections and workers as a large gateway. [`linear_memory`] and [`probe`] see what Envoy's own statistics do not
//! tell: the memory of each VM and the size of the shared data. [`planted_trap`] makes the shipped module trap when a
//! request asks for it.

pub mod chaos;
pub mod error;
pub mod limits;
pub mod linear_memory;
pub mod planted_trap;
pub mod probe;
pub mod soak;
pub mod trend;

pub use error::ReliabilityError;
