//! envoy/kubernetes-sidecar as it lies there: no cluster, no container. `make kubernetes-test` runs it.

use std::fs;
use std::path::{Path, PathBuf};

use rudolph_cluster::validate;
use yaml_serde::Value;

const MODULE: &str = "/etc/rudolph/plugin.wasm";

type Read<T> = Result<T, Box<dyn std::error::Error>>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../envoy/kubernetes-sidecar")
}

fn text(file: &str) -> Read<String> {
    fs::read_to_string(folder().join(file)).map_err(|error| format!("{file}: {error}").into())
}

/// Every document of a file.
fn documents(file: &str) -> Read<Vec<Value>> {
    let text = text(file)?;
    let read = |part| yaml_serde::from_str(part).map_err(|error| format!("{file}: {error}").into());
    text.split("\n---\n").map(read).collect()
}

fn only(file: &str) -> Read<Value> {
    match documents(file)?.as_slice() {
        [document] => Ok(document.clone()),
        several => Err(format!("{file}: {} documents", several.len()).into()),
    }
}

fn of_kind(file: &str, kind: &str) -> Read<Value> {
    let found = documents(file)?.into_iter().find(|document| document["kind"] == kind);
    found.ok_or_else(|| format!("{file}: no {kind}").into())
}

fn yaml_files(under: &Path) -> Read<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(under)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(yaml_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.push(path);
        }
    }
    Ok(found)
}

fn named<'a>(list: &'a Value, name: &str) -> Read<&'a Value> {
    let mut items = list.as_sequence().into_iter().flatten();
    items.find(|item| item["name"] == name).ok_or_else(|| format!("no {name}").into())
}

#[test]
fn envoy_accepts_the_sidecars_configuration() {
    let root = folder().join("../..").canonicalize().unwrap();
    let module = std::env::var("RUDOLPH_WASM").unwrap_or_else(|_| "target/rudolph.wasm".to_owned());
    let configuration = text("sidecar/envoy.yaml").unwrap();
    assert!(configuration.contains(MODULE));
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("envoy.yaml");
    let here = configuration.replace(MODULE, &root.join(module).to_string_lossy());
    fs::write(&file, &here).unwrap();
    validate(&file).unwrap();
    fs::write(&file, here.replace("\"spread\"", "\"sprad\"")).unwrap();
    let refused = validate(&file).unwrap_err().to_string();
    assert!(refused.contains("sprad"), "{refused}");
}

#[test]
fn every_file_is_yaml_and_every_file_that_is_named_is_there() {
    let files = yaml_files(&folder()).unwrap();
    assert!(files.len() >= 12, "{files:?}");
    for path in files {
        let file = path.strip_prefix(folder()).unwrap().to_str().unwrap().to_owned();
        for document in documents(&file).unwrap() {
            assert!(document.is_mapping(), "{file}");
            let place = path.parent().unwrap();
            let lists =
                ["resources", "components"].map(|list| document[list].as_sequence().cloned());
            let named = lists.into_iter().flatten().flatten();
            let patches = document["patches"].as_sequence().cloned().unwrap_or_default();
            for name in named.chain(patches.iter().map(|patch| patch["path"].clone())) {
                let name = name.as_str().unwrap();
                assert!(place.join(name).exists(), "{file}: {name} is not there");
            }
        }
    }
}

#[test]
fn envoy_finds_the_servers_service() {
    let envoy = only("sidecar/envoy.yaml").unwrap();
    let service = of_kind("base/app.yaml", "Service").unwrap();
    let servers = of_kind("base/app.yaml", "Deployment").unwrap();
    let cluster = named(&envoy["static_resources"]["clusters"], "app").unwrap();
    let endpoint = &cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"];
    let address = &endpoint["address"]["socket_address"];
    assert_eq!(address["address"], service["metadata"]["name"]);
    assert_eq!(address["port_value"], service["spec"]["ports"][0]["port"]);
    assert_eq!(service["spec"]["clusterIP"], "None");
    // The DNS tells addresses and no ports: the pods must listen on the very port of the Service.
    let container = &servers["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(address["port_value"], container["ports"][0]["containerPort"]);
    let labels = &servers["spec"]["template"]["metadata"]["labels"];
    assert_eq!(&service["spec"]["selector"], labels);
    assert_eq!(
        &of_kind("base/app.yaml", "PodDisruptionBudget").unwrap()["spec"]["selector"]["matchLabels"],
        labels
    );
}

#[test]
fn callers_ports_and_probes_are_those_that_envoy_listens_on() {
    let envoy = only("sidecar/envoy.yaml").unwrap();
    let sidecar = only("sidecar/pod.yaml").unwrap();
    let sidecar = &sidecar["spec"]["template"]["spec"]["initContainers"][0];
    let port = |listener: &str| {
        let listener = named(&envoy["static_resources"]["listeners"], listener).unwrap();
        listener["address"]["socket_address"]["port_value"].as_u64().unwrap()
    };
    assert_eq!(sidecar["ports"][0]["containerPort"].as_u64(), Some(port("probes")));
    let target = format!("--target=127.0.0.1:{}", port("gateway"));
    for (file, kind) in [("base/caller.yaml", "Deployment"), ("overlays/load/job.yaml", "Job")] {
        let caller = of_kind(file, kind).unwrap();
        let arguments = &caller["spec"]["template"]["spec"]["containers"][0]["args"];
        assert!(arguments.as_sequence().unwrap().contains(&target.clone().into()), "{file}");
        assert_eq!(caller["metadata"]["labels"]["rudolph/sidecar"], "true", "{file}");
    }
    let configuration = text("sidecar/envoy.yaml").unwrap();
    for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
        let path = sidecar[probe]["httpGet"]["path"].as_str().unwrap();
        assert!(configuration.contains(&format!("string_match: {{ exact: {path} }}")), "{probe}");
    }
}

