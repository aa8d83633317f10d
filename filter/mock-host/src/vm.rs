//! The state of one VM that its host calls work on.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use wasmtime::{Memory, TypedFunc};

use crate::abi::Hostcall;
use crate::clock::WorkerClock;
use crate::context::Contexts;
use crate::error::TrapReason;
use crate::faults::{Faults, InjectedTrap, Verdict};
use crate::gate::{Gated, Pass};
use crate::headers::Headers;
use crate::host::Host;
use crate::metrics::MetricIds;
use crate::report::Report;

/// An HTTP call that the module dispatched and that nobody has answered yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpCall {
    /// Names the call when it is answered.
    pub token: u32,
    /// The root context that will hear of the answer.
    pub root: u32,
    /// Name of the cluster.
    pub cluster: String,
    /// Headers, pseudo headers among them.
    pub headers: Headers,
    /// Body.
    pub body: Vec<u8>,
    /// Trailers.
    pub trailers: Headers,
    /// Timeout; zero means none.
    pub timeout: Duration,
}

/// A host call in `_initialize`, `main` or `_start` that Envoy forbids there.
#[derive(Debug)]
pub(crate) struct RestrictedCall(Hostcall);

impl fmt::Display for RestrictedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} while the VM initialises", self.0.name())
    }
}

impl std::error::Error for RestrictedCall {}

#[derive(Debug)]
pub(crate) struct VmState {
    pub(crate) host: Host,
    pub(crate) worker: Option<u32>,
    pub(crate) memory: Option<Memory>,
    pub(crate) allocate: Option<Allocate>,
    pub(crate) clock: WorkerClock,
    pub(crate) vm_configuration: Arc<[u8]>,
    pub(crate) contexts: Contexts,
    pub(crate) faults: Faults,
    pub(crate) gate: Gated,
    pub(crate) report: Report,
    pub(crate) metric_ids: MetricIds,
    pub(crate) http_calls: BTreeMap<u32, HttpCall>,
    pub(crate) last_token: u32,
    /// Only `proxy_log` may be called.
    pub(crate) restricted: bool,
    /// A local response was sent: the filter chain stops whatever the callback returns.
    pub(crate) stop_iteration: bool,
    /// Roots for which the module called `proxy_done`: they are deleted once the callback is over.
    pub(crate) done_roots: Vec<u32>,
    pub(crate) scratch: Vec<u8>,
}

/// The module's `malloc`; counted by reference because cloning a typed function is not cheap.
#[derive(Clone)]
pub(crate) struct Allocate(pub(crate) Arc<TypedFunc<u32, u32>>);

impl fmt::Debug for Allocate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Allocate")
    }
}

impl VmState {
    pub(crate) fn new(
        host: Host,
        worker: Option<u32>,
        vm_configuration: Arc<[u8]>,
        clock: WorkerClock,
    ) -> Self {
        Self {
            host,
            worker,
            memory: None,
            allocate: None,
            clock,
            vm_configuration,
            contexts: Contexts::default(),
            faults: Faults::default(),
            gate: Gated::default(),
            report: Report::default(),
            metric_ids: MetricIds::default(),
            http_calls: BTreeMap::new(),
            last_token: 0,
            restricted: false,
            stop_iteration: false,
            done_roots: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Counts a host call and decides whether it may do its work.
    pub(crate) fn meet(&mut self, hostcall: Hostcall) -> Result<Verdict, wasmtime::Error> {
        if self.restricted && hostcall != Hostcall::Log {
            return Err(wasmtime::Error::new(RestrictedCall(hostcall)));
        }
        self.report.count(hostcall);
        if self.gate.pass(hostcall) == Pass::Trap {
            return Err(wasmtime::Error::new(InjectedTrap));
        }
        match self.faults.meet(hostcall) {
            Verdict::Trap => Err(wasmtime::Error::new(InjectedTrap)),
            verdict => Ok(verdict),
        }
    }

    /// Tokens of HTTP calls go up by four: the low two bits say "HTTP call".
    pub(crate) fn new_token(&mut self) -> u32 {
        self.last_token = self.last_token.wrapping_add(4);
        self.last_token
    }
}

/// Sorts out why a call into the VM failed.
pub(crate) fn trap_reason(error: &wasmtime::Error) -> TrapReason {
    if error.downcast_ref::<InjectedTrap>().is_some() {
        return TrapReason::Injected;
    }
    if error.downcast_ref::<RestrictedCall>().is_some() {
        return TrapReason::Restricted;
    }
    if error.downcast_ref::<wasmtime::Trap>() == Some(&wasmtime::Trap::OutOfFuel) {
        return TrapReason::OutOfFuel;
    }
    TrapReason::Wasm(error.root_cause().to_string())
}
