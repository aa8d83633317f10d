//! Envoy's shared data as the core's shared store.

use rudolph_core::agreement::{Expect, SharedStore, StoreFault, Stored, Versioned};

use crate::host::{self, HostFault};

/// Envoy checks a version only against a key that exists, so expecting one that no value ever has makes a
/// store succeed on an absent key and fail on any other: versions count up from 1 and would need years to
/// get here.
const NO_VERSION: u32 = u32::MAX;

/// The shared data of this VM's id.
#[derive(Debug)]
pub(crate) struct SharedData;

impl SharedStore for SharedData {
    fn get(&mut self, key: &str) -> Result<Option<Versioned>, StoreFault> {
        let found = host::shared(key).map_err(store_fault)?;
        Ok(found.map(|(bytes, version)| Versioned { bytes, version }))
    }

    fn set(&mut self, key: &str, value: &[u8], expect: Expect) -> Result<Stored, StoreFault> {
        let version = match expect {
            Expect::Absent => NO_VERSION,
            Expect::Version(version) => version,
        };
        let stored = host::set_shared(key, value, version).map_err(store_fault)?;
        Ok(if stored { Stored::Yes } else { Stored::Lost })
    }
}

fn store_fault(HostFault(status): HostFault) -> StoreFault {
    StoreFault(status)
}
