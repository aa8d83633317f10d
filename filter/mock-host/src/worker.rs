//! One Envoy worker thread's VM: its life from start to reload, its root contexts and its ticks.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::abi::Callback;
use crate::clock::WorkerClock;
use crate::error::{TrapReason, WorkerError};
use crate::headers::Headers;
use crate::host::{Host, LiveWorker};
use crate::instance::{DEFAULT_FUEL_LIMIT, Instance};
use crate::module::FilterModule;
use crate::vm::VmState;

/// What Envoy's configuration hands to a VM and to its plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// `vm_config.configuration`.
    pub vm: Arc<[u8]>,
    /// `config.configuration`.
    pub plugin: Arc<[u8]>,
}

impl Configuration {
    /// An empty VM configuration and this plugin configuration.
    pub fn plugin(plugin: impl AsRef<[u8]>) -> Self {
        Self { vm: Arc::default(), plugin: plugin.as_ref().into() }
    }
}

/// Tries a configuration as Envoy's main thread does: in a VM of its own that is started and configured,
/// never ticked, and dropped. What it wrote to shared data and metrics stays.
///
/// # Errors
/// When the VM traps or refuses the configuration: Envoy would then reject the update.
pub fn try_configuration(
    module: &FilterModule,
    host: &Host,
    configuration: &Configuration,
) -> Result<(), WorkerError> {
    let clock = WorkerClock::new(host.clock().clone());
    let state = VmState::new(host.clone(), None, Arc::clone(&configuration.vm), clock);
    let mut instance = Instance::new(module, state, DEFAULT_FUEL_LIMIT)?;
    instance.start_root(&configuration.plugin).map(drop)
}

/// One worker. Dropping the last one of a host erases the shared data.
pub struct Worker {
    pub(crate) instance: Instance,
    pub(crate) root: u32,
    pub(crate) generation: u32,
    pub(crate) headers_at_trap: Option<Headers>,
    pub(crate) spare_headers: Vec<Headers>,
    module: FilterModule,
    configuration: Configuration,
    live: LiveWorker,
}

impl Worker {
    /// Starts a VM as Envoy does on each worker: initialise, create a root context,
    /// `proxy_on_vm_start`, `proxy_on_configure`.
    ///
    /// # Errors
    /// When the VM traps or refuses its configuration.
    pub fn start(
        module: &FilterModule,
        host: &Host,
        configuration: &Configuration,
    ) -> Result<Self, WorkerError> {
        let live = host.enrol();
        let clock = WorkerClock::new(host.clock().clone());
        let (instance, root) = boot(module, &live, configuration, clock, DEFAULT_FUEL_LIMIT)?;
        Ok(Self {
            instance,
            root,
            generation: 0,
            headers_at_trap: None,
            spare_headers: Vec::new(),
            module: module.clone(),
            configuration: configuration.clone(),
            live,
        })
    }

    /// Replaces the VM by a fresh one with the newest configuration: Envoy's `FAIL_RELOAD`. The clock keeps
    /// its offset; streams, HTTP calls, metric ids and pending faults of the old VM are gone.
    ///
    /// Envoy does this when the next request comes, and that request is served by the fresh VM; until then
    /// nothing ticks. The main thread's VM never sees a request, so it stays dead.
    ///
    /// # Errors
    /// When the fresh VM traps or refuses; the old one then stays as it was.
    pub fn reload(&mut self) -> Result<(), WorkerError> {
        let clock = self.instance.seen().clock.clone();
        let gate = self.instance.seen().gate.clone();
        let fuel_limit = self.instance.fuel_limit();
        let (mut instance, root) =
            boot(&self.module, &self.live, &self.configuration, clock, fuel_limit)?;
        instance.state().gate = gate;
        self.instance = instance;
        self.root = root;
        self.generation += 1;
        Ok(())
    }

    /// Makes a second root context with a new plugin configuration in the same VM, as a changed
    /// listener does; requests and `tick` go to it from now on. The old root lives until `remove_root`.
    ///
    /// # Errors
    /// When the VM traps or refuses: requests then stay with the root before.
    pub fn add_root(&mut self, plugin_configuration: impl AsRef<[u8]>) -> Result<u32, WorkerError> {
        self.begin();
        let plugin: Arc<[u8]> = plugin_configuration.as_ref().into();
        self.root = self.instance.start_root(&plugin)?;
        self.configuration.plugin = plugin;
        Ok(self.root)
    }

