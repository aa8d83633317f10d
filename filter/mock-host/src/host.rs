//! One gateway: what all its worker VMs of one `vm_id` share.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::clock::Clock;
use crate::log::Log;
use crate::metrics::Metrics;
use crate::shared_data::SharedData;

#[derive(Debug, Default)]
struct Inner {
    shared_data: SharedData,
    metrics: Metrics,
    log: Log,
    clock: Clock,
    properties: RefCell<BTreeMap<Vec<u8>, Rc<[u8]>>>,
    unknown_clusters: RefCell<BTreeSet<String>>,
    live_workers: Cell<u32>,
    next_worker: Cell<u32>,
}

/// One Envoy process. Clones are handles on the same one.
#[derive(Clone, Debug, Default)]
pub struct Host(Rc<Inner>);

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
        self.0.properties.borrow_mut().insert(property_key(path), value.into());
    }

    pub(crate) fn property(&self, key: &[u8]) -> Option<Rc<[u8]>> {
        self.0.properties.borrow().get(key).cloned()
    }

    /// Whether `proxy_http_call` knows this cluster; all are known at first.
    pub fn set_cluster_known(&self, cluster: &str, known: bool) {
        let mut unknown = self.0.unknown_clusters.borrow_mut();
        if known {
            unknown.remove(cluster);
        } else {
            unknown.insert(cluster.to_owned());
        }
    }

    pub(crate) fn is_cluster_known(&self, cluster: &str) -> bool {
        !self.0.unknown_clusters.borrow().contains(cluster)
    }

    /// Number of worker VMs there are.
    pub fn live_workers(&self) -> u32 {
        self.0.live_workers.get()
    }

    pub(crate) fn enrol(&self) -> LiveWorker {
        let number = self.0.next_worker.get();
        self.0.next_worker.set(number.wrapping_add(1));
        self.0.live_workers.set(self.0.live_workers.get() + 1);
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
        let left = self.host.0.live_workers.get().saturating_sub(1);
        self.host.0.live_workers.set(left);
        if left == 0 {
            self.host.shared_data().erase();
        }
    }
}
