//! What is written: read back from the files, as a registry's client would.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;
use rudolph_dist::digest::hex;
use rudolph_dist::dist::{Input, Written, write};
use serde_json::{Value, json};
use tempfile::TempDir;

/// No real module, and in no way compressible: what counts is that each byte comes back.
fn module() -> Vec<u8> {
    let noise = (0..50_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8);
    b"\0asm\x01\0\0\0".iter().copied().chain(noise).collect()
}

fn cargo_metadata() -> Vec<u8> {
    let platform = "--filter-platform=wasm32-unknown-unknown";
    let arguments = ["metadata", "--format-version=1", "--locked", platform];
    let output = Command::new(env!("CARGO")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

struct Parts {
    folder: TempDir,
    input: Input,
}

impl Parts {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            path
        };
        let input = Input {
            module: file("module.wasm", &module()),
            schema: file("schema.json", b"{\"type\": \"object\"}\n"),
            metadata: file("metadata.json", &cargo_metadata()),
            rust_version: "1.95.0".into(),
            version: "1.2.3".into(),
            licence: "Apache-2.0".into(),
        };
        Self { folder, input }
    }

    fn output(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str) -> (PathBuf, Written) {
        let output = self.output(name);
        let written = write(&self.input, &output).unwrap();
        (output, written)
    }
}

/// Every file below, by its path.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(at) = waiting.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn json_of(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

/// The content that a descriptor names, checked against its digest and size.
fn follow(layout: &BTreeMap<String, Vec<u8>>, descriptor: &Value, media_type: &str) -> Vec<u8> {
    assert_eq!(descriptor["mediaType"], media_type);
    let digest = descriptor["digest"].as_str().unwrap().strip_prefix("sha256:").unwrap();
    let content = &layout[&format!("blobs/sha256/{digest}")];
    assert_eq!(hex(content), digest);
    assert_eq!(descriptor["size"], json!(content.len()));
    content.clone()
}

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

#[test]
fn the_layout_leads_to_the_module_on_every_platform() {
    let parts = Parts::new();
    let (output, written) = parts.write("dist");
    let layout = files(&output.join("rudolph-1.2.3.oci"));
    assert_eq!(json_of(&layout["oci-layout"])["imageLayoutVersion"], "1.0.0");
    let top = json_of(&layout["index.json"]);
    assert_eq!((&top["schemaVersion"], &top["mediaType"]), (&json!(2), &json!(INDEX)));
    let [image] = &top["manifests"].as_array().unwrap()[..] else { panic!("{top}") };
    assert_eq!(image["annotations"]["org.opencontainers.image.ref.name"], "1.2.3");
    assert_eq!(image["digest"], json!(written.index_digest));

    let index = json_of(&follow(&layout, image, INDEX));
    let mut reached = BTreeSet::from([image["digest"].to_string()]);
    let mut platforms = Vec::new();
    for entry in index["manifests"].as_array().unwrap() {
        let manifest = json_of(&follow(&layout, entry, MANIFEST));
        assert_eq!(
            (&manifest["schemaVersion"], &manifest["mediaType"]),
            (&json!(2), &json!(MANIFEST))
        );
        assert_eq!(manifest["annotations"]["module.wasm.image/variant"], "compat");
        let config_type = "application/vnd.oci.image.config.v1+json";
        let config = json_of(&follow(&layout, &manifest["config"], config_type));
        for part in ["architecture", "os"] {
            assert_eq!(config[part], entry["platform"][part]);
        }
        let [layer] = &manifest["layers"].as_array().unwrap()[..] else { panic!("{manifest}") };
        let gzipped = follow(&layout, layer, "application/vnd.oci.image.layer.v1.tar+gzip");
        let mut tar = Vec::new();
        GzDecoder::new(&gzipped[..]).read_to_end(&mut tar).unwrap();
        assert_eq!(config["rootfs"]["diff_ids"], json!([format!("sha256:{}", hex(&tar))]));
        assert_eq!(in_tar(&tar), [("plugin.wasm".to_owned(), module())]);
        platforms.push(config["architecture"].as_str().unwrap().to_owned());
        for part in [entry, &manifest["config"], layer] {
            reached.insert(part["digest"].to_string());
        }
    }
    assert_eq!(platforms, ["amd64", "arm64"]);
    assert_eq!(index["manifests"][0]["digest"], json!(written.manifest_digest));
    assert_eq!(layout.len(), reached.len() + 2, "a blob that nothing leads to");
}

fn in_tar(tar: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = tar::Archive::new(tar);
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        assert_eq!((entry.header().mtime().unwrap(), entry.header().uid().unwrap()), (0, 0));
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        (entry.path().unwrap().to_str().unwrap().to_owned(), content)
    });
    entries.collect()
}

