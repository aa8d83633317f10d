use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use rudolph_cluster::Cluster;
use serde::Serialize;

use super::load::Counts;
use crate::{ReliabilityError, linear_memory, probe};

/// One row of the CSV file: what Envoy and the filter hold at a moment, and what happened since the run began.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sample {
    pub at_s: f64,
    /// Resident memory of the Envoy process.
    pub resident_bytes: u64,
    /// `server.memory_allocated`: what Envoy's own code holds.
    pub allocated_bytes: u64,
    /// `server.memory_heap_size`: what its allocator took from the system.
    pub heap_bytes: u64,
    pub vms: u64,
    /// Linear memory of all VMs of the filter together, and of the largest.
    pub vm_bytes: u64,
    pub largest_vm_bytes: u64,
    pub shared_data_bytes: u64,
    pub shared_data_values: u64,
    /// Lines of `/stats`.
    pub stats: u64,
    /// Those of the filter.
    pub filter_stats: u64,
    pub open_files: u64,
    pub plan_version: u64,
    pub servers: u64,
    pub hot_keys: u64,
    pub vm_reloads: u64,
    pub requests: u64,
    pub errors: u64,
    pub hits: u64,
    pub misses: u64,
}

const PLUGIN: &str = "wasmcustom.";

impl Sample {
    pub(crate) async fn take(
        cluster: &Cluster,
        at_s: f64,
        counts: &Counts,
    ) -> Result<Self, ReliabilityError> {
        let stats = cluster.stats().await?;
        let text = cluster.admin_page("/stats").await?;
        let mut vms = linear_memory::of_process(cluster.envoy_pid())?;
        vms.retain(|bytes| *bytes != probe::MEMORY);
        let of_filter = |name: &&String| {
            name.starts_with(PLUGIN) && **name != probe::BYTES && **name != probe::VALUES
        };
        Ok(Self {
            at_s,
            resident_bytes: cluster.envoy_resident_bytes()?,
            allocated_bytes: named(&stats, "server.memory_allocated"),
            heap_bytes: named(&stats, "server.memory_heap_size"),
            vms: named(&stats, "wasm.wasm_vm_count"),
            vm_bytes: vms.iter().sum(),
            largest_vm_bytes: vms.into_iter().max().unwrap_or(0),
            shared_data_bytes: named(&stats, probe::BYTES),
            shared_data_values: named(&stats, probe::VALUES),
            stats: text.lines().count() as u64,
            filter_stats: stats.keys().filter(of_filter).count() as u64,
            open_files: open_files(cluster.envoy_pid())?,
            plan_version: named(&stats, "wasmcustom.rudolph.plan_version"),
            servers: named(&stats, "wasmcustom.rudolph.servers"),
            hot_keys: named(&stats, "wasmcustom.rudolph.hot_keys"),
            vm_reloads: named(&stats, "wasm.rudolph.vm_reload_success"),
            requests: counts.requests,
            errors: counts.errors.values().sum(),
            hits: counts.hits,
            misses: counts.misses,
        })
    }
}

fn named(stats: &BTreeMap<String, u64>, name: &str) -> u64 {
    stats.get(name).copied().unwrap_or(0)
}

fn open_files(pid: u32) -> Result<u64, ReliabilityError> {
    let path = PathBuf::from(format!("/proc/{pid}/fd"));
    let entries =
        fs::read_dir(&path).map_err(|source| ReliabilityError::file("list", &path, source))?;
    Ok(entries.count() as u64)
}
