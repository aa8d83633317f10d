//! The answer of Envoy's admin interface to `/clusters?format=json`, as far as membership needs it.

use serde::Deserialize;

use crate::servers::{Address, MAX_WEIGHT, Members, Server};

/// The path that is asked.
pub const CLUSTERS_PATH: &str = "/clusters?format=json";

/// What a poll found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Census {
    /// Servers that may be sent requests.
    pub usable: Members,
    /// How many more the cluster has.
    pub unusable: usize,
}

/// Why a poll taught nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdminFault {
    /// Not the JSON that Envoy writes.
    Malformed(String),
    /// Envoy has no cluster of that name.
    NoCluster,
}

/// Reads the members of `cluster`: those of the first priority that has a usable one.
///
/// # Errors
/// Why nothing was learnt; the members known before then stay.
pub fn read_clusters(body: &[u8], cluster: &str) -> Result<Census, AdminFault> {
    let clusters: Clusters =
        serde_json::from_slice(body).map_err(|error| AdminFault::Malformed(error.to_string()))?;
    let found = (clusters.cluster_statuses.into_iter())
        .find(|status| status.name == cluster)
        .ok_or(AdminFault::NoCluster)?;
    let hosts = found.host_statuses;
    let total = hosts.len();
    let first = (hosts.iter()).filter(|host| host.is_usable()).map(|host| host.priority).min();
    let servers = (hosts.iter())
        .filter(|host| Some(host.priority) == first && host.is_usable())
        .filter_map(Host::server)
        .collect();
    let usable = Members::new(servers);
    Ok(Census { unusable: total - usable.len().min(total), usable })
}

#[derive(Deserialize)]
struct Clusters {
    #[serde(default)]
    cluster_statuses: Vec<ClusterStatus>,
}

#[derive(Deserialize)]
struct ClusterStatus {
    #[serde(default)]
    name: String,
    #[serde(default)]
    host_statuses: Vec<Host>,
}

#[derive(Deserialize)]
struct Host {
    address: HostAddress,
    #[serde(default)]
    health_status: Health,
    #[serde(default = "one")]
    weight: u32,
    #[serde(default)]
    priority: u32,
}

fn one() -> u32 {
    1
}

/// A pipe or an internal listener has no socket address: `override_host` cannot name it.
#[derive(Deserialize)]
struct HostAddress {
    socket_address: Option<SocketAddress>,
}

#[derive(Deserialize)]
struct SocketAddress {
    address: String,
    port_value: u32,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Health {
    eds_health_status: String,
    failed_active_health_check: bool,
    failed_outlier_check: bool,
    pending_dynamic_removal: bool,
    pending_active_hc: bool,
    excluded_via_immediate_hc_fail: bool,
    active_hc_timeout: bool,
}

impl Host {
    fn is_usable(&self) -> bool {
        let health = &self.health_status;
        let flagged = health.failed_active_health_check
            || health.failed_outlier_check
            || health.pending_dynamic_removal
            || health.pending_active_hc
            || health.excluded_via_immediate_hc_fail
            || health.active_hc_timeout;
        let told = ["UNHEALTHY", "DRAINING", "TIMEOUT"];
        !flagged && !told.contains(&health.eds_health_status.as_str()) && self.server().is_some()
    }

    fn server(&self) -> Option<Server> {
        let socket = self.address.socket_address.as_ref()?;
        let (ip, port) = (&socket.address, socket.port_value);
        let text = if ip.contains(':') { format!("[{ip}]:{port}") } else { format!("{ip}:{port}") };
        Some(Server { address: Address::parse(&text)?, weight: self.weight.clamp(1, MAX_WEIGHT) })
    }
}
