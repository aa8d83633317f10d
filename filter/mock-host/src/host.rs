//! One gateway: what all its worker VMs of one `vm_id` share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::clock::Clock;
use crate::locked::Locked;
use crate::log::Log;
use crate::metrics::Metrics;
use crate::shared_data::SharedData;

#[derive(Debug, Default)]
struct Inner {
    shared_data: SharedData,
    metrics: Metrics,
    log: Log,
    clock: Clock,
    properties: Locked<BTreeMap<Vec<u8>, Arc<[u8]>>>,
    unknown_clusters: Locked<BTreeSet<String>>,
    live_workers: AtomicU32,
    next_worker: AtomicU32,
}

/// One Envoy process. Clones are handles on the same one.
#[derive(Clone, Debug, Default)]
pub struct Host(Arc<Inner>);

impl Host {
    /// A host without workers, at time 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// The shared data of the `vm_id`.
    pub fn shared_data(&self) -> &SharedData {
        &self.0.shared_data
    }

    /// The metrics.
    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// The log.
    pub fn log(&self) -> &Log {
        &self.0.log
    }

    /// The clock that every worker starts from.
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// Sets a property that every request of this host answers, such as `["node", "id"]`.
    pub fn set_property(&self, path: &[&str], value: &[u8]) {
        self.0.properties.hold().insert(property_key(path), value.into());
    }

    pub(crate) fn property(&self, key: &[u8]) -> Option<Arc<[u8]>> {
        self.0.properties.hold().get(key).cloned()
    }

    /// Whether `proxy_http_call` knows this cluster; all are known at first.
    pub fn set_cluster_known(&self, cluster: &str, known: bool) {
        let mut unknown = self.0.unknown_clusters.hold();
        if known {
            unknown.remove(cluster);
        } else {
            unknown.insert(cluster.to_owned());
        }
    }

    pub(crate) fn is_cluster_known(&self, cluster: &str) -> bool {
        !self.0.unknown_clusters.hold().contains(cluster)
    }

    /// Number of worker VMs there are.
    pub fn live_workers(&self) -> u32 {
        self.0.live_workers.load(Relaxed)
    }

    pub(crate) fn enrol(&self) -> LiveWorker {
        let number = self.0.next_worker.fetch_add(1, Relaxed);
        self.0.live_workers.fetch_add(1, Relaxed);
        LiveWorker { host: self.clone(), number }
    }
}

/// A property's path as the ABI writes it: its parts with a zero byte between them.
pub(crate) fn property_key(path: &[&str]) -> Vec<u8> {
    path.join("\0").into_bytes()
}

/// A worker's hold on the shared data: when the last goes, Envoy erases it.
#[derive(Debug)]
pub(crate) struct LiveWorker {
    pub(crate) host: Host,
    pub(crate) number: u32,
}

impl Drop for LiveWorker {
    fn drop(&mut self) {
        if self.host.0.live_workers.fetch_sub(1, Relaxed) == 1 {
            self.host.shared_data().erase();
        }
    }
}
