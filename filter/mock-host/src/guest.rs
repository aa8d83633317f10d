//! A host call's access to the VM that made it.

use wasmtime::{Caller, Memory};

use crate::abi::{Hostcall, Status};
use crate::faults::Verdict;
use crate::vm::VmState;

/// How a host call ends when it does not end well.
pub(crate) enum Refusal {
    Status(Status),
    Trap(wasmtime::Error),
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

pub(crate) type Outcome<T = ()> = Result<T, Refusal>;

/// Runs the body of one host call: counts it, lets injected faults strike first, and turns its
/// outcome into the number or the trap that the module sees.
pub(crate) fn guarded(
    mut caller: Caller<'_, VmState>,
    hostcall: Hostcall,
    body: impl FnOnce(&mut Guest<'_, '_>) -> Outcome,
) -> wasmtime::Result<u32> {
    let state = caller.data_mut();
    if let Verdict::Refuse(status) = state.meet(hostcall)? {
        return Ok(status as u32);
    }
    let Some(memory) = state.memory else {
        return Ok(Status::InvalidMemoryAccess as u32);
    };
    match body(&mut Guest { caller: &mut caller, memory }) {
        Ok(()) => Ok(Status::Ok as u32),
        Err(Refusal::Status(status)) => Ok(status as u32),
        Err(Refusal::Trap(error)) => Err(error),
    }
}

/// A pointer and a length, as the module passes them.
pub(crate) type Span = (u32, u32);

/// The bytes of a span.
pub(crate) fn bytes(memory: &[u8], (start, length): Span) -> Result<&[u8], Status> {
    let start = start as usize;
    let end = start.checked_add(length as usize);
    end.and_then(|end| memory.get(start..end)).ok_or(Status::InvalidMemoryAccess)
}

/// Copies as much as both sides hold.
pub(crate) fn copy(from: &[u8], to: &mut [u8]) {
    let length = from.len().min(to.len());
    to[..length].copy_from_slice(&from[..length]);
}

pub(crate) struct Guest<'a, 'b> {
    caller: &'a mut Caller<'b, VmState>,
    memory: Memory,
}

impl Guest<'_, '_> {
    pub(crate) fn state(&mut self) -> &mut VmState {
        self.caller.data_mut()
    }

    /// The VM's memory and its state, both at once.
    pub(crate) fn split(&mut self) -> (&mut [u8], &mut VmState) {
        self.memory.data_and_store_mut(&mut *self.caller)
    }

    pub(crate) fn put<const N: usize>(&mut self, at: u32, value: [u8; N]) -> Outcome {
        let memory = self.memory.data_mut(&mut *self.caller);
        let at = at as usize;
        let place = memory.get_mut(at..at.saturating_add(N)).ok_or(Status::InvalidMemoryAccess)?;
        place.copy_from_slice(&value);
        Ok(())
    }

    /// Hands bytes to the module as Envoy does: in memory from the module's own allocator, its
    /// address and length written to `out`. No bytes: a null address and length 0.
    pub(crate) fn give(
        &mut self,
        length: usize,
        out: Span,
        fill: impl FnOnce(&VmState, &mut [u8]),
    ) -> Outcome {
        let length = u32::try_from(length).map_err(|_| Status::InvalidMemoryAccess)?;
        let mut address = 0;
        if length > 0 {
            address = self.allocate(length)?;
            let (memory, state) = self.split();
            let start = address as usize;
            let place = memory.get_mut(start..start.saturating_add(length as usize));
            fill(state, place.ok_or(Status::InvalidMemoryAccess)?);
        }
        self.put(out.0, address.to_le_bytes())?;
        self.put(out.1, length.to_le_bytes())
    }

    fn allocate(&mut self, length: u32) -> Outcome<u32> {
        let allocate = self.state().allocate.clone().ok_or(Status::InvalidMemoryAccess)?;
        let address = allocate.0.call(&mut *self.caller, length).map_err(Refusal::Trap)?;
        if address == 0 { Err(Status::InvalidMemoryAccess.into()) } else { Ok(address) }
    }
}
