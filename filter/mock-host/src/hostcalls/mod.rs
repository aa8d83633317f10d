//! The functions of `env` that the module imports, with the signatures of the Rust SDK 0.2.5.

mod buffers;
mod callouts;
mod data;
mod header_maps;
mod system;

use wasmtime::{Engine, FuncType, Linker, ValType};

use crate::abi::{Hostcall, Status};
use crate::faults::Verdict;
use crate::vm::VmState;

/// The module name of every import.
pub(crate) const IMPORT_MODULE: &str = "env";

/// Calls that the mock host answers with `Unimplemented`, and how many 32-bit arguments each takes.
const UNIMPLEMENTED: [(Hostcall, usize); 13] = [
    (Hostcall::SetBufferBytes, 5),
    (Hostcall::RegisterSharedQueue, 3),
    (Hostcall::ResolveSharedQueue, 5),
    (Hostcall::DequeueSharedQueue, 3),
    (Hostcall::EnqueueSharedQueue, 3),
    (Hostcall::CloseStream, 1),
    (Hostcall::GrpcCall, 12),
    (Hostcall::GrpcStream, 9),
    (Hostcall::GrpcSend, 4),
    (Hostcall::GrpcCancel, 1),
    (Hostcall::GrpcClose, 1),
    (Hostcall::GetStatus, 3),
    (Hostcall::CallForeignFunction, 6),
];

/// Defines one host call: its name, its arguments with their Wasm types, and what does the work.
macro_rules! define {
    ($linker:ident, $hostcall:ident, ($($argument:ident: $kind:ty),*), $body:expr) => {
        $linker.func_wrap(
            $crate::hostcalls::IMPORT_MODULE,
            Hostcall::$hostcall.name(),
            |caller: wasmtime::Caller<'_, $crate::vm::VmState>, $($argument: $kind),*| {
                $crate::guest::guarded(caller, Hostcall::$hostcall, |guest| $body(guest, $($argument),*))
            },
        )?;
    };
}
use define;

/// A linker that knows every host call.
pub(crate) fn linker(engine: &Engine) -> wasmtime::Result<Linker<VmState>> {
    let mut linker = Linker::new(engine);
    system::define_all(&mut linker)?;
    buffers::define_all(&mut linker)?;
    header_maps::define_all(&mut linker)?;
    data::define_all(&mut linker)?;
    callouts::define_all(&mut linker)?;
    for (hostcall, arguments) in UNIMPLEMENTED {
        define_unimplemented(&mut linker, engine, hostcall, arguments)?;
    }
    Ok(linker)
}

fn define_unimplemented(
    linker: &mut Linker<VmState>,
    engine: &Engine,
    hostcall: Hostcall,
    arguments: usize,
) -> wasmtime::Result<()> {
    let signature =
        FuncType::new(engine, std::iter::repeat_n(ValType::I32, arguments), [ValType::I32]);
    linker.func_new(IMPORT_MODULE, hostcall.name(), signature, move |mut caller, _, results| {
        let status = match caller.data_mut().meet(hostcall)? {
            Verdict::Refuse(status) => status,
            Verdict::Proceed | Verdict::Trap => Status::Unimplemented,
        };
        results[0] = wasmtime::Val::I32(status as i32);
        Ok(())
    })?;
    Ok(())
}