#[test]
fn volumes_mounts_and_paths_agree() {
    let sidecar = only("sidecar/pod.yaml").unwrap();
    let sidecar = &sidecar["spec"]["template"]["spec"];
    let mount = |name| {
        named(&sidecar["initContainers"][0]["volumeMounts"], name).unwrap()["mountPath"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(MODULE.starts_with(&mount("rudolph-module")));
    let configuration = text("sidecar/envoy.yaml").unwrap();
    let socket = format!("{}/admin.sock", mount("rudolph-admin"));
    assert_eq!(configuration.matches(&socket).count(), 2, "the admin interface and its cluster");
    assert_eq!(
        sidecar["initContainers"][0]["args"][1],
        format!("{}/envoy.yaml", mount("rudolph-envoy"))
    );
    for component in ["module-in-configmap", "module-in-image"] {
        let volume = only(&format!("{component}/volume.yaml")).unwrap();
        named(&volume["spec"]["template"]["spec"]["volumes"], "rudolph-module").unwrap();
    }
    let generated = only("module-in-configmap/kustomization.yaml").unwrap();
    assert_eq!(generated["configMapGenerator"][0]["files"][0], "plugin.wasm=rudolph.wasm");
}

#[test]
fn every_container_is_locked_down() {
    let servers = of_kind("base/app.yaml", "Deployment").unwrap();
    let callers = of_kind("base/caller.yaml", "Deployment").unwrap();
    let load = of_kind("overlays/load/job.yaml", "Job").unwrap();
    let sidecar = only("sidecar/pod.yaml").unwrap();
    let pods = [&servers, &callers, &load].map(|owner| &owner["spec"]["template"]["spec"]);
    for pod in pods {
        assert_eq!(pod["automountServiceAccountToken"], false);
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
        assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
    }
    let envoy = &sidecar["spec"]["template"]["spec"]["initContainers"][0];
    for container in pods.map(|pod| &pod["containers"][0]).into_iter().chain([envoy]) {
        assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
        assert_eq!(container["securityContext"]["allowPrivilegeEscalation"], false);
        assert_eq!(container["securityContext"]["capabilities"]["drop"][0], "ALL");
        assert!(container["resources"]["limits"]["memory"].is_string());
    }
}

#[test]
fn names_versions_and_waits_agree_with_the_repository() {
    let sidecar = only("sidecar/pod.yaml").unwrap();
    let image = sidecar["spec"]["template"]["spec"]["initContainers"][0]["image"].as_str().unwrap();
    let versions = fs::read_to_string(folder().join("../../scripts/versions.sh")).unwrap();
    let pinned = versions.lines().find_map(|line| line.strip_prefix("ENVOY_VERSION=")).unwrap();
    assert_eq!(image, format!("envoyproxy/envoy:v{pinned}"));
    for overlay in ["example", "load", "image-volume"] {
        let images = only(&format!("overlays/{overlay}/kustomization.yaml")).unwrap();
        let tag = &images["images"][0]["newTag"];
        assert_eq!(tag, env!("CARGO_PKG_VERSION"), "overlays/{overlay}");
    }
    // A server that is told to end: out of the DNS, out of the plans, drained, all before it is killed.
    let servers = of_kind("base/app.yaml", "Deployment").unwrap();
    let pod = &servers["spec"]["template"]["spec"];
    let sleep = pod["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"].as_u64().unwrap();
    let argument = |name: &str| -> u64 {
        let arguments = pod["containers"][0]["args"].as_sequence().unwrap();
        let found = arguments.iter().find_map(|text| text.as_str()?.strip_prefix(name));
        found.unwrap_or_else(|| panic!("no {name}")).parse().unwrap()
    };
    let drain = (argument("--drain-notice-ms=") + argument("--drain-timeout-ms=")).div_ceil(1000);
    let grace = pod["terminationGracePeriodSeconds"].as_u64().unwrap();
    assert!(grace > sleep + drain, "{grace} s for {sleep} s and {drain} s");
    let envoy = only("sidecar/envoy.yaml").unwrap();
    let cluster = named(&envoy["static_resources"]["clusters"], "app").unwrap();
    let refresh = &cluster["cluster_type"]["typed_config"]["dns_refresh_rate"];
    let refresh: u64 = refresh.as_str().unwrap().trim_end_matches('s').parse().unwrap();
    let ready = servers["spec"]["minReadySeconds"].as_u64().unwrap();
    assert!(sleep > refresh && ready > refresh, "sidecars must see a change in the DNS in time");
}
