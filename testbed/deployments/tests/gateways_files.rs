//! The resources for Envoy Gateway and Istio, as far as they can be checked without those: they are well formed, their
//! names agree, the filter takes its configuration, and Envoy takes what `make gateways-test` once saw come out of them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may stop")]

use std::fs;
use std::path::{Path, PathBuf};

use rudolph_core::config::{Config, Configuration, Membership};
use serde_json::{Value, json};

const PAGE: &str = "rudolph-status";
const PAGE_PORT: u16 = 9903;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn documents(file: &str) -> Vec<Value> {
    let text = fs::read_to_string(repository().join(file)).unwrap();
    text.split("\n---\n").map(|document| yaml_serde::from_str(document).unwrap()).collect()
}

/// What routes, and what the status page alone needs, which ends the file.
fn parts(file: &str) -> (Vec<Value>, Vec<Value>) {
    let is_page = |one: &Value| one["metadata"]["name"] == PAGE;
    let (page, routing): (Vec<Value>, Vec<Value>) = documents(file).into_iter().partition(is_page);
    let text = fs::read_to_string(repository().join(file)).unwrap();
    let (_, block) = text.split_once("\n# [status page] ").unwrap();
    assert_eq!(block.matches("\n---\n").count(), page.len(), "documents of the page's block");
    assert_eq!(block.matches("\n  name: rudolph-status\n").count(), page.len());
    (routing, page)
}

fn of_kind<'a>(documents: &'a [Value], kind: &str) -> &'a Value {
    let found: Vec<&Value> = documents.iter().filter(|one| one["kind"] == kind).collect();
    let [one] = found[..] else { panic!("{} of {kind}", found.len()) };
    one
}

/// Its configuration is that of the page, of defaults only.
fn is_page(configuration: &Value) {
    let text = configuration.to_string();
    match Configuration::from_json(text.as_bytes()).unwrap() {
        Configuration::Status(_) => assert_eq!(configuration, &json!({"mode": "status"})),
        Configuration::Route(_) => panic!("{text}"),
    }
}

/// The members' cluster and the admin cluster of the filter's configuration, which must be sound.
fn clusters(configuration: &Value) -> (String, String) {
    let config = Config::from_json(configuration.to_string().as_bytes()).unwrap();
    assert_eq!(config.upstream_header, "x-rudolph-upstream");
    match config.membership {
        Membership::EnvoyAdmin { cluster, admin_cluster, .. } => (cluster, admin_cluster),
        Membership::Static(_) => panic!("static"),
    }
}

fn text<'a>(json: &'a Value, pointer: &str) -> &'a str {
    json.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{pointer}: {json}"))
}

#[test]
fn names_agree_in_envoy_gateways_resources() {
    let (all, _) = parts("envoy/envoy-gateway/rudolph.yaml");
    let extension = of_kind(&all, "EnvoyExtensionPolicy");
    let (cluster, admin) = clusters(&extension["spec"]["wasm"][0]["config"]);
    let (gateway, route) = (of_kind(&all, "Gateway"), of_kind(&all, "HTTPRoute"));
    let namespace = text(gateway, "/metadata/namespace");
    for one in &all {
        assert_eq!(text(one, "/metadata/namespace"), namespace);
    }
    let gateway_name = text(gateway, "/metadata/name");
    let route_name = text(route, "/metadata/name");
    assert_eq!(cluster, format!("httproute/{namespace}/{route_name}/rule/0"));
    let proxy = of_kind(&all, "EnvoyProxy");
    assert_eq!(text(proxy, "/spec/bootstrap/jsonPatches/0/value/name"), admin);
    assert_eq!(
        text(gateway, "/spec/infrastructure/parametersRef/name"),
        text(proxy, "/metadata/name")
    );
    assert_eq!(text(route, "/spec/parentRefs/0/name"), gateway_name);

    let targets = [
        ("EnvoyExtensionPolicy", "/spec/targetRefs/0/name", route_name),
        ("BackendTrafficPolicy", "/spec/targetRefs/0/name", route_name),
        ("ClientTrafficPolicy", "/spec/targetRefs/0/name", gateway_name),
        ("EnvoyPatchPolicy", "/spec/targetRef/name", gateway_name),
    ];
    for (kind, pointer, name) in targets {
        assert_eq!(text(of_kind(&all, kind), pointer), name, "{kind}");
    }
    let policy = text(extension, "/metadata/name");
    let filter =
        format!("envoy.filters.http.wasm/envoyextensionpolicy/{namespace}/{policy}/wasm/0");
    let listener = text(gateway, "/spec/listeners/0/name");
    let patches = of_kind(&all, "EnvoyPatchPolicy")["spec"]["jsonPatches"].as_array().unwrap();
    for patch in patches {
        if text(patch, "/type").ends_with(".Listener") {
            assert_eq!(text(patch, "/name"), format!("{namespace}/{gateway_name}/{listener}"));
            assert!(text(patch, "/operation/jsonPath").contains(&format!("\"{filter}\"")));
        } else {
            assert_eq!(text(patch, "/name"), cluster);
        }
    }
}

