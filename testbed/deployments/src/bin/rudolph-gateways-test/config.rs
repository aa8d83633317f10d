//! From what a control plane would serve to a configuration that an Envoy of its own can start with.
//!
//! Only this changes: where things come from (files instead of a control plane), the addresses of the listener and of the
//! admin interface, the status page's port, not its address; and what is left out by name: filters that are compiled into
//! Istio's proxy alone, and the choice between plain connections and mutual TLS, whose certificates come from Istio's
//! agent.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::page::Page;
use crate::translation::Translation;

/// The addresses on which this Envoy listens, and its files.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) gateway: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) page_port: u16,
    pub(crate) module: &'a Path,
    pub(crate) endpoints: &'a Path,
}

/// A configuration, and the names of what it does without.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) bootstrap: Value,
    pub(crate) endpoints: Value,
    pub(crate) left_out: BTreeSet<String>,
    pub(crate) page: Option<Page>,
}

pub(crate) fn render(translation: &Translation, place: &Place<'_>) -> Rendered {
    let mut left_out = BTreeSet::new();
    let mut listeners = Vec::new();
    let mut page = None;
    // The others answer probes of the control plane and forward nothing.
    for listener in translation.listeners.iter().filter(|one| holds(one, "rds")) {
        let mut listener = listener.clone();
        without_type(&mut listener);
        visit(&mut listener, &mut |map| {
            inline(map, translation);
            leave_out(map, &mut left_out);
            point_to_module(map, place.module);
        });
        match Page::of(&listener, place.page_port) {
            Some(found) => {
                listener["address"] = address(found.here);
                page = Some(found);
            }
            None => listener["address"] = address(place.gateway),
        }
        listeners.push(listener);
    }
    // Istio's come in any order.
    listeners.sort_by_key(|listener| listener["name"].to_string());
    let mut clusters = translation.clusters.clone();
    for cluster in &mut clusters {
        without_type(cluster);
        let mutual_tls =
            cluster.as_object_mut().and_then(|map| map.remove("transportSocketMatches"));
        if mutual_tls.is_some() {
            left_out.insert("transportSocketMatches".to_owned());
        }
        visit(cluster, &mut |map| {
            leave_out(map, &mut left_out);
            if let Some(source) = map.get_mut("edsConfig") {
                *source = json!({"pathConfigSource": {"path": place.endpoints}});
            }
        });
        if cluster["name"] == "rudolph_admin" {
            cluster["loadAssignment"]["endpoints"] =
                json!([{"lbEndpoints": [{"endpoint": {"address": address(place.admin)}}]}]);
        }
    }
    let bootstrap = json!({
        "node": {"id": "test", "cluster": "test"},
        "admin": {"address": address(place.admin)},
        "staticResources": {"listeners": listeners, "clusters": clusters},
    });
    Rendered { bootstrap, endpoints: endpoints(translation), left_out, page }
}

fn address(of: SocketAddr) -> Value {
    json!({"socketAddress": {"address": of.ip().to_string(), "portValue": of.port()}})
}

fn endpoints(translation: &Translation) -> Value {
    const TYPE: &str = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
    let mut resources = translation.endpoints.clone();
    for resource in &mut resources {
        resource["@type"] = json!(TYPE);
    }
    json!({"versionInfo": "1", "resources": resources})
}

fn inline(map: &mut Map<String, Value>, translation: &Translation) {
    let named = |list: &[Value], name: &Value| {
        list.iter().find(|resource| &resource["name"] == name).cloned()
    };
    if let Some(discovery) = map.remove("rds")
        && let Some(mut routes) = named(&translation.routes, &discovery["routeConfigName"])
    {
        without_type(&mut routes);
        map.insert("routeConfig".to_owned(), routes);
    }
    if map.contains_key("configDiscovery")
        && let Some(name) = map.get("name").cloned()
        && let Some(extension) = named(&translation.extensions, &name)
    {
        map.remove("configDiscovery");
        map.insert("typedConfig".to_owned(), extension["typedConfig"].clone());
    }
}

