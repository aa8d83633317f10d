//! A compiled filter, from which every worker VM is made.

use std::fmt;
use std::path::Path;

use wasmtime::{Config, Engine, ExternType, InstancePre, Module};

use crate::abi::Hostcall;
use crate::error::ModuleError;
use crate::hostcalls::{self, IMPORT_MODULE};
use crate::vm::VmState;

const ABI_VERSION: &str = "proxy_abi_version_0_2_1";
const ALLOCATORS: [&str; 2] = ["malloc", "proxy_on_memory_allocate"];

/// What kind of thing a module imports or exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExternKind {
    /// A function.
    Function,
    /// A linear memory.
    Memory,
    /// A global.
    Global,
    /// A table, or something newer.
    Other,
}

impl From<ExternType> for ExternKind {
    fn from(kind: ExternType) -> Self {
        match kind {
            ExternType::Func(_) => Self::Function,
            ExternType::Memory(_) => Self::Memory,
            ExternType::Global(_) => Self::Global,
            _ => Self::Other,
        }
    }
}

/// A module compiled once and shared by all workers; clones are handles on the same code.
///
/// Envoy likewise compiles the code once, on the main thread, and clones a VM for each worker.
#[derive(Clone)]
pub struct FilterModule {
    engine: Engine,
    module: Module,
    ready: InstancePre<VmState>,
}

impl FilterModule {
    /// Compiles a `.wasm` file.
    ///
    /// # Errors
    /// When the file cannot be read, or as `from_bytes`.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ModuleError> {
        let path = path.as_ref();
        let unreadable = |error: std::io::Error| ModuleError::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        Self::from_bytes(&std::fs::read(path).map_err(unreadable)?)
    }

    /// Compiles a module and checks all that Envoy checks before it starts a VM.
    ///
    /// # Errors
    /// When the bytes are no module, an import is not offered, or a needed export is missing.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModuleError> {
        let invalid =
            |error: wasmtime::Error| ModuleError::Invalid { reason: format!("{error:#}") };
        let engine = Engine::new(Config::new().consume_fuel(true).wasm_backtrace_max_frames(None))
            .map_err(invalid)?;
        let module = Module::from_binary(&engine, bytes).map_err(invalid)?;
        check_imports(&module)?;
        check_exports(&module)?;
        let linker = hostcalls::linker(&engine).map_err(invalid)?;
        let mismatch =
            |error: wasmtime::Error| ModuleError::ImportMismatch { reason: format!("{error:#}") };
        let ready = linker.instantiate_pre(&module).map_err(mismatch)?;
        Ok(Self { engine, module, ready })
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn ready(&self) -> &InstancePre<VmState> {
        &self.ready
    }

    /// Name and kind of every export, by name.
    pub fn exports(&self) -> Vec<(String, ExternKind)> {
        let mut exports: Vec<_> = self
            .module
            .exports()
            .map(|export| (export.name().to_owned(), export.ty().into()))
            .collect();
        exports.sort();
        exports
    }

    /// `module.name` of every import, in order of name.
    pub fn imports(&self) -> Vec<String> {
        let mut imports: Vec<_> = self
            .module
            .imports()
            .map(|import| format!("{}.{}", import.module(), import.name()))
            .collect();
        imports.sort();
        imports
    }
}

impl fmt::Debug for FilterModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterModule").finish_non_exhaustive()
    }
}

fn check_imports(module: &Module) -> Result<(), ModuleError> {
    for import in module.imports() {
        let known =
            import.module() == IMPORT_MODULE && Hostcall::from_name(import.name()).is_some();
        if !known {
            let (module, name) = (import.module().to_owned(), import.name().to_owned());
            return Err(ModuleError::UnknownImport { module, name });
        }
    }
    Ok(())
}

fn check_exports(module: &Module) -> Result<(), ModuleError> {
    let kind = |name: &str| module.get_export(name).map(ExternKind::from);
    if kind(ABI_VERSION).is_none() {
        return Err(ModuleError::NoAbiVersion);
    }
    if kind("memory") != Some(ExternKind::Memory) {
        return Err(ModuleError::NoMemory);
    }
    if !ALLOCATORS.iter().any(|name| kind(name) == Some(ExternKind::Function)) {
        return Err(ModuleError::NoAllocator);
    }
    Ok(())
}

/// The allocator's name: Envoy prefers `malloc`.
pub(crate) fn allocator_names() -> [&'static str; 2] {
    ALLOCATORS
}
