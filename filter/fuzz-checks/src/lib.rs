//! What must hold for any bytes that come from outside: a check a kind of input. A check panics where it does not
//! hold, which is what a fuzzer looks for. `make fuzz` feeds them by libFuzzer; `cargo test` with the corpora of
//! `filter/fuzz/corpus`, where inputs that once failed are kept.

mod admin;
mod config;
mod key;
mod shared_data;
#[cfg(feature = "trace")]
mod trace;

pub use admin::admin;
pub use config::config;
pub use key::key;
pub use shared_data::shared_data;
#[cfg(feature = "trace")]
pub use trace::trace;
