//! What a control plane made: lists of Envoy resources, with names in the form of JSON (`lowerCamelCase`).

use std::path::Path;

use rudolph_deployments::Failure;
use serde_json::Value;

use crate::Kind;

/// The resources of one proxy.
#[derive(Debug, Default)]
pub(crate) struct Translation {
    pub(crate) listeners: Vec<Value>,
    pub(crate) clusters: Vec<Value>,
    pub(crate) routes: Vec<Value>,
    pub(crate) endpoints: Vec<Value>,
    /// Filters that a listener names and does not hold.
    pub(crate) extensions: Vec<Value>,
}

impl Translation {
    pub(crate) fn read(kind: Kind, path: &Path) -> Result<Self, Failure> {
        let unreadable = |reason: String| Failure::unreadable(path.display().to_string(), reason);
        let text = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
        let json: Value =
            serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
        match kind {
            Kind::Istio => Ok(Self::of_lists(&json)),
            Kind::EnvoyGateway => Self::of_config_dumps(&json).map_err(unreadable),
        }
    }

    /// From what `scripts/gateways/istio.go` prints.
    fn of_lists(json: &Value) -> Self {
        let list = |name: &str| json[name].as_array().cloned().unwrap_or_default();
        Self {
            listeners: list("listeners"),
            clusters: list("clusters"),
            routes: list("routes"),
            endpoints: list("endpoints"),
            extensions: list("extensions"),
        }
    }

    /// From what `egctl x translate --to gateway-api,xds` prints, if all of it was accepted.
    fn of_config_dumps(json: &Value) -> Result<Self, String> {
        if let Some(refusal) = refusal_in(json) {
            return Err(refusal);
        }
        let gateways = json["xds"].as_object().ok_or("there is no xds in it")?;
        let mut all = Self::default();
        for dump in gateways.values().filter_map(|gateway| gateway["configs"].as_array()).flatten()
        {
            let list = |field: &str, inner: &str| -> Vec<Value> {
                let entries = dump[field].as_array().into_iter().flatten();
                entries.filter_map(|entry| entry.pointer(inner)).cloned().collect()
            };
            all.listeners.extend(list("dynamicListeners", "/activeState/listener"));
            all.clusters.extend(list("dynamicActiveClusters", "/cluster"));
            all.routes.extend(list("dynamicRouteConfigs", "/routeConfig"));
            all.endpoints.extend(list("dynamicEndpointConfigs", "/endpointConfig"));
            let own = dump.pointer("/bootstrap/staticResources/clusters").and_then(Value::as_array);
            let added =
                own.into_iter().flatten().filter(|cluster| cluster["name"] == "rudolph_admin");
            all.clusters.extend(added.cloned());
        }
        Ok(all)
    }
}

/// The first condition of a resource that is not met, as Envoy Gateway would write it into its status.
fn refusal_in(json: &Value) -> Option<String> {
    match json {
        Value::Object(map) => {
            // One type says what is wrong, all others what is right.
            let bad = match map.get("type").and_then(Value::as_str) {
                Some("Conflicted") => "True",
                _ => "False",
            };
            if map.get("status").is_some_and(|status| status == bad) {
                return Some(format!("not accepted: {}", map.get("message")?));
            }
            map.values().find_map(refusal_in)
        }
        Value::Array(list) => list.iter().find_map(refusal_in),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_not_accepted_is_told() {
        let condition = json!({"type": "Accepted", "status": "False", "message": "no such field"});
        let policies = json!({"policies": [{"status": {"conditions": [condition]}}], "xds": {}});
        let refusal = Translation::of_config_dumps(&policies).unwrap_err();
        assert_eq!(refusal, "not accepted: \"no such field\"");
    }

    #[test]
    fn what_is_in_conflict_is_told() {
        let with = |status: &str| {
            let condition = json!({"type": "Conflicted", "status": status, "message": "one port"});
            json!({"listenerSets": [{"status": {"conditions": [condition]}}], "xds": {}})
        };
        assert!(Translation::of_config_dumps(&with("False")).is_ok());
        let refusal = Translation::of_config_dumps(&with("True")).unwrap_err();
        assert_eq!(refusal, "not accepted: \"one port\"");
    }

    #[test]
    fn resources_come_out_of_their_dumps() {
        let bootstrap =
            json!({"staticResources": {"clusters": [{"name": "rudolph_admin"}, {"name": "xds"}]}});
        let configs = json!([
            {"bootstrap": bootstrap},
            {"dynamicActiveClusters": [{"cluster": {"name": "app"}}]},
            {"dynamicListeners": [{"activeState": {"listener": {"name": "web"}}}]},
            {"dynamicRouteConfigs": [{"routeConfig": {"name": "web"}}]},
            {"dynamicEndpointConfigs": [{"endpointConfig": {"clusterName": "app"}}]},
        ]);
        let all = Translation::of_config_dumps(&json!({"xds": {"a/b": {"configs": configs}}}));
        let all = all.unwrap();
        let names: Vec<&Value> = all.clusters.iter().map(|cluster| &cluster["name"]).collect();
        assert_eq!(names, ["rudolph_admin", "app"]);
        assert_eq!(all.listeners, [json!({"name": "web"})]);
        assert_eq!(all.routes, [json!({"name": "web"})]);
        assert_eq!(all.endpoints, [json!({"clusterName": "app"})]);
    }
}