#[test]
fn the_checksums_are_those_of_all_other_files() {
    let parts = Parts::new();
    let (output, written) = parts.write("dist");
    let mut all = files(&output);
    let sums = String::from_utf8(all.remove("SHA256SUMS").unwrap()).unwrap();
    let real: String =
        all.iter().map(|(path, content)| format!("{}  {path}\n", hex(content))).collect();
    assert_eq!(sums, real);
    assert_eq!(all["rudolph-1.2.3.wasm"], module());
    assert_eq!(written.module_digest, hex(&module()));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let (one, other) = (Parts::new(), Parts::new());
    let (first, second, third) = (one.write("a").0, one.write("b").0, other.write("elsewhere").0);
    assert_eq!(files(&first), files(&second));
    assert_eq!(files(&first), files(&third));
    let folder = one.folder.path().to_str().unwrap();
    let here = env!("CARGO_MANIFEST_DIR");
    for (path, content) in files(&first) {
        let text = String::from_utf8_lossy(&content);
        assert!(!text.contains(folder) && !text.contains(here), "{path} names a folder");
    }
}

#[test]
fn another_module_gives_another_image() {
    let parts = Parts::new();
    let (_, before) = parts.write("before");
    fs::write(&parts.input.module, b"\0asm\x01\0\0\0another").unwrap();
    let (_, after) = parts.write("after");
    assert_ne!(before.index_digest, after.index_digest);
    assert_ne!(before.manifest_digest, after.manifest_digest);
}

#[test]
fn the_bill_of_materials_has_what_is_compiled_in_and_nothing_else() {
    let parts = Parts::new();
    let (output, _) = parts.write("dist");
    let bom = json_of(&files(&output)["rudolph-1.2.3.cdx.json"]);
    assert_eq!((&bom["bomFormat"], &bom["specVersion"]), (&json!("CycloneDX"), &json!("1.6")));
    let module_entry = &bom["metadata"]["component"];
    assert_eq!(module_entry["hashes"][0]["content"], json!(hex(&module())));

    let components = bom["components"].as_array().unwrap();
    let names: BTreeSet<&str> = components.iter().map(|c| c["name"].as_str().unwrap()).collect();
    for inside in ["rudolph-core", "proxy-wasm", "serde_json", "xxhash-rust", "rust-std"] {
        assert!(names.contains(inside), "{inside} is not in {names:?}");
    }
    for outside in ["wasmtime", "criterion", "tokio", "wasm-bindgen-test", "rudolph-mock-host"] {
        assert!(!names.contains(outside), "{outside} is in {names:?}");
    }
    for component in components {
        assert!(component["licenses"][0]["expression"].is_string(), "{component}");
    }

    let reference = |component: &Value| component["bom-ref"].to_string();
    let mut known: BTreeSet<String> = components.iter().map(reference).collect();
    assert_eq!(known.len(), components.len());
    known.insert(reference(module_entry));
    let dependencies = bom["dependencies"].as_array().unwrap();
    for dependency in dependencies {
        let needs = dependency["dependsOn"].as_array().unwrap();
        for named in needs.iter().chain([&dependency["ref"]]) {
            assert!(known.contains(&named.to_string()), "{named} is no component");
        }
    }
    // Rust's library is in the list and asks for nothing.
    assert_eq!(dependencies.len() + 1, known.len());
}

#[test]
fn says_what_is_wrong() {
    let refusal = |change: fn(&mut Parts)| {
        let mut parts = Parts::new();
        change(&mut parts);
        let output = parts.output("dist");
        let text = write(&parts.input, &output).unwrap_err().to_string();
        assert!(!text.contains('\n'), "{text}");
        assert!(!output.join("SHA256SUMS").exists());
        text
    };
    let no_module = refusal(|parts| fs::remove_file(&parts.input.module).unwrap());
    assert!(no_module.starts_with("cannot read ") && no_module.contains("module.wasm"));
    let no_wasm = refusal(|parts| fs::write(&parts.input.module, "#!/bin/sh").unwrap());
    assert!(no_wasm.ends_with("module.wasm is no Wasm module of version 1"), "{no_wasm}");
    let no_json = refusal(|parts| fs::write(&parts.input.schema, "{").unwrap());
    assert!(no_json.contains("schema.json is no JSON"), "{no_json}");
    let no_package = refusal(|parts| {
        let nothing = json!({"packages": [], "resolve": {"nodes": []}}).to_string();
        fs::write(&parts.input.metadata, nothing).unwrap();
    });
    assert!(no_package.contains("no package rudolph-filter"), "{no_package}");
    let used = refusal(|parts| {
        fs::create_dir(parts.output("dist")).unwrap();
        fs::write(parts.output("dist").join("old"), "").unwrap();
    });
    assert!(used.ends_with("dist is not empty; name a folder that is, or that is not there"));
}
