//! Envoy's shared data: one map a `vm_id`, seen by every worker VM of a gateway.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::abi::Status;
use crate::locked::Locked;

/// One value that was stored, by a module or by the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedWrite {
    /// The worker whose VM stored it; `None` for the test and for VMs without a worker.
    pub worker: Option<u32>,
    /// The key.
    pub key: Arc<[u8]>,
    /// The value.
    pub value: Arc<[u8]>,
}

#[derive(Debug, Default)]
struct Entries {
    by_key: BTreeMap<Vec<u8>, (Arc<[u8]>, u32)>,
    last_version: u32,
    /// Every store since the last look, if the test wants to know.
    journal: Option<Vec<SharedWrite>>,
}

impl Entries {
    fn note(&mut self, worker: Option<u32>, key: &[u8], value: &Arc<[u8]>) {
        if let Some(journal) = &mut self.journal {
            journal.push(SharedWrite { worker, key: key.into(), value: Arc::clone(value) });
        }
    }

    /// Versions come from one counter for all keys; 0 means "no version" and is never given out.
    fn next_version(&mut self) -> u32 {
        self.last_version = self.last_version.checked_add(1).unwrap_or(1);
        self.last_version
    }
}

/// A handle on the shared data of one host; clones see the same data.
#[derive(Clone, Debug, Default)]
pub struct SharedData(Arc<Locked<Entries>>);

impl SharedData {
    /// The value and version of a key. A present empty value is `Some`.
    pub fn get_versioned(&self, key: impl AsRef<[u8]>) -> Option<(Arc<[u8]>, u32)> {
        self.0.hold().by_key.get(key.as_ref()).cloned()
    }

    /// The value of a key, copied as Envoy copies it.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<Vec<u8>> {
        self.get_versioned(key).map(|(value, _)| value.to_vec())
    }

    /// `proxy_set_shared_data`: the version is compared only if the key is there and `cas` is not 0,
    /// so two creators both succeed, and 0 overwrites whatever is stored.
    ///
    /// # Errors
    /// `Status::CasMismatch` when `cas` is stale.
    pub fn set(&self, key: &[u8], value: &[u8], cas: u32) -> Result<(), Status> {
        self.set_by(None, key, value, cas)
    }

    pub(crate) fn set_by(
        &self,
        worker: Option<u32>,
        key: &[u8],
        value: &[u8],
        cas: u32,
    ) -> Result<(), Status> {
        let mut entries = self.0.hold();
        if let Some((_, version)) = entries.by_key.get(key)
            && cas != 0
            && cas != *version
        {
            return Err(Status::CasMismatch);
        }
        let version = entries.next_version();
        let value: Arc<[u8]> = value.into();
        entries.note(worker, key, &value);
        match entries.by_key.get_mut(key) {
            Some(entry) => *entry = (value, version),
            None => {
                entries.by_key.insert(key.to_vec(), (value, version));
            }
        }
        Ok(())
    }

    /// From now on every store is written down, for [`SharedData::take_journal`].
    pub fn keep_journal(&self) {
        self.0.hold().journal.get_or_insert_default();
    }

    /// The stores since the last call, oldest first. What the test itself writes or corrupts is not among them.
    pub fn take_journal(&self) -> Vec<SharedWrite> {
        self.0.hold().journal.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Every key, in byte order. The ABI has no such call: for tests only.
    pub fn keys(&self) -> Vec<Vec<u8>> {
        self.0.hold().by_key.keys().cloned().collect()
    }

    /// Writes as another plugin of the same `vm_id` would: blindly, with a new version.
    pub fn put_raw(&self, key: impl AsRef<[u8]>, bytes: &[u8]) {
        let mut entries = self.0.hold();
        let version = entries.next_version();
        entries.by_key.insert(key.as_ref().to_vec(), (bytes.into(), version));
    }

    /// Changes the bytes of a key and leaves its version; `false` if the key is absent.
    pub fn corrupt(&self, key: impl AsRef<[u8]>, change: impl FnOnce(&mut Vec<u8>)) -> bool {
        let Some(mut bytes) = self.get(key.as_ref()) else {
            return false;
        };
        change(&mut bytes);
        match self.0.hold().by_key.get_mut(key.as_ref()) {
            Some(entry) => entry.0 = bytes.into(),
            None => return false,
        }
        true
    }

    /// Bytes of all keys and values: what the plugin makes Envoy hold.
    pub fn total_bytes(&self) -> usize {
        self.0.hold().by_key.iter().map(|(key, (value, _))| key.len() + value.len()).sum()
    }

    /// Sets the version counter, to try out its wrap.
    pub fn set_last_version(&self, version: u32) {
        self.0.hold().last_version = version;
    }

    /// What happens when the last VM of the `vm_id` goes: the data goes, the counter stays.
    pub fn erase(&self) {
        self.0.hold().by_key.clear();
    }
}
