//! Where a test may hold a worker up: before each of its host calls.

use std::fmt;
use std::sync::Arc;

use crate::abi::Hostcall;
use crate::worker::Worker;

/// What happens to a host call that passed the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// It does its work.
    Proceed,
    /// It has no effect, and the VM traps.
    Trap,
}

/// Is asked before each host call of a VM, on the thread that runs it, and may block that thread while other
/// workers run on theirs: a schedule at the grain of single host calls.
pub type Gate = Arc<dyn Fn(Hostcall) -> Pass + Send + Sync>;

/// A worker's gate, if it has one.
#[derive(Clone, Default)]
pub(crate) struct Gated(Option<Gate>);

impl Gated {
    pub(crate) fn pass(&self, hostcall: Hostcall) -> Pass {
        self.0.as_ref().map_or(Pass::Proceed, |gate| gate(hostcall))
    }
}

impl fmt::Debug for Gated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Gated" } else { "open" })
    }
}

impl Worker {
    /// Puts a gate before every host call from now on, those of later VMs of this worker included.
    pub fn set_gate(&mut self, gate: Gate) {
        self.instance.state().gate = Gated(Some(gate));
    }
}
