//! Shared data and metrics.

use wasmtime::Linker;

use super::define;
use crate::abi::{Hostcall, Status};
use crate::guest::{Guest, Outcome, bytes, copy};
use crate::vm::VmState;

pub(super) fn define_all(linker: &mut Linker<VmState>) -> wasmtime::Result<()> {
    define!(linker, GetSharedData, (key: u32, key_size: u32, data: u32, size: u32, cas: u32), get_shared_data);
    define!(linker, SetSharedData, (key: u32, key_size: u32, data: u32, size: u32, cas: u32), set_shared_data);
    define!(linker, DefineMetric, (kind: u32, name: u32, name_size: u32, id: u32), define_metric);
    define!(linker, GetMetric, (id: u32, value: u32), get_metric);
    define!(linker, RecordMetric, (id: u32, value: u64), record_metric);
    define!(linker, IncrementMetric, (id: u32, offset: i64), increment_metric);
    Ok(())
}

fn get_shared_data(
    guest: &mut Guest<'_, '_>,
    key: u32,
    key_size: u32,
    data: u32,
    size: u32,
    cas: u32,
) -> Outcome {
    let (memory, state) = guest.split();
    let found = state.host.shared_data().get_versioned(bytes(memory, (key, key_size))?);
    let (value, version) = found.ok_or(Status::NotFound)?;
    guest.give(value.len(), (data, size), |_, out| copy(&value, out))?;
    guest.put(cas, version.to_le_bytes())
}

fn set_shared_data(
    guest: &mut Guest<'_, '_>,
    key: u32,
    key_size: u32,
    data: u32,
    size: u32,
    cas: u32,
) -> Outcome {
    let (memory, state) = guest.split();
    let (key, value) = (bytes(memory, (key, key_size))?, bytes(memory, (data, size))?);
    Ok(state.host.shared_data().set_by(state.worker, key, value, cas)?)
}

fn define_metric(
    guest: &mut Guest<'_, '_>,
    kind: u32,
    name: u32,
    name_size: u32,
    id: u32,
) -> Outcome {
    let (memory, state) = guest.split();
    let name = bytes(memory, (name, name_size))?;
    let given = state.metric_ids.define(state.host.metrics(), kind, name)?;
    guest.put(id, given.to_le_bytes())
}

fn get_metric(guest: &mut Guest<'_, '_>, id: u32, value: u32) -> Outcome {
    let state = guest.state();
    let found = state.metric_ids.get(state.host.metrics(), id)?;
    guest.put(value, found.to_le_bytes())
}

fn record_metric(guest: &mut Guest<'_, '_>, id: u32, value: u64) -> Outcome {
    let state = guest.state();
    Ok(state.metric_ids.record(state.host.metrics(), id, value)?)
}

fn increment_metric(guest: &mut Guest<'_, '_>, id: u32, offset: i64) -> Outcome {
    let state = guest.state();
    Ok(state.metric_ids.increment(state.host.metrics(), id, offset)?)
}
