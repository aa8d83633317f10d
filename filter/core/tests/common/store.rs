//! Shared data with the rules of Envoy's, and faults on demand.

use std::collections::BTreeMap;

use rudolph_core::agreement::{Expect, SharedStore, StoreFault, Stored, Versioned};

#[derive(Clone, Debug, Default)]
pub struct Store {
    pub values: BTreeMap<String, Versioned>,
    version: u32,
    /// Every call fails.
    pub broken: bool,
    pub gets: usize,
    pub sets: usize,
}

impl Store {
    /// What another program or a torn write leaves.
    pub fn put(&mut self, key: &str, bytes: Vec<u8>) {
        self.version += 1;
        let version = self.version;
        self.values.insert(key.to_owned(), Versioned { bytes, version });
    }

    pub fn keys_with(&self, part: &str) -> Vec<String> {
        let with = |key: &&String| key.contains(part);
        self.values.keys().filter(with).cloned().collect()
    }
}

impl SharedStore for Store {
    fn get(&mut self, key: &str) -> Result<Option<Versioned>, StoreFault> {
        self.gets += 1;
        if self.broken {
            return Err(StoreFault(10));
        }
        Ok(self.values.get(key).cloned())
    }

    fn set(&mut self, key: &str, value: &[u8], expect: Expect) -> Result<Stored, StoreFault> {
        self.sets += 1;
        if self.broken {
            return Err(StoreFault(10));
        }
        let present = self.values.get(key).map(|found| found.version);
        let fits = match (present, expect) {
            (Some(present), Expect::Version(expected)) => present == expected,
            (Some(_), Expect::Absent) => false,
            // Envoy does not compare when there is nothing to compare with.
            (None, _) => true,
        };
        if !fits {
            return Ok(Stored::Lost);
        }
        self.put(key, value.to_vec());
        Ok(Stored::Yes)
    }
}
