//! Buffers and properties.

use std::sync::Arc;

use wasmtime::Linker;

use super::define;
use crate::abi::{Hostcall, Status, buffer_type};
use crate::guest::{Guest, Outcome, bytes, copy};
use crate::vm::VmState;

pub(super) fn define_all(linker: &mut Linker<VmState>) -> wasmtime::Result<()> {
    define!(linker, GetBufferBytes, (kind: u32, start: u32, max: u32, data: u32, size: u32), get_buffer_bytes);
    define!(linker, GetProperty, (path: u32, path_size: u32, data: u32, size: u32), get_property);
    define!(linker, SetProperty, (path: u32, path_size: u32, data: u32, size: u32), set_property);
    Ok(())
}

/// A buffer that does not exist at this moment is not found; beyond the end of one that does
/// there are no bytes.
fn get_buffer_bytes(
    guest: &mut Guest<'_, '_>,
    kind: u32,
    start: u32,
    max: u32,
    data: u32,
    size: u32,
) -> Outcome {
    if kind > buffer_type::MAX {
        return Err(Status::BadArgument.into());
    }
    let available = buffer(guest.state(), kind).ok_or(Status::NotFound)?.len();
    let start = start as usize;
    let length = available.saturating_sub(start).min(max as usize);
    guest.give(length, (data, size), |state, out| {
        let bytes = buffer(state, kind).unwrap_or_default();
        copy(bytes.get(start..).unwrap_or_default(), out);
    })
}

fn buffer(state: &VmState, kind: u32) -> Option<&[u8]> {
    match kind {
        buffer_type::VM_CONFIGURATION => Some(&state.vm_configuration),
        buffer_type::PLUGIN_CONFIGURATION => plugin_configuration(state),
        buffer_type::HTTP_CALL_RESPONSE_BODY => {
            state.contexts.target_answer().map(|answer| answer.body.as_slice())
        }
        // Bodies and messages that the mock host never has: there, and empty.
        _ => Some(&[]),
    }
}

/// There only while the root is created or configured.
fn plugin_configuration(state: &VmState) -> Option<&[u8]> {
    let target = state.contexts.target();
    let root = state.contexts.configuring.filter(|&root| root == target)?;
    state.contexts.roots.get(&root).map(|root| &*root.plugin_configuration)
}

fn get_property(
    guest: &mut Guest<'_, '_>,
    path: u32,
    path_size: u32,
    data: u32,
    size: u32,
) -> Outcome {
    let (memory, state) = guest.split();
    let path = bytes(memory, (path, path_size))?;
    let own = state
        .contexts
        .target_stream()
        .and_then(|stream| stream.properties.get(path).map(Arc::clone));
    let value = own.or_else(|| state.host.property(path)).ok_or(Status::NotFound)?;
    guest.give(value.len(), (data, size), |_, out| copy(&value, out))
}

/// Properties are set on a stream; a root context has none.
fn set_property(
    guest: &mut Guest<'_, '_>,
    path: u32,
    path_size: u32,
    data: u32,
    size: u32,
) -> Outcome {
    let (memory, state) = guest.split();
    let path = bytes(memory, (path, path_size))?;
    let value = bytes(memory, (data, size))?;
    let stream = state.contexts.target_stream().ok_or(Status::NotFound)?;
    stream.properties.insert(path.to_vec(), value.into());
    Ok(())
}
