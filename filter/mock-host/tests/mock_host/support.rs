//! What the test modules have in common.
//!
//! A module notes numbers with `$note` and publishes all of them so far with `$publish`, which writes them
//! under the key `out`; tests read them with `notes`. `preamble.wat` says how memory is laid out.

use rudolph_mock_host::{Configuration, FilterModule, Host, Worker};

pub(crate) const PREAMBLE: &str = include_str!("preamble.wat");

/// A module made of the common part and this.
pub(crate) fn module(body: &str) -> FilterModule {
    let bytes =
        wat::parse_str(format!("(module {PREAMBLE} {body})")).expect("the test's module is valid");
    FilterModule::from_bytes(&bytes).expect("the host takes the module")
}

/// A worker with an empty configuration.
pub(crate) fn start(module: &FilterModule, host: &Host) -> Worker {
    Worker::start(module, host, &Configuration::default()).expect("the worker starts")
}

/// One worker of one host.
pub(crate) fn solo(body: &str) -> (Host, Worker) {
    let host = Host::new();
    let worker = start(&module(body), &host);
    (host, worker)
}

/// The numbers published last.
pub(crate) fn notes(host: &Host) -> Vec<u32> {
    let bytes = host.shared_data().get("out").unwrap_or_default();
    bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(*word.first_chunk().expect("four bytes")))
        .collect()
}

pub(crate) const PLAIN: [(&str, &str); 3] =
    [(":method", "GET"), (":path", "/a"), (":authority", "example")];
