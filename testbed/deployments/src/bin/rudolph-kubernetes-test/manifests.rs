//! What needs an API server and Envoy, but no pod.

use std::path::Path;

use rudolph_deployments::{Checks, Cmd, Failure};
use serde_json::Value;

use crate::kubectl::{Kubectl, NAMESPACE};
use crate::options::Options;

const OVERLAYS: [&str; 3] = ["example", "load", "image-volume"];
const DRY_RUN: [&str; 1] = ["--dry-run=server"];
/// The path of the module in the container.
const MODULE: &str = "/etc/rudolph/plugin.wasm";

/// Something right, and the same with a slip of the pen.
const SLIPS: [(&str, &str); 5] = [
    ("restartPolicy: Always", "restartPolcy: Always"),
    ("preStop:", "preStopp:"),
    ("publishNotReadyAddresses:", "publishNotReadyAddress:"),
    ("maxUnavailable: 1", "maxUnavailabel: 1"),
    ("readOnlyRootFilesystem: true", "readOnlyRootFilesystem: certainly"),
];

pub(crate) async fn check(kubectl: &Kubectl, options: &Options, checks: &mut Checks) {
    let made = kubectl.run(&["create", "namespace", NAMESPACE]);
    checks
        .check("the API server makes the namespace", async { made.await.map(|_| String::new()) })
        .await;
    for overlay in OVERLAYS {
        let name = format!("overlays/{overlay}: the API server takes every field");
        checks.check(&name, accepted(kubectl, overlay)).await;
    }
    for overlay in OVERLAYS {
        let name = format!("overlays/{overlay}: every ConfigMap that a pod mounts is there");
        checks.check(&name, mounted(kubectl, overlay)).await;
    }
    checks.check("slips of the pen in the manifests are refused", slips(kubectl)).await;
    for overlay in OVERLAYS {
        let name = format!("overlays/{overlay}: Envoy takes the configuration in it");
        checks.check(&name, validated(kubectl, options, overlay)).await;
    }
    checks.check("an unknown strategy in it is refused", slip_in_envoy(kubectl, options)).await;
}

async fn accepted(kubectl: &Kubectl, overlay: &str) -> Result<String, Failure> {
    let manifests = kubectl.rendered(overlay).await?;
    let taken = kubectl.apply(&manifests, &DRY_RUN).await?;
    Ok(format!("{} objects", taken.lines().count()))
}

async fn slips(kubectl: &Kubectl) -> Result<String, Failure> {
    let manifests = kubectl.rendered("example").await?;
    for (right, wrong) in SLIPS {
        Failure::unless(manifests.contains(right), right, "in the manifests", "not there")?;
        let refused = kubectl.apply(&manifests.replacen(right, wrong, 1), &DRY_RUN).await;
        let field = wrong.split(':').next().unwrap_or(wrong);
        let words = refused.err().map(|error| error.to_string()).unwrap_or_default();
        Failure::unless(words.contains(field), wrong, format!("an error naming {field}"), words)?;
    }
    Ok(format!("{} of {}", SLIPS.len(), SLIPS.len()))
}

async fn validated(kubectl: &Kubectl, options: &Options, overlay: &str) -> Result<String, Failure> {
    let configuration = embedded(kubectl, overlay).await?;
    validate(options, &configuration).await?;
    Ok(String::new())
}

async fn slip_in_envoy(kubectl: &Kubectl, options: &Options) -> Result<String, Failure> {
    let configuration = embedded(kubectl, "example").await?;
    let wrong = configuration.replacen("\"spread\"", "\"sprad\"", 1);
    let words = validate(options, &wrong).await.err().map(|error| error.to_string());
    let words = words.unwrap_or_default();
    Failure::unless(words.contains("sprad"), "strategy sprad", "an error naming it", words)?;
    Ok(String::new())
}

/// The text of envoy.yaml in the ConfigMap that kustomize made.
async fn embedded(kubectl: &Kubectl, overlay: &str) -> Result<String, Failure> {
    let objects = objects(kubectl, overlay).await?;
    let mut texts = objects.iter().filter_map(|object| object["data"]["envoy.yaml"].as_str());
    let found = texts.next().map(str::to_owned);
    found.ok_or_else(|| Failure::unmet(format!("overlays/{overlay}"), "an envoy.yaml", "none"))
}

/// No pod waits for a ConfigMap of another name or namespace: kustomize renames some, and the API server does not look.
async fn mounted(kubectl: &Kubectl, overlay: &str) -> Result<String, Failure> {
    let objects = objects(kubectl, overlay).await?;
    let maps = objects.iter().filter(|object| object["kind"] == "ConfigMap");
    let there: Vec<&Value> = maps.map(|map| &map["metadata"]["name"]).collect();
    let pods = objects.iter().map(|object| &object["spec"]["template"]["spec"]);
    let volumes = pods.filter_map(|pod| pod["volumes"].as_array()).flatten();
    let wanted: Vec<&Value> = volumes
        .map(|volume| &volume["configMap"]["name"])
        .filter(|name| name.is_string())
        .collect();
    Failure::unless(!wanted.is_empty(), overlay, "a mounted ConfigMap", "none")?;
    let lost = wanted.iter().find(|name| !there.contains(name));
    match lost {
        Some(name) => Err(Failure::unmet(format!("ConfigMap {name}"), "there", "not there")),
        None => Ok(format!("{} volumes", wanted.len())),
    }
}

async fn objects(kubectl: &Kubectl, overlay: &str) -> Result<Vec<Value>, Failure> {
    let manifests = kubectl.rendered(overlay).await?;
    let as_json = ["create", "--dry-run=client", "--output", "json", "--filename", "-"];
    let text = kubectl.command(&as_json).input(manifests).run().await?.stdout;
    let whole = || format!("overlays/{overlay}");
    // One after the other, or in a list.
    let mut objects = Vec::new();
    for object in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
        let object = object.map_err(|error| Failure::unreadable(whole(), error))?;
        match object["items"].as_array() {
            Some(items) => objects.extend(items.iter().cloned()),
            None => objects.push(object),
        }
    }
    Ok(objects)
}

async fn validate(options: &Options, configuration: &str) -> Result<(), Failure> {
    Failure::unless(configuration.contains(MODULE), "envoy.yaml", MODULE, "another path")?;
    let module = options.sidecar.join("module-in-configmap/rudolph.wasm");
    let file = options.scratch.join("envoy.yaml");
    let here = configuration.replace(MODULE, &module.to_string_lossy());
    write(&file, &here)?;
    let arguments = ["--mode", "validate", "--log-level", "warning", "--config-path"];
    Cmd::new(&options.envoy).args(arguments).args([&file]).run().await?;
    Ok(())
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text).map_err(|error| Failure::unreadable(file.to_string_lossy(), error))
}