/// A field that has one type only is written without it.
fn without_type(resource: &mut Value) {
    if let Some(map) = resource.as_object_mut() {
        map.remove("@type");
    }
}

fn leave_out(map: &mut Map<String, Value>, left_out: &mut BTreeSet<String>) {
    let is_istios = |filter: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        text(&filter["name"]).starts_with("istio.")
            || text(&filter["typedConfig"]["@type"]).contains("/istio.")
            || text(&filter["typedConfig"]["@type"]).contains(".istio_")
    };
    for list in ["httpFilters", "filters"] {
        let Some(filters) = map.get_mut(list).and_then(Value::as_array_mut) else { continue };
        filters.retain(|filter| {
            let leave = is_istios(filter);
            if leave {
                left_out.insert(filter["name"].as_str().unwrap_or_default().to_owned());
            }
            !leave
        });
    }
}

fn point_to_module(map: &mut Map<String, Value>, module: &Path) {
    let remote = map.get("code").is_some_and(|code| code.get("remote").is_some());
    if remote {
        map.insert("code".to_owned(), json!({"local": {"filename": module}}));
        // Words of Istio's control plane to its agent, which takes them out when it has fetched the module.
        map.remove("environmentVariables");
    }
}

fn holds(json: &Value, name: &str) -> bool {
    match json {
        Value::Object(map) => map.contains_key(name) || map.values().any(|one| holds(one, name)),
        Value::Array(list) => list.iter().any(|one| holds(one, name)),
        _ => false,
    }
}

/// All objects, a parent before its children: what was put in is visited too.
fn visit(json: &mut Value, change: &mut dyn FnMut(&mut Map<String, Value>)) {
    match json {
        Value::Object(map) => {
            change(map);
            map.values_mut().for_each(|one| visit(one, change));
        }
        Value::Array(list) => list.iter_mut().for_each(|one| visit(one, change)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_from_a_control_plane_comes_from_files() {
        let wasm = json!({"config": {"vmConfig": {"code": {"remote": {"sha256": "0"}}}}});
        let filters = json!([
            {"name": "istio.alpn", "typedConfig": {}},
            {"name": "rudolph", "configDiscovery": {"configSource": {}}},
        ]);
        let manager = json!({"httpFilters": filters, "rds": {"routeConfigName": "web"}});
        let translation = Translation {
            listeners: vec![json!({"name": "ready"}), json!({"name": "web", "manager": manager})],
            clusters: vec![json!({"name": "app", "edsClusterConfig": {"edsConfig": {"ads": {}}}})],
            routes: vec![json!({"@type": "x", "name": "web", "virtualHosts": []})],
            endpoints: vec![json!({"clusterName": "app"})],
            extensions: vec![json!({"name": "rudolph", "typedConfig": wasm})],
        };
        let place = Place {
            gateway: ([127, 0, 0, 1], 1).into(),
            admin: ([127, 0, 0, 1], 2).into(),
            page_port: 3,
            module: Path::new("/m.wasm"),
            endpoints: Path::new("/e.json"),
        };
        let rendered = render(&translation, &place);
        let resources = &rendered.bootstrap["staticResources"];
        let [listener] = &resources["listeners"].as_array().unwrap()[..] else {
            panic!("{resources}")
        };
        assert_eq!(listener["address"]["socketAddress"]["portValue"], 1);
        assert_eq!(rendered.page, None);
        let manager = &listener["manager"];
        assert_eq!(manager["routeConfig"], json!({"name": "web", "virtualHosts": []}));
        let code = json!({"local": {"filename": "/m.wasm"}});
        let filter = &manager["httpFilters"][0];
        assert_eq!(filter["typedConfig"]["config"]["vmConfig"]["code"], code);
        assert_eq!(rendered.left_out, BTreeSet::from(["istio.alpn".to_owned()]));
        let source = &resources["clusters"][0]["edsClusterConfig"]["edsConfig"];
        assert_eq!(source["pathConfigSource"]["path"], "/e.json");
        assert_eq!(rendered.endpoints["resources"][0]["clusterName"], "app");
    }
}
