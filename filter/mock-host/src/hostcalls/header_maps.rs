//! Headers of requests and of callouts' responses.

use wasmtime::Linker;

use super::define;
use crate::abi::{Hostcall, Status, map_type};
use crate::guest::{Guest, Outcome, Span, bytes, copy};
use crate::headers::Headers;
use crate::pairs;
use crate::vm::VmState;

pub(super) fn define_all(linker: &mut Linker<VmState>) -> wasmtime::Result<()> {
    define!(linker, GetHeaderMapValue, (map: u32, name: u32, name_size: u32, data: u32, size: u32), get_value);
    define!(linker, GetHeaderMapPairs, (map: u32, data: u32, size: u32), get_pairs);
    define!(linker, SetHeaderMapPairs, (map: u32, data: u32, size: u32), set_pairs);
    define!(linker, RemoveHeaderMapValue, (map: u32, name: u32, name_size: u32), remove);
    define!(
        linker,
        ReplaceHeaderMapValue,
        (map: u32, name: u32, name_size: u32, value: u32, value_size: u32),
        |guest, map, name, name_size, value, value_size| {
            change(guest, map, (name, name_size), (value, value_size), Headers::replace)
        }
    );
    define!(
        linker,
        AddHeaderMapValue,
        (map: u32, name: u32, name_size: u32, value: u32, value_size: u32),
        |guest, map, name, name_size, value, value_size| {
            change(guest, map, (name, name_size), (value, value_size), Headers::add)
        }
    );
    Ok(())
}

fn check_map(map: u32) -> Result<(), Status> {
    if map > map_type::MAX { Err(Status::BadArgument) } else { Ok(()) }
}

fn get_value(
    guest: &mut Guest<'_, '_>,
    map: u32,
    name: u32,
    name_size: u32,
    data: u32,
    size: u32,
) -> Outcome {
    check_map(map)?;
    let (memory, state) = guest.split();
    let place = state.contexts.find_header(map, bytes(memory, (name, name_size))?)?;
    guest.give(place.at.len(), (data, size), |state, out| {
        copy(state.contexts.header_at(&place), out)
    })
}

/// A map that does not exist reads as an empty one.
fn get_pairs(guest: &mut Guest<'_, '_>, map: u32, data: u32, size: u32) -> Outcome {
    check_map(map)?;
    let state = guest.state();
    let mut serialised = std::mem::take(&mut state.scratch);
    serialised.clear();
    if let Some(headers) = state.contexts.readable(state.contexts.target(), map) {
        pairs::serialise(headers, &mut serialised);
    }
    let outcome = guest.give(serialised.len(), (data, size), |_, out| copy(&serialised, out));
    guest.state().scratch = serialised;
    outcome
}

fn set_pairs(guest: &mut Guest<'_, '_>, map: u32, data: u32, size: u32) -> Outcome {
    check_map(map)?;
    let (memory, state) = guest.split();
    let headers = pairs::parse(bytes(memory, (data, size))?);
    *state.contexts.writable(map)? = headers;
    Ok(())
}

fn remove(guest: &mut Guest<'_, '_>, map: u32, name: u32, name_size: u32) -> Outcome {
    check_map(map)?;
    let (memory, state) = guest.split();
    let name = bytes(memory, (name, name_size))?;
    state.contexts.writable(map)?.remove(name);
    Ok(())
}

fn change(
    guest: &mut Guest<'_, '_>,
    map: u32,
    name: Span,
    value: Span,
    apply: fn(&mut Headers, &[u8], &[u8]),
) -> Outcome {
    check_map(map)?;
    let (memory, state) = guest.split();
    let (name, value) = (bytes(memory, name)?, bytes(memory, value)?);
    apply(state.contexts.writable(map)?, name, value);
    Ok(())
}