#[test]
fn names_agree_in_istios_resources() {
    let (all, _) = parts("envoy/istio/rudolph.yaml");
    let plugin = of_kind(&all, "WasmPlugin");
    let (cluster, admin) = clusters(&plugin["spec"]["pluginConfig"]);
    let rule = of_kind(&all, "DestinationRule");
    let host = text(rule, "/spec/host");
    let routes = of_kind(&all, "VirtualService")["spec"]["http"].as_array().unwrap();
    for route in routes {
        assert_eq!(text(route, "/route/0/destination/host"), host);
        let port = &route["route"][0]["destination"]["port"]["number"];
        assert_eq!(cluster, format!("outbound|{port}||{host}"));
    }
    let labels = json!({"istio": "ingressgateway"});
    let filter = of_kind(&all, "EnvoyFilter");
    assert_eq!(filter["spec"]["workloadSelector"]["labels"], labels);
    assert_eq!(plugin["spec"]["selector"]["matchLabels"], labels);
    assert_eq!(of_kind(&all, "Gateway")["spec"]["selector"], labels);
    let patches = filter["spec"]["configPatches"].as_array().unwrap();
    let added = patches.iter().find(|patch| patch["patch"]["operation"] == "ADD").unwrap();
    assert_eq!(text(added, "/patch/value/name"), admin);
    let matched: Vec<&Value> =
        patches.iter().filter_map(|patch| patch.pointer("/match/cluster")).collect();
    assert_eq!(matched.len(), 1);
    assert_eq!(cluster, format!("outbound|{}||{host}", matched[0]["portNumber"]));
    assert_eq!(matched[0]["service"], host);
    for one in &all {
        assert_eq!(one["metadata"]["namespace"], plugin["metadata"]["namespace"]);
    }
}

#[test]
fn envoy_gateways_page_has_a_listener_of_its_own_on_loopback() {
    let (routing, page) = parts("envoy/envoy-gateway/rudolph.yaml");
    let gateway = of_kind(&routing, "Gateway");
    let (namespace, name) = (text(gateway, "/metadata/namespace"), text(gateway, "/metadata/name"));
    for one in &page {
        assert_eq!(text(one, "/metadata/namespace"), namespace);
    }
    assert_eq!(text(gateway, "/spec/allowedListeners/namespaces/from"), "Same");
    let set = of_kind(&page, "ListenerSet");
    assert_eq!(text(set, "/spec/parentRef/name"), name);
    assert_eq!(set.pointer("/spec/listeners/0/port"), Some(&json!(PAGE_PORT)));
    let service = "/spec/provider/kubernetes/envoyService/patch/value/spec/ports";
    let unnamed = json!([{"port": PAGE_PORT, "$patch": "delete"}]);
    assert_eq!(of_kind(&routing, "EnvoyProxy").pointer(service), Some(&unnamed));
    let parent = json!({"group": "gateway.networking.k8s.io", "kind": "ListenerSet", "name": PAGE});
    assert_eq!(of_kind(&page, "HTTPRoute")["spec"]["parentRefs"], json!([parent]));

    let (own, other) =
        (of_kind(&page, "EnvoyExtensionPolicy"), of_kind(&routing, "EnvoyExtensionPolicy"));
    assert_eq!(text(own, "/spec/targetRefs/0/name"), PAGE);
    assert_eq!(own["spec"]["wasm"][0]["code"], other["spec"]["wasm"][0]["code"]);
    is_page(&own["spec"]["wasm"][0]["config"]);

    let vm = |policy: &str| format!("envoyextensionpolicy/{namespace}/{policy}/wasm/0");
    let listener =
        format!("{namespace}/{name}/{namespace}/{PAGE}/{}", text(set, "/spec/listeners/0/name"));
    let policy = of_kind(&page, "EnvoyPatchPolicy");
    assert_eq!(text(policy, "/spec/targetRef/name"), name);
    let patches = policy["spec"]["jsonPatches"].as_array().unwrap();
    for patch in patches {
        assert_eq!(text(patch, "/name"), listener);
        if let Some(path) = patch.pointer("/operation/jsonPath").and_then(Value::as_str) {
            assert!(path.contains(&format!("\"envoy.filters.http.wasm/{}\"", vm(PAGE))), "{path}");
        }
    }
    let value = |path: &str| {
        let patch = patches.iter().find(|patch| patch["operation"]["path"] == path).unwrap();
        patch["operation"]["value"].clone()
    };
    let loopback = json!({"socket_address": {"address": "127.0.0.1", "port_value": PAGE_PORT}});
    assert_eq!(value("/address"), loopback);
    assert_eq!(value("/bind_to_port"), json!(true));
    assert_eq!(value("vm_id"), json!(vm(text(other, "/metadata/name"))));
}

