//! An OCI image layout: files named by their digests, a manifest a platform that names them, and an index on top.
//!
//! There are two manifests, which differ in the platform they claim and share the layer: container runtimes refuse to
//! mount an image of another machine than their own, though a Wasm module does not care.

use serde_json::{Value, json};

use crate::layer::Layer;
use crate::{DistError, digest};

/// The machines on which the image may be mounted. Istio and Envoy Gateway take the first, wherever they run.
pub const ARCHITECTURES: [&str; 2] = ["amd64", "arm64"];

const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// A layout in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Path within the layout's folder, and content. In the order of paths.
    pub files: Vec<(String, Vec<u8>)>,
    /// The digest by which a registry serves the image.
    pub index_digest: String,
    /// The digest of the first platform's manifest, which is what Istio's and Envoy Gateway's `sha256` compare.
    pub manifest_digest: String,
}

/// What is said of the image in it.
#[derive(Clone, Copy, Debug)]
pub struct Labels<'a> {
    pub version: &'a str,
    pub licence: &'a str,
}

/// # Errors
/// When JSON cannot be written.
pub fn build(layer: &Layer, labels: Labels<'_>) -> Result<Layout, DistError> {
    let mut files = Vec::new();
    let layer_entry = descriptor(LAYER, &layer.gzipped);
    files.push(blob(&layer.gzipped));

    let mut manifests = Vec::new();
    for architecture in ARCHITECTURES {
        let config = to_bytes(&config(architecture, layer, labels))?;
        let manifest = to_bytes(&manifest(descriptor(CONFIG, &config), &layer_entry, labels))?;
        let mut entry = descriptor(MANIFEST, &manifest);
        entry["platform"] = json!({"architecture": architecture, "os": "linux"});
        manifests.push(entry);
        files.extend([blob(&config), blob(&manifest)]);
    }
    let manifest_digest = digest_of(&manifests[0]);

    let index = to_bytes(&index(manifests, annotations(labels)))?;
    let mut entry = descriptor(INDEX, &index);
    entry["annotations"] = json!({"org.opencontainers.image.ref.name": labels.version});
    let index_digest = digest_of(&entry);
    files.push(blob(&index));

    files.push(("index.json".into(), to_bytes(&index_of_layout(entry))?));
    files.push(("oci-layout".into(), to_bytes(&json!({"imageLayoutVersion": "1.0.0"}))?));
    files.sort();
    Ok(Layout { files, index_digest, manifest_digest })
}

fn config(architecture: &str, layer: &Layer, labels: Labels<'_>) -> Value {
    json!({
        "architecture": architecture,
        "os": "linux",
        "config": { "Labels": annotations(labels) },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{}", layer.tar_digest)] },
        "history": [{ "created_by": "rudolph-dist" }],
    })
}

fn manifest(config: Value, layer: &Value, labels: Labels<'_>) -> Value {
    json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": config,
        "layers": [layer],
        "annotations": annotations(labels),
    })
}

fn index(manifests: Vec<Value>, annotations: Value) -> Value {
    json!({
        "schemaVersion": 2,
        "mediaType": INDEX,
        "manifests": manifests,
        "annotations": annotations,
    })
}

fn index_of_layout(image: Value) -> Value {
    json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": [image] })
}

fn annotations(labels: Labels<'_>) -> Value {
    json!({
        // Of the Wasm image specification: the layer is a tar with plugin.wasm in it.
        "module.wasm.image/variant": "compat",
        "org.opencontainers.image.title": "rudolph",
        "org.opencontainers.image.description": "Proxy-Wasm filter for Envoy that shards requests by key",
        "org.opencontainers.image.version": labels.version,
        "org.opencontainers.image.licenses": labels.licence,
    })
}

fn descriptor(media_type: &str, content: &[u8]) -> Value {
    json!({
        "mediaType": media_type,
        "digest": format!("sha256:{}", digest::hex(content)),
        "size": content.len(),
    })
}

fn digest_of(descriptor: &Value) -> String {
    descriptor["digest"].as_str().unwrap_or_default().to_owned()
}

fn blob(content: &[u8]) -> (String, Vec<u8>) {
    (format!("blobs/sha256/{}", digest::hex(content)), content.to_vec())
}

/// The keys of an object come out in alphabetical order.
fn to_bytes(json: &Value) -> Result<Vec<u8>, DistError> {
    serde_json::to_vec(json).map_err(|source| DistError::Json { source })
}
