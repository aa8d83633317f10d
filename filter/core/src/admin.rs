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
    /// The first of those, with the reason.
    pub left_out: Vec<LeftOut>,
}

/// A server of the cluster that no plan holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its address, as far as it has one.
    pub address: String,
    /// Why.
    pub reason: Reason,
}

/// Why a server is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It fails its active health check, or was not checked yet.
    FailsCheck,
    /// Outlier detection ejected it.
    Ejected,
    /// Whoever lists it says that it drains.
    Draining,
    /// Whoever lists it says that it is unhealthy.
    CalledUnhealthy,
    /// It is about to go.
    Leaving,
    /// Servers of an earlier priority are usable.
    LaterPriority,
    /// It has no address that requests can be sent to.
    NoAddress,
}

impl Reason {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::FailsCheck,
        Self::Ejected,
        Self::Draining,
        Self::CalledUnhealthy,
        Self::Leaving,
        Self::LaterPriority,
        Self::NoAddress,
    ];

    /// The words that the status page uses.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::FailsCheck => "fails its health check",
            Self::Ejected => "ejected by outlier detection",
            Self::Draining => "draining",
            Self::CalledUnhealthy => "called unhealthy",
            Self::Leaving => "leaving",
            Self::LaterPriority => "of a later priority",
            Self::NoAddress => "has no address",
        }
    }
}

/// So many servers that are left out are named; the others are only counted.
pub const MAX_LEFT_OUT: usize = 256;

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
    let left_out = (hosts.iter())
        .filter_map(|host| {
            let late = Some(host.priority) != first;
            let reason = host.fault().or(late.then_some(Reason::LaterPriority))?;
            Some(LeftOut { address: host.name(), reason })
        })
        .take(MAX_LEFT_OUT)
        .collect();
    Ok(Census { unusable: total - usable.len().min(total), usable, left_out })
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
        self.fault().is_none()
    }

    fn fault(&self) -> Option<Reason> {
        let health = &self.health_status;
        let failed = health.failed_active_health_check
            || health.pending_active_hc
            || health.excluded_via_immediate_hc_fail
            || health.active_hc_timeout;
        if failed {
            Some(Reason::FailsCheck)
        } else if health.failed_outlier_check {
            Some(Reason::Ejected)
        } else if health.pending_dynamic_removal {
            Some(Reason::Leaving)
        } else {
            match health.eds_health_status.as_str() {
                "DRAINING" => Some(Reason::Draining),
                "UNHEALTHY" | "TIMEOUT" => Some(Reason::CalledUnhealthy),
                _ => self.server().is_none().then_some(Reason::NoAddress),
            }
        }
    }

    fn name(&self) -> String {
        self.server().map(|server| server.address.as_str().to_owned()).unwrap_or_default()
    }

    fn server(&self) -> Option<Server> {
        let socket = self.address.socket_address.as_ref()?;
        let (ip, port) = (&socket.address, socket.port_value);
        let text = if ip.contains(':') { format!("[{ip}]:{port}") } else { format!("{ip}:{port}") };
        Some(Server { address: Address::parse(&text)?, weight: self.weight.clamp(1, MAX_WEIGHT) })
    }
}
