//! The module's functions, looked up once a VM. All but the allocator are optional, as in Envoy.

use wasmtime::{Instance, Store, TypedFunc, WasmParams, WasmResults};

use crate::abi::Callback;
use crate::vm::VmState;

pub(crate) type Export<P, R> = Option<TypedFunc<P, R>>;

/// Typed handles; a `None` is a callback the module does not export and the host never makes.
pub(crate) struct Exports {
    pub(crate) initialize: Export<(), ()>,
    pub(crate) main: Export<(u32, u32), u32>,
    pub(crate) start: Export<(), ()>,
    pub(crate) context_create: Export<(u32, u32), ()>,
    pub(crate) vm_start: Export<(u32, u32), u32>,
    pub(crate) configure: Export<(u32, u32), u32>,
    pub(crate) tick: Export<u32, ()>,
    pub(crate) request_headers: Export<(u32, u32, u32), u32>,
    pub(crate) http_call_response: Export<(u32, u32, u32, u32, u32), ()>,
    pub(crate) done: Export<u32, u32>,
    pub(crate) log: Export<u32, ()>,
    pub(crate) delete: Export<u32, ()>,
}

impl Exports {
    pub(crate) fn find(instance: &Instance, store: &mut Store<VmState>) -> wasmtime::Result<Self> {
        Ok(Self {
            initialize: find(instance, store, Callback::Initialize)?,
            main: find(instance, store, Callback::Main)?,
            start: find(instance, store, Callback::Start)?,
            context_create: find(instance, store, Callback::ContextCreate)?,
            vm_start: find(instance, store, Callback::VmStart)?,
            configure: find(instance, store, Callback::Configure)?,
            tick: find(instance, store, Callback::Tick)?,
            request_headers: find(instance, store, Callback::RequestHeaders)?,
            http_call_response: find(instance, store, Callback::HttpCallResponse)?,
            done: find(instance, store, Callback::Done)?,
            log: find(instance, store, Callback::Log)?,
            delete: find(instance, store, Callback::Delete)?,
        })
    }
}

/// A missing export is fine; one of the wrong type is not.
fn find<P: WasmParams, R: WasmResults>(
    instance: &Instance,
    store: &mut Store<VmState>,
    callback: Callback,
) -> wasmtime::Result<Export<P, R>> {
    let Some(function) = instance.get_func(&mut *store, callback.name()) else {
        return Ok(None);
    };
    function.typed(store).map(Some).map_err(|error| error.context(callback.name()))
}
