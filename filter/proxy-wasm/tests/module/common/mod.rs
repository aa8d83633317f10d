//! What the tests share: the module, configurations, a gateway of workers, an admin interface.

pub(crate) mod admin;
pub(crate) mod gateway;
pub(crate) mod page;
pub(crate) mod random;
pub(crate) mod setup;
pub(crate) mod watch;

use std::path::PathBuf;
use std::sync::OnceLock;

use rudolph_mock_host::FilterModule;

pub(crate) use gateway::Gateway;
pub(crate) use page::Page;
pub(crate) use random::Random;
pub(crate) use setup::{STRATEGIES, Setup, address};

/// The strategies under which a key has one owner at any time.
pub(crate) const ONE_OWNER: [&str; 4] = ["pin", "rotation", "lpt", "static"];

pub(crate) fn wasm_path() -> PathBuf {
    let built = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/rudolph.wasm");
    std::env::var_os("RUDOLPH_WASM").map_or_else(|| built.into(), PathBuf::from)
}

/// The module, compiled once for all tests.
pub(crate) fn module() -> &'static FilterModule {
    static MODULE: OnceLock<FilterModule> = OnceLock::new();
    MODULE.get_or_init(|| {
        let path = wasm_path();
        assert!(path.exists(), "{} is missing: run scripts/build-filter.sh", path.display());
        FilterModule::from_file(&path).expect("the host takes the module")
    })
}
