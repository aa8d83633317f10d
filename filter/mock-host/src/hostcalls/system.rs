//! Log, clock, tick period, contexts.

use wasmtime::Linker;

use super::define;
use crate::abi::{Hostcall, LogLevel, Status};
use crate::context::Access;
use crate::guest::{Guest, Outcome, bytes};
use crate::log::LogLine;
use crate::vm::VmState;

pub(super) fn define_all(linker: &mut Linker<VmState>) -> wasmtime::Result<()> {
    define!(linker, Log, (level: u32, data: u32, size: u32), log);
    define!(linker, GetLogLevel, (level: u32), get_log_level);
    define!(linker, GetCurrentTimeNanoseconds, (time: u32), get_current_time);
    define!(linker, SetTickPeriodMilliseconds, (period: u32), set_tick_period);
    define!(linker, SetEffectiveContext, (context: u32), set_effective_context);
    define!(linker, ContinueStream, (kind: u32), continue_stream);
    define!(linker, Done, (), done);
    Ok(())
}

fn log(guest: &mut Guest<'_, '_>, level: u32, data: u32, size: u32) -> Outcome {
    let level = LogLevel::from_number(level).ok_or(Status::BadArgument)?;
    let (memory, state) = guest.split();
    let message = String::from_utf8_lossy(bytes(memory, (data, size))?).into_owned();
    let context = state.contexts.target();
    state.host.log().push(LogLine { worker: state.worker, context, level, message });
    Ok(())
}

fn get_log_level(guest: &mut Guest<'_, '_>, level: u32) -> Outcome {
    let number = guest.state().host.log().level() as u32;
    guest.put(level, number.to_le_bytes())
}

fn get_current_time(guest: &mut Guest<'_, '_>, time: u32) -> Outcome {
    let nanos = guest.state().clock.nanos();
    guest.put(time, nanos.to_le_bytes())
}

/// The timer belongs to the root context, whichever context asks; 0 stops it.
fn set_tick_period(guest: &mut Guest<'_, '_>, period: u32) -> Outcome {
    let contexts = &mut guest.state().contexts;
    let root = contexts.target_root();
    if let Some(root) = contexts.roots.get_mut(&root) {
        root.tick_period_ms = period;
    }
    Ok(())
}

fn set_effective_context(guest: &mut Guest<'_, '_>, context: u32) -> Outcome {
    let contexts = &mut guest.state().contexts;
    if !contexts.exists(context) {
        return Err(Status::BadArgument.into());
    }
    contexts.effective = context;
    Ok(())
}

/// Lets a paused request go on; its headers are out of the module's reach from then on. Of TCP
/// streams there are none here: Envoy ignores the downstream side and does not offer the other.
fn continue_stream(guest: &mut Guest<'_, '_>, kind: u32) -> Outcome {
    let stream = guest.state().contexts.target_stream();
    match kind {
        0 | 1 => {
            if let Some(stream) = stream {
                stream.continued |= kind == 0;
                stream.headers_access = Access::None;
            }
            Ok(())
        }
        2 => Ok(()),
        3 => Err(Status::Unimplemented.into()),
        _ => Err(Status::BadArgument.into()),
    }
}

/// Only a root whose `proxy_on_done` returned false has something to be done with.
fn done(guest: &mut Guest<'_, '_>) -> Outcome {
    let state = guest.state();
    let target = state.contexts.target_root();
    let waiting = state.contexts.roots.get_mut(&target).filter(|root| root.awaits_done);
    waiting.ok_or(Status::NotFound)?.awaits_done = false;
    state.done_roots.push(target);
    Ok(())
}
