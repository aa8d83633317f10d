//! What can go wrong, as data.

use std::fmt;
use std::path::PathBuf;

use crate::abi::Callback;

/// A module that Envoy, or this host, would not load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleError {
    /// The file could not be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// Not valid WebAssembly.
    Invalid {
        /// What the compiler said.
        reason: String,
    },
    /// The module wants something that the host does not offer.
    UnknownImport {
        /// The import's module name.
        module: String,
        /// The import's name.
        name: String,
    },
    /// An import has a known name and another signature.
    ImportMismatch {
        /// Names the import and both types.
        reason: String,
    },
    /// No export `proxy_abi_version_0_2_1`: Envoy takes the ABI's version from it.
    NoAbiVersion,
    /// No export `memory`.
    NoMemory,
    /// Neither `malloc` nor `proxy_on_memory_allocate` is exported.
    NoAllocator,
}

impl fmt::Display for ModuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, reason } => {
                write!(f, "cannot read module {}: {reason}", path.display())
            }
            Self::Invalid { reason } => write!(f, "not a valid module: {reason}"),
            Self::UnknownImport { module, name } => {
                write!(
                    f,
                    "import {module}.{name}: not offered; allowed are the functions of `Hostcall` in `env`"
                )
            }
            Self::ImportMismatch { reason } => write!(f, "an import has the wrong type: {reason}"),
            Self::NoAbiVersion => f.write_str("export proxy_abi_version_0_2_1 is missing"),
            Self::NoMemory => f.write_str("export memory is missing"),
            Self::NoAllocator => {
                f.write_str("export malloc or proxy_on_memory_allocate is missing")
            }
        }
    }
}

impl std::error::Error for ModuleError {}

/// Why a VM died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrapReason {
    /// `Worker::trap_after_hostcalls` asked for it.
    Injected,
    /// The callback used up its fuel: an endless loop.
    OutOfFuel,
    /// A host call other than `proxy_log` in `_initialize`, `main` or `_start`: Envoy forbids it.
    Restricted,
    /// The module's own trap, such as a panic.
    Wasm(String),
}

impl fmt::Display for TrapReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Injected => f.write_str("trap injected by the test"),
            Self::OutOfFuel => f.write_str("out of fuel"),
            Self::Restricted => f.write_str("host call forbidden while the VM initialises"),
            Self::Wasm(reason) => f.write_str(reason),
        }
    }
}

/// A call into a worker that did not come back well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerError {
    /// This call killed the VM.
    Trapped {
        /// The callback that was running.
        callback: Callback,
        /// Why.
        reason: TrapReason,
    },
    /// The VM was dead already; only `reload` helps.
    WorkerTrapped,
    /// `_initialize`, an export's type, or the VM's memory was not as Envoy needs it.
    NotInstantiated {
        /// What the runtime said.
        reason: String,
    },
    /// `proxy_on_vm_start` returned false.
    VmStartRefused,
    /// `proxy_on_configure` returned false: Envoy keeps the configuration it had.
    ConfigureRefused,
    /// No root context with this id.
    UnknownRoot {
        /// The id given.
        root: u32,
    },
    /// No HTTP call in flight with this token.
    UnknownToken {
        /// The token given.
        token: u32,
    },
}

impl fmt::Display for WorkerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trapped { callback, reason } => {
                write!(f, "trap in {}: {reason}", callback.name())
            }
            Self::WorkerTrapped => f.write_str("the worker has trapped before; reload it first"),
            Self::NotInstantiated { reason } => write!(f, "the VM cannot start: {reason}"),
            Self::VmStartRefused => f.write_str("proxy_on_vm_start returned false"),
            Self::ConfigureRefused => f.write_str("proxy_on_configure returned false"),
            Self::UnknownRoot { root } => write!(f, "no root context {root}"),
            Self::UnknownToken { token } => write!(f, "no HTTP call in flight with token {token}"),
        }
    }
}

impl std::error::Error for WorkerError {}