    /// Lets another root serve requests and ticks, as where two listeners have filters in one VM.
    ///
    /// # Errors
    /// When there is no such root.
    pub fn serve_with(&mut self, root: u32) -> Result<(), WorkerError> {
        self.known_root(root)?;
        self.root = root;
        Ok(())
    }

    /// Takes a root out of service: `proxy_on_done` if exported, then `proxy_on_delete`.
    ///
    /// # Errors
    /// When there is no such root, or the VM traps.
    pub fn remove_root(&mut self, root: u32) -> Result<(), WorkerError> {
        self.begin();
        self.known_root(root)?;
        self.instance.shut_down_root(root)
    }

    /// Ends the worker as Envoy's shutdown does: every root is taken out of service, then the VM goes.
    /// Dropping a worker without this is a crash: no callback is made.
    ///
    /// # Errors
    /// When the VM traps, or has trapped before; it is gone all the same.
    pub fn shut_down(mut self) -> Result<(), WorkerError> {
        self.roots().into_iter().try_for_each(|root| self.remove_root(root))
    }

    /// Ids of the root contexts there are, oldest first.
    pub fn roots(&self) -> Vec<u32> {
        self.instance.seen().contexts.roots.keys().copied().collect()
    }

    /// The root that serves requests: the newest accepted.
    pub fn root(&self) -> u32 {
        self.root
    }

    /// Calls `proxy_on_tick` of the serving root; when that is due, the test decides.
    ///
    /// # Errors
    /// When the VM traps.
    pub fn tick(&mut self) -> Result<(), WorkerError> {
        self.tick_root(self.root)
    }

    /// Calls `proxy_on_tick` of one root: old ones tick on until they are removed.
    ///
    /// # Errors
    /// When there is no such root, or the VM traps.
    pub fn tick_root(&mut self, root: u32) -> Result<(), WorkerError> {
        self.begin();
        self.known_root(root)?;
        self.instance.call(Callback::Tick, root, |exports| &exports.tick, root)?;
        Ok(())
    }

    /// The tick period that a root asked for; `None` if it asked for none.
    pub fn tick_period(&self, root: u32) -> Option<Duration> {
        let period_ms = self.instance.seen().contexts.roots.get(&root)?.tick_period_ms;
        (period_ms > 0).then(|| Duration::from_millis(u64::from(period_ms)))
    }

    /// A callback that burns more fuel than this traps: the guard against endless loops.
    pub fn set_fuel_limit(&mut self, limit: u64) {
        self.instance.set_fuel_limit(limit);
    }

    /// This worker's clock, to shift, drift or freeze.
    pub fn clock(&mut self) -> &mut WorkerClock {
        &mut self.instance.state().clock
    }

    /// The host this worker belongs to.
    pub fn host(&self) -> &Host {
        &self.live.host
    }

    /// Number of this worker on its host, from 0; log lines carry it.
    pub fn number(&self) -> u32 {
        self.live.number
    }

    /// Why the VM is dead, if it is.
    pub fn trap(&self) -> Option<&TrapReason> {
        self.instance.trap()
    }

    /// A new operation: `last` starts from zero.
    pub(crate) fn begin(&mut self) {
        self.instance.state().report.begin_operation();
    }

    pub(crate) fn known_root(&self, root: u32) -> Result<(), WorkerError> {
        let known = self.instance.seen().contexts.roots.contains_key(&root);
        if known { Ok(()) } else { Err(WorkerError::UnknownRoot { root }) }
    }
}

fn boot(
    module: &FilterModule,
    live: &LiveWorker,
    configuration: &Configuration,
    clock: WorkerClock,
    fuel_limit: u64,
) -> Result<(Instance, u32), WorkerError> {
    let state =
        VmState::new(live.host.clone(), Some(live.number), Arc::clone(&configuration.vm), clock);
    let mut instance = Instance::new(module, state, fuel_limit)?;
    let root = instance.start_root(&configuration.plugin)?;
    Ok((instance, root))
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("number", &self.live.number)
            .field("root", &self.root)
            .field("trap", &self.instance.trap())
            .finish_non_exhaustive()
    }
}
