//! The shipped configuration, with this cluster's addresses, in three parts: the bootstrap, and the two that Envoy
//! watches for changes, the servers (EDS) and the filter (ECDS).

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::admin::AdminAddress;
use crate::baseline::Baseline;
use crate::error::ClusterError;
use crate::range;

/// The name that the shipped configuration gives the filter, and the cluster of the servers.
pub(crate) const FILTER: &str = "rudolph";
pub(crate) const SERVERS: &str = "app";
const STATUS: &str = "rudolph_status";
const ADMIN_CLUSTER: &str = "rudolph_admin";

const MANAGER: &str = "/static_resources/listeners/0/filter_chains/0/filters/0/typed_config";
const PROTOCOL: &str =
    "/typed_extension_protocol_options/envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
const STATUS_FILTER: &str =
    "/filter_chains/0/filters/0/typed_config/http_filters/0/typed_config/config";
const FILTER_TYPE: &str = "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm";

/// What differs from the shipped file.
#[derive(Debug)]
pub(crate) struct Changes<'a> {
    pub(crate) listener: SocketAddr,
    pub(crate) admin: &'a AdminAddress,
    pub(crate) servers_file: &'a Path,
    pub(crate) kind: Kind<'a>,
}

#[derive(Debug)]
pub(crate) enum Kind<'a> {
    Filter {
        file: &'a Path,
        module: &'a Path,
        fields: &'a Map<String, Value>,
        /// Where the filter looks for the admin interface, if not where it is.
        polls: Option<SocketAddr>,
        failure_policy: Option<&'a str>,
        status: Option<StatusPage<'a>>,
        echo_debug: Option<&'a str>,
    },
    Baseline {
        policy: Baseline,
        /// For the policy that names them.
        servers: &'a [SocketAddr],
    },
}

/// The listener of the status page, with the fields of its configuration that differ from the shipped ones.
#[derive(Debug)]
pub(crate) struct StatusPage<'a> {
    pub(crate) listener: SocketAddr,
    pub(crate) fields: &'a Map<String, Value>,
}

#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) bootstrap: Value,
    pub(crate) filter: Option<FilterParts>,
}

/// The filter's entry for Envoy and, apart, its own configuration.
#[derive(Debug, Clone)]
pub(crate) struct FilterParts {
    pub(crate) wasm: Value,
    pub(crate) config: Value,
}

impl FilterParts {
    /// The file that Envoy watches, with `config` as the text that the module gets.
    pub(crate) fn resource(&self, config: &str) -> Value {
        let mut wasm = self.wasm.clone();
        wasm["config"]["configuration"]["value"] = config.into();
        json!({ "resources": [{
            "@type": "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig",
            "name": FILTER,
            "typed_config": wasm,
        }] })
    }
}

/// The file of servers that Envoy watches.
pub(crate) fn servers_resource(servers: &[(SocketAddr, u32)]) -> Value {
    let endpoint = |(server, weight): &(SocketAddr, u32)| {
        json!({
            "endpoint": { "address": socket_address(*server) },
            "load_balancing_weight": weight,
        })
    };
    json!({ "resources": [{
        "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
        "cluster_name": SERVERS,
        "endpoints": [{ "lb_endpoints": servers.iter().map(endpoint).collect::<Vec<_>>() }],
    }] })
}

fn socket_address(address: SocketAddr) -> Value {
    json!({ "socket_address": { "address": address.ip().to_string(), "port_value": address.port() } })
}

fn watched(file: &Path) -> Value {
    json!({ "path_config_source": { "path": file }, "resource_api_version": "V3" })
}

pub(crate) fn render(shipped: &Path, changes: &Changes<'_>) -> Result<Rendered, ClusterError> {
    let text = std::fs::read_to_string(shipped)
        .map_err(|error| ClusterError::io("read", shipped, error))?;
    render_text(&text, changes)
        .map_err(|reason| ClusterError::Config { path: PathBuf::from(shipped), reason })
}

fn render_text(text: &str, changes: &Changes<'_>) -> Result<Rendered, String> {
    let mut bootstrap: Value = yaml_serde::from_str(text).map_err(|error| error.to_string())?;
    let admin = match changes.admin {
        AdminAddress::Tcp(address) => socket_address(*address),
        AdminAddress::Unix(path) => json!({ "pipe": { "path": path, "mode": 0o600 } }),
    };
    *at(&mut bootstrap, "/static_resources/listeners/0/address")? =
        socket_address(changes.listener);
    *at(&mut bootstrap, "/admin/address")? = admin.clone();
    // Envoy asks for a name before it accepts configuration from files.
    bootstrap["node"] = json!({ "id": "rudolph-testbed", "cluster": "rudolph-testbed" });
    watch_servers(cluster(&mut bootstrap, SERVERS)?, changes.servers_file);
    let filter = match &changes.kind {
        Kind::Filter { file, module, fields, polls, failure_policy, status, echo_debug } => {
            let endpoint = "/load_assignment/endpoints/0/lb_endpoints/0/endpoint/address";
            *at(cluster(&mut bootstrap, ADMIN_CLUSTER)?, endpoint)? =
                polls.map_or(admin, socket_address);
            if let Some(header) = echo_debug {
                at(&mut bootstrap, &format!("{MANAGER}/route_config"))?["response_headers_to_add"] =
                    json!([{ "header": { "key": header, "value": format!("%REQ({header})%") } }]);
            }
            let mut parts = watch_filter(&mut bootstrap, file, module, fields)?;
            match status {
                Some(page) => place_status(&mut bootstrap, page, module)?,
                None => listeners(&mut bootstrap)?.retain(|listener| listener["name"] != STATUS),
            }
            if let Some(policy) = failure_policy {
                parts.wasm["config"]["failure_policy"] = (*policy).into();
            }
            Some(parts)
        }
        Kind::Baseline { policy, servers } => {
            cluster(&mut bootstrap, SERVERS)?["load_balancing_policy"] = policy.policy();
            if let Baseline::Range { span } = policy {
                range::place(at(&mut bootstrap, MANAGER)?, *span, servers)?;
            }
            None
        }
    };
    Ok(Rendered { bootstrap, filter })
}

