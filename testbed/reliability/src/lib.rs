//! Breaks a real Envoy with the filter on purpose, and watches it for hours.
//!
//! [`soak`] runs a cluster under a modest load while members come and go, the filter is reconfigured and its VMs trap, and
//! judges by [`trend`] whether anything grows. [`linear_memory`] and [`probe`] see what Envoy's own statistics do not
//! tell: the memory of each VM and the size of the shared data. [`planted_trap`] makes the shipped module trap when a
//! request asks for it.

pub mod error;
pub mod linear_memory;
pub mod planted_trap;
pub mod probe;
pub mod soak;
pub mod trend;

pub use error::ReliabilityError;