#[test]
fn istios_page_has_a_listener_of_its_own_on_loopback() {
    let (routing, page) = parts("envoy/istio/rudolph.yaml");
    let gateway = of_kind(&page, "Gateway");
    let routes = of_kind(&routing, "Gateway");
    assert_eq!(gateway["spec"]["selector"], routes["spec"]["selector"]);
    for one in &page {
        assert_eq!(one["metadata"]["namespace"], routes["metadata"]["namespace"]);
    }
    let servers = gateway["spec"]["servers"].as_array().unwrap();
    assert_eq!(servers.len(), 1);
    assert_eq!(servers[0]["bind"], "127.0.0.1");
    assert_eq!(servers[0]["port"]["number"], PAGE_PORT);
    let (own, other) = (of_kind(&page, "WasmPlugin"), of_kind(&routing, "WasmPlugin"));
    for field in ["selector", "type", "url", "imagePullPolicy", "failStrategy"] {
        assert_eq!(own["spec"][field], other["spec"][field], "{field}");
    }
    assert!(own["spec"]["priority"].as_i64() > Some(0) && other["spec"]["priority"].is_null());
    assert_eq!(own["spec"]["match"], json!([{"mode": "CLIENT", "ports": [{"number": PAGE_PORT}]}]));
    is_page(&own["spec"]["pluginConfig"]);
    let filter = of_kind(&page, "EnvoyFilter");
    assert_eq!(
        filter["spec"]["workloadSelector"],
        of_kind(&routing, "EnvoyFilter")["spec"]["workloadSelector"]
    );
    let patch = &filter["spec"]["configPatches"][0];
    assert_eq!(patch["match"]["listener"]["portNumber"], PAGE_PORT);
    assert_eq!(patch["patch"]["value"], json!({"bind_to_port": true}));
}

/// Each header is taken from clients before any filter, and the filter's own from what servers get.
#[test]
fn every_translation_is_taken_by_envoy_and_strips_the_headers() {
    let folder = tempfile::tempdir().unwrap();
    let endpoints = folder.path().join("endpoints.json");
    fs::write(&endpoints, json!({"versionInfo": "1", "resources": []}).to_string()).unwrap();
    let module = repository().join("target/rudolph.wasm").canonicalize().unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gateways");
    for name in ["envoy-gateway", "istio"] {
        let text = fs::read_to_string(golden.join(format!("{name}.json"))).unwrap();
        let text = text.replace("MODULE", module.to_str().unwrap());
        let text = text.replace("ENDPOINTS", endpoints.to_str().unwrap());
        let file = folder.path().join(format!("{name}.json"));
        fs::write(&file, &text).unwrap();
        if let Err(error) = rudolph_cluster::validate(&file) {
            panic!("{name}: {error}");
        }
        let has = |words: &str| assert!(text.contains(words), "{name}: {words}");
        has("\"earlyHeaderMutationExtensions\"");
        has("\"remove\": \"x-rudolph-upstream\"");
        has("\"remove\": \"x-rudolph-debug\"");
        has("\"overrideHostSources\"");
        has("\"failurePolicy\": \"FAIL_RELOAD\"");
        has("\"requestMutations\"");
        has_page_on_loopback(&serde_json::from_str(&text).unwrap());
    }
}

/// The page's listener is none but loopback's, and its VM the routing filter's.
fn has_page_on_loopback(bootstrap: &Value) {
    let listeners = bootstrap["staticResources"]["listeners"].as_array().unwrap();
    let is_page = |listener: &&Value| listener.to_string().contains(r#"{\"mode\":\"status\"}"#);
    let (page, routing): (Vec<&Value>, Vec<&Value>) = listeners.iter().partition(is_page);
    assert_eq!((page.len(), routing.len()), (1, 1));
    let loopback = json!({"address": "127.0.0.1", "portValue": PAGE_PORT});
    assert_eq!(page[0]["address"]["socketAddress"], loopback);
    assert_eq!(page[0]["bindToPort"], true);
    let mut ids = Vec::new();
    vm_ids(page[0], &mut ids);
    vm_ids(routing[0], &mut ids);
    assert!(ids.len() > 1 && ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

/// Of all plugins, blank ones too.
fn vm_ids(json: &Value, ids: &mut Vec<Value>) {
    match json {
        Value::Object(map) => {
            ids.extend(map.get("vmConfig").map(|vm| vm["vmId"].clone()));
            map.values().for_each(|one| vm_ids(one, ids));
        }
        Value::Array(list) => list.iter().for_each(|one| vm_ids(one, ids)),
        _ => {}
    }
}
