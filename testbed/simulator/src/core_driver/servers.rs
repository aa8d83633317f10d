//! The scenario's servers as the filter knows them: by address.

use serde_json::{Value, json};

use crate::balancer::ServerNumber;
use crate::scenario::Scenario;

/// The cluster that the filter asks for, and the one that it asks.
const CLUSTER: &str = "servers";
const ADMIN: &str = "admin";

/// The address of a server. Numbers are recovered from it, so that no map is needed.
pub(crate) fn address(number: ServerNumber) -> String {
    let (ip, port) = parts(number);
    format!("{ip}:{port}")
}

fn parts(number: ServerNumber) -> (String, u32) {
    (format!("10.{}.{}.{}", number >> 16, number >> 8 & 255, number & 255), 8080)
}

/// The number of the server at an address that [`address`] made.
pub(super) fn number_of(address: &str) -> ServerNumber {
    let ip = address.split(':').next().unwrap_or_default();
    let bytes = ip.split('.').skip(1).map(|byte| byte.parse().unwrap_or(0));
    bytes.fold(0, |number, byte: ServerNumber| number << 8 | byte)
}

/// Where servers come and go the filter polls; elsewhere they are listed.
pub(super) fn membership(scenario: &Scenario) -> Value {
    if !scenario.events.is_empty() {
        return json!({"source": "envoy_admin", "cluster": CLUSTER, "admin_cluster": ADMIN});
    }
    let numbers = 0..scenario.servers.count as ServerNumber;
    let servers: Vec<Value> = numbers.map(|number| json!({"address": address(number)})).collect();
    json!({"source": "static", "servers": servers})
}

/// What the admin interface of a gateway answers that knows these servers.
pub(super) fn clusters(alive: &[ServerNumber]) -> String {
    let host = |&number: &ServerNumber| {
        let (ip, port) = parts(number);
        json!({
            "address": {"socket_address": {"address": ip, "port_value": port}},
            "health_status": {"eds_health_status": "HEALTHY"},
        })
    };
    let hosts: Vec<Value> = alive.iter().map(host).collect();
    json!({"cluster_statuses": [{"name": CLUSTER, "host_statuses": hosts}]}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_from_addresses() {
        for number in [0, 1, 255, 256, 4_999, 70_000] {
            assert_eq!(number_of(&address(number)), number);
        }
    }
}
