//! Trims a Wasm module to the exports on a keep-list.
//!
//! Envoy calls every Proxy-Wasm export that exists, once a stream or more, whether or not it does
//! anything. An SDK exports them all; a filter that needs five should ship five.

mod args;
mod error;
mod keep_list;
mod trim;

pub use args::{Args, USAGE};
pub use error::TrimError;
pub use keep_list::KeepList;
pub use trim::trim;
