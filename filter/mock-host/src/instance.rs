//! One VM: started, called, and dead after its first trap.

use std::sync::Arc;
use std::time::Instant;

use wasmtime::{Store, WasmParams, WasmResults};

use crate::abi::Callback;
use crate::context::{Contexts, Root};
use crate::error::{TrapReason, WorkerError};
use crate::exports::{Export, Exports};
use crate::module::{FilterModule, allocator_names};
use crate::vm::{Allocate, VmState, trap_reason};

/// About a second of work, some 5 units a nanosecond: more in one callback is an endless loop.
pub(crate) const DEFAULT_FUEL_LIMIT: u64 = 4_000_000_000;

pub(crate) struct Instance {
    store: Store<VmState>,
    exports: Exports,
    fuel_limit: u64,
    trap: Option<TrapReason>,
}

impl Instance {
    /// Instantiates the module and initialises it as Envoy does: `_initialize` and then `main`, or else
    /// `_start`; no host call but `proxy_log` is allowed meanwhile.
    pub(crate) fn new(
        module: &FilterModule,
        mut state: VmState,
        fuel_limit: u64,
    ) -> Result<Self, WorkerError> {
        state.restricted = true;
        let mut store = Store::new(module.engine(), state);
        let exports = instantiate(module, &mut store, fuel_limit)
            .map_err(|error| WorkerError::NotInstantiated { reason: format!("{error:#}") })?;
        let mut instance = Self { store, exports, fuel_limit, trap: None };
        instance.initialise()?;
        instance.state().restricted = false;
        Ok(instance)
    }

    fn initialise(&mut self) -> Result<(), WorkerError> {
        if self.exports.initialize.is_some() {
            self.call(Callback::Initialize, 0, |exports| &exports.initialize, ())?;
            self.call(Callback::Main, 0, |exports| &exports.main, (0, 0))?;
        } else {
            self.call(Callback::Start, 0, |exports| &exports.start, ())?;
        }
        Ok(())
    }

    /// Makes a root context and configures it: what Envoy does for the first configuration and, in
    /// the same VM, for every later one (`proxy_on_vm_start` included).
    pub(crate) fn start_root(
        &mut self,
        plugin_configuration: &Arc<[u8]>,
    ) -> Result<u32, WorkerError> {
        let contexts = self.contexts();
        let id = contexts.new_id();
        let plugin_configuration = Arc::clone(plugin_configuration);
        contexts
            .roots
            .insert(id, Root { plugin_configuration, tick_period_ms: 0, awaits_done: false });
        self.with_plugin_configuration(id, |instance| {
            instance.call(Callback::ContextCreate, id, |exports| &exports.context_create, (id, 0))
        })?;
        let vm_size = length(&self.state().vm_configuration);
        let started =
            self.call(Callback::VmStart, id, |exports| &exports.vm_start, (id, vm_size))?;
        if started == Some(0) {
            return Err(WorkerError::VmStartRefused);
        }
        self.configure_root(id)?;
        Ok(id)
    }

    fn configure_root(&mut self, id: u32) -> Result<(), WorkerError> {
        let roots = &self.contexts().roots;
        let size = roots.get(&id).map_or(0, |root| length(&root.plugin_configuration));
        let accepted = self.with_plugin_configuration(id, |instance| {
            instance.call(Callback::Configure, id, |exports| &exports.configure, (id, size))
        })?;
        if accepted == Some(0) { Err(WorkerError::ConfigureRefused) } else { Ok(()) }
    }

    fn with_plugin_configuration<R>(&mut self, root: u32, run: impl FnOnce(&mut Self) -> R) -> R {
        self.contexts().configuring = Some(root);
        let outcome = run(self);
        self.contexts().configuring = None;
        outcome
    }

