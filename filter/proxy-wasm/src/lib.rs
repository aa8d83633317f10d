//! Rudolph as a Proxy-Wasm module: the glue between Envoy's callbacks and [`rudolph_core`].
//!
//! Nothing clever lives here. [`callbacks`] receives what Envoy calls and finds the [`filter::Filter`] of the root
//! context; the filter asks the core and does what it says through [`host`], the one file that calls Envoy.

#[cfg(target_arch = "wasm32")]
mod callbacks;
#[cfg(target_arch = "wasm32")]
mod filter;
#[cfg(target_arch = "wasm32")]
mod host;
#[cfg(target_arch = "wasm32")]
mod metrics;
#[cfg(target_arch = "wasm32")]
mod store;
