//! A mock Proxy-Wasm host that behaves as Envoy 1.40 does, for tests and simulations of the compiled filter.
//!
//! A [`FilterModule`] is the compiled `.wasm`. A [`Host`] is one gateway process: shared data, metrics,
//! log and clock. A [`Worker`] is one of its worker threads: a VM of its own, with the host's data behind it.
//! All of it is deterministic as long as one worker runs at a time: no time passes and nothing happens unless the
//! test says so. Workers may be moved to threads of their own, where a [`Gate`] holds them up between host calls.
//!
//! Envoy 1.40 with n worker threads makes n + 2 VMs of a filter, as observed on the real binary:
//! - a canary on the main thread, configured and dropped: [`try_configuration`];
//! - one more on the main thread that lives, ticks and gets the answers to its HTTP calls, but never sees a
//!   request: here a [`Worker`] that the test sends none;
//! - one a worker thread.
//!
//! ```no_run
//! use rudolph_mock_host::{Configuration, FilterModule, Host, Worker};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let module = FilterModule::from_file("filter.wasm")?;
//! let host = Host::new();
//! let mut worker = Worker::start(&module, &host, &Configuration::plugin(r#"{"strategy":"spread"}"#))?;
//! host.clock().advance(std::time::Duration::from_millis(250));
//! worker.tick()?;
//! let stream = worker.request(&[(":method", "GET"), (":path", "/a"), (":authority", "example")])?;
//! let owners = stream.headers.get("x-rudolph-upstream");
//! println!("{owners:?}, {} host calls", worker.hostcalls().total());
//! worker.finish(stream)?;
//! # Ok(())
//! # }
//! ```

mod abi;
mod clock;
mod context;
mod error;
mod exports;
mod faults;
mod gate;
mod guest;
mod headers;
mod host;
mod hostcalls;
mod http_calls;
mod instance;
mod locked;
mod log;
mod metrics;
mod module;
mod pairs;
mod report;
mod requests;
mod shared_data;
mod vm;
mod worker;

pub use abi::{Action, Callback, Hostcall, LogLevel, MetricType, Status};
pub use clock::{Clock, WorkerClock};
pub use context::LocalResponse;
pub use error::{ModuleError, TrapReason, WorkerError};
pub use gate::{Gate, Pass};
pub use headers::Headers;
pub use host::Host;
pub use log::{Log, LogLine};
pub use metrics::{HistogramSummary, Metrics};
pub use module::{ExternKind, FilterModule};
pub use report::{CallbackTotals, HostcallCounts};
pub use requests::{RequestOptions, Stream};
pub use shared_data::{SharedData, SharedWrite};
pub use vm::HttpCall;
pub use worker::{Configuration, Worker, try_configuration};
