//! The answer of Envoy's admin interface.

use rudolph_core::admin::read_clusters;
use rudolph_core::servers::{Address, MAX_WEIGHT, Members, Server};
use serde_json::Value;

/// An answer is refused, or its usable servers are those that a plain reading of the JSON finds.
pub fn admin(body: &[u8]) {
    let Ok(census) = read_clusters(body, "app") else { return };
    // What the filter does not look at is not read as closely: bytes that are no UTF-8 may stand there.
    let Ok(answer) = serde_json::from_slice::<Value>(body) else { return };
    let clusters = answer["cluster_statuses"].as_array().cloned().unwrap_or_default();
    let found = clusters.iter().find(|it| it["name"].as_str().unwrap_or("") == "app");
    let hosts = found.and_then(|it| it["host_statuses"].as_array()).cloned().unwrap_or_default();
    let usable: Vec<(u64, Server)> = hosts.iter().filter_map(usable).collect();
    let first = usable.iter().map(|(priority, _)| *priority).min();
    let servers = usable.into_iter().filter(|(priority, _)| Some(*priority) == first);
    let expected = Members::new(servers.map(|(_, server)| server).collect());
    assert_eq!(census.usable, expected);
    assert!(census.usable.servers().windows(2).all(|two| two[0].address < two[1].address));
    assert!(census.unusable <= hosts.len());
}

const FLAGS: [&str; 6] = [
    "failed_active_health_check",
    "failed_outlier_check",
    "pending_dynamic_removal",
    "pending_active_hc",
    "excluded_via_immediate_hc_fail",
    "active_hc_timeout",
];

/// A server and its priority, if it may be sent requests.
fn usable(host: &Value) -> Option<(u64, Server)> {
    let health = &host["health_status"];
    let told = health["eds_health_status"].as_str().unwrap_or("");
    let flagged = FLAGS.iter().any(|flag| health[*flag].as_bool() == Some(true));
    if flagged || matches!(told, "UNHEALTHY" | "DRAINING" | "TIMEOUT") {
        return None;
    }
    let socket = &host["address"]["socket_address"];
    let (ip, port) = (socket["address"].as_str()?, socket["port_value"].as_u64()?);
    let text = if ip.contains(':') { format!("[{ip}]:{port}") } else { format!("{ip}:{port}") };
    let weight = host["weight"].as_u64().unwrap_or(1).clamp(1, u64::from(MAX_WEIGHT));
    let weight = u32::try_from(weight).ok()?;
    Some((
        host["priority"].as_u64().unwrap_or(0),
        Server { address: Address::parse(&text)?, weight },
    ))
}
