//! One seeded key stream, used by the demo, the load generator, the experiments and the simulator.
//!
//! The same [`WorkloadSpec`], asked at the same times, gives the same stream on every machine: there is no entropy and
//! no clock here, time is the argument of [`KeyStream::next`]. The only I/O is reading a replay file.
//!
//! ```
//! use rudolph_workload::WorkloadSpec;
//! let mut stream = WorkloadSpec::default().build()?;
//! let step = stream.next(0);
//! let mut name = Vec::new();
//! stream.write_key(step.key, &mut name);
//! assert!(name.starts_with(b"k"));
//! # Ok::<(), rudolph_workload::SpecError>(())
//! ```

mod error;
mod names;
mod permutation;
mod ranges;
mod replay;
mod rng;
mod source;
mod spec;
mod stream;
mod value;
mod zipf;

pub use error::SpecError;
pub use names::{bucket_of, bucketed_name, name_of};
pub use permutation::Permutation;
pub use ranges::Ranges;
pub use rng::SplitMix64;
pub use spec::{AlphaRamp, KeySpec, ValueBytes, WorkloadSpec};
pub use stream::{KeyId, KeyStream, Operation, Step};
pub use value::derived_value;
pub use zipf::Zipf;

/// Longest key that any tool of the testbed sends or accepts.
pub const MAX_KEY_BYTES: usize = 1024;
/// Longest value that a workload may ask for.
pub const MAX_VALUE_BYTES: usize = 1 << 20;
