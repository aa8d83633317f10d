//! Rudolph as a Proxy-Wasm module: the glue between Envoy's callbacks and [`rudolph_core`].
//!
//! Nothing clever lives here. [`callbacks`] receives what Envoy calls and finds the [`filter::Filter`] of the root
//! context, or the [`status::StatusPage`] where the configuration's mode is that; both ask the core and do what it says
//! through [`host`], the one file that calls Envoy.

#[cfg(target_arch = "wasm32")]
mod callbacks;
#[cfg(target_arch = "wasm32")]
mod filter;
#[cfg(target_arch = "wasm32")]
mod host;
#[cfg(target_arch = "wasm32")]
mod metrics;
#[cfg(target_arch = "wasm32")]
mod status;
#[cfg(target_arch = "wasm32")]
mod store;