pub(crate) fn at<'v>(value: &'v mut Value, pointer: &str) -> Result<&'v mut Value, String> {
    value.pointer_mut(pointer).ok_or_else(|| format!("nothing at {pointer}"))
}

fn cluster<'v>(bootstrap: &'v mut Value, name: &str) -> Result<&'v mut Value, String> {
    let clusters = at(bootstrap, "/static_resources/clusters")?.as_array_mut();
    let found = clusters.into_iter().flatten().find(|cluster| cluster["name"] == name);
    found.ok_or_else(|| format!("no cluster {name}"))
}

fn listeners(bootstrap: &mut Value) -> Result<&mut Vec<Value>, String> {
    let listeners = at(bootstrap, "/static_resources/listeners")?.as_array_mut();
    listeners.ok_or_else(|| "no list of listeners".to_owned())
}

fn place_status(bootstrap: &mut Value, page: &StatusPage<'_>, module: &Path) -> Result<(), String> {
    let found = listeners(bootstrap)?.iter_mut().find(|listener| listener["name"] == STATUS);
    let listener = found.ok_or_else(|| format!("no listener {STATUS}"))?;
    listener["address"] = socket_address(page.listener);
    let filter = at(listener, STATUS_FILTER)?;
    *at(filter, "/vm_config/code/local/filename")? = json!(module);
    let text = at(filter, "/configuration/value")?;
    let mut config: Value = serde_json::from_str(text.as_str().unwrap_or_default())
        .map_err(|error| format!("configuration of the status page: {error}"))?;
    for (name, value) in page.fields {
        config[name] = value.clone();
    }
    *text = config.to_string().into();
    Ok(())
}

/// Leaves out what costs each request something and decides nothing.
pub(crate) fn make_bare(bootstrap: &mut Value) -> Result<(), String> {
    let manager = at(bootstrap, MANAGER)?;
    manager["generate_request_id"] = false.into();
    manager["skip_xff_append"] = true.into();
    let router =
        at(manager, "/http_filters")?.as_array_mut().and_then(|filters| filters.last_mut());
    let router = router.ok_or("no HTTP filter")?;
    router["typed_config"]["suppress_envoy_headers"] = true.into();
    router["typed_config"]["dynamic_stats"] = false.into();
    let protocol = at(cluster(bootstrap, SERVERS)?, PROTOCOL)?.as_object_mut();
    protocol.ok_or("no protocol options")?.remove("http_filters");
    Ok(())
}

fn watch_servers(cluster: &mut Value, file: &Path) {
    if let Some(cluster) = cluster.as_object_mut() {
        cluster.remove("load_assignment");
        cluster.insert("type".to_owned(), "EDS".into());
        cluster.insert("eds_cluster_config".to_owned(), json!({ "eds_config": watched(file) }));
        // A server taken off the list goes at once, not when its health check fails.
        cluster.insert("ignore_health_on_host_removal".to_owned(), true.into());
    }
}

/// Takes the filter out into its own file and leaves the reference to that file in its place.
fn watch_filter(
    bootstrap: &mut Value,
    file: &Path,
    module: &Path,
    fields: &Map<String, Value>,
) -> Result<FilterParts, String> {
    let filters = at(bootstrap, &format!("{MANAGER}/http_filters"))?.as_array_mut();
    let entry = filters.into_iter().flatten().find(|filter| filter["name"] == FILTER);
    let entry = entry.ok_or_else(|| format!("no HTTP filter {FILTER}"))?;
    let mut wasm = at(entry, "/typed_config")?.take();
    *entry = json!({
        "name": FILTER,
        "config_discovery": { "config_source": watched(file), "type_urls": [FILTER_TYPE] },
    });
    *at(&mut wasm, "/config/vm_config/code/local/filename")? = json!(module);
    let text = at(&mut wasm, "/config/configuration/value")?.as_str().unwrap_or_default();
    let mut config: Value = serde_json::from_str(text)
        .map_err(|error| format!("configuration of the filter: {error}"))?;
    let own = config.as_object_mut().ok_or("configuration of the filter: not a JSON object")?;
    own.extend(fields.iter().map(|(name, value)| (name.clone(), value.clone())));
    Ok(FilterParts { wasm, config })
}

#[cfg(test)]
mod tests;