    /// Takes a root out of service: `proxy_on_done`, then `proxy_on_delete`, at once or, if the module
    /// is not done yet, when it calls `proxy_done`.
    pub(crate) fn shut_down_root(&mut self, id: u32) -> Result<(), WorkerError> {
        let done = self.call(Callback::Done, id, |exports| &exports.done, id)?;
        if done != Some(0) {
            return self.delete_root(id);
        }
        if let Some(root) = self.contexts().roots.get_mut(&id) {
            root.awaits_done = true;
        }
        Ok(())
    }

    fn delete_root(&mut self, id: u32) -> Result<(), WorkerError> {
        self.call(Callback::Delete, id, |exports| &exports.delete, id)?;
        self.contexts().roots.remove(&id);
        self.state().http_calls.retain(|_, call| call.root != id);
        Ok(())
    }

    /// Makes one callback, if the module exports it. The first trap is the VM's end.
    pub(crate) fn call<P: WasmParams, R: WasmResults>(
        &mut self,
        callback: Callback,
        context: u32,
        export: fn(&Exports) -> &Export<P, R>,
        arguments: P,
    ) -> Result<Option<R>, WorkerError> {
        if self.trap.is_some() {
            return Err(WorkerError::WorkerTrapped);
        }
        let Some(function) = export(&self.exports) else {
            return Ok(None);
        };
        let outcome = measured(&mut self.store, self.fuel_limit, callback, context, |store| {
            function.call(store, arguments)
        });
        match outcome {
            Ok(result) => self.delete_done_roots().map(|()| Some(result)),
            Err(error) => {
                let reason = trap_reason(&error);
                self.trap = Some(reason.clone());
                Err(WorkerError::Trapped { callback, reason })
            }
        }
    }

    fn delete_done_roots(&mut self) -> Result<(), WorkerError> {
        while let Some(root) = self.state().done_roots.pop() {
            self.delete_root(root)?;
        }
        Ok(())
    }

    pub(crate) fn state(&mut self) -> &mut VmState {
        self.store.data_mut()
    }

    pub(crate) fn seen(&self) -> &VmState {
        self.store.data()
    }

    pub(crate) fn contexts(&mut self) -> &mut Contexts {
        &mut self.state().contexts
    }

    pub(crate) fn trap(&self) -> Option<&TrapReason> {
        self.trap.as_ref()
    }

    pub(crate) fn fuel_limit(&self) -> u64 {
        self.fuel_limit
    }

    pub(crate) fn set_fuel_limit(&mut self, limit: u64) {
        self.fuel_limit = limit;
    }

    pub(crate) fn exports_log(&self) -> bool {
        self.exports.log.is_some()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.store.data().memory.map_or(0, |memory| memory.data_size(&self.store))
    }
}

fn instantiate(
    module: &FilterModule,
    store: &mut Store<VmState>,
    fuel: u64,
) -> wasmtime::Result<Exports> {
    store.set_fuel(fuel)?;
    let instance = module.ready().instantiate(&mut *store)?;
    let memory = instance.get_memory(&mut *store, "memory");
    let allocator =
        allocator_names().into_iter().find(|name| instance.get_func(&mut *store, name).is_some());
    let allocate = allocator.map(|name| instance.get_typed_func(&mut *store, name)).transpose()?;
    let exports = Exports::find(&instance, store)?;
    let state = store.data_mut();
    state.memory = memory;
    state.allocate = allocate.map(|function| Allocate(Arc::new(function)));
    Ok(exports)
}

/// Runs one callback in its context, and books what it cost.
fn measured<R>(
    store: &mut Store<VmState>,
    fuel_limit: u64,
    callback: Callback,
    context: u32,
    run: impl FnOnce(&mut Store<VmState>) -> wasmtime::Result<R>,
) -> wasmtime::Result<R> {
    store.set_fuel(fuel_limit)?;
    let state = store.data_mut();
    state.contexts.current = context;
    state.contexts.effective = 0;
    state.stop_iteration = false;
    state.report.running = callback;
    let begun = Instant::now();
    let outcome = run(store);
    let wall = begun.elapsed();
    let fuel = fuel_limit.saturating_sub(store.get_fuel()?);
    store.data_mut().report.end_callback(fuel, wall);
    outcome
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}
