//! The bill of materials: every crate that is compiled into the module, from `cargo metadata`, in the form of CycloneDX 1.6.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{DistError, digest};

/// The package that becomes the module.
pub const MODULE_PACKAGE: &str = "rudolph-filter";

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    description: Option<String>,
    source: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Debug, Deserialize)]
struct Kind {
    kind: Option<String>,
}

/// Crates at build time (`build`) and for tests (`dev`) have another kind than none; procedural macros have none and
/// stay in the list: what they write is in the module.
fn is_compiled_in(dependency: &Dependency) -> bool {
    dependency.dep_kinds.iter().any(|kind| kind.kind.is_none())
}

/// What the bill is about besides the crates.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub module: &'a [u8],
    pub rust_version: &'a str,
}

/// # Errors
/// When the metadata is not what cargo writes, or the module's package is not in it.
pub fn build(metadata: &[u8], subject: Subject<'_>) -> Result<Value, DistError> {
    let metadata: Metadata =
        serde_json::from_slice(metadata).map_err(|source| DistError::Metadata { source })?;
    let graph = Graph::new(&metadata)?;
    let reached = graph.reached()?;
    let library = rust_library(subject.rust_version);
    let mut components: Vec<Value> = reached
        .iter()
        .filter(|package| package.name != MODULE_PACKAGE)
        .map(|package| component(package, "library"))
        .collect();
    components.push(library);
    let mut module = component(graph.root, "application");
    module["hashes"] = json!([{ "alg": "SHA-256", "content": digest::hex(subject.module) }]);
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": module },
        "components": components,
        "dependencies": graph.dependencies(&reached, subject.rust_version)?,
    }))
}

struct Graph<'a> {
    packages: BTreeMap<&'a str, &'a Package>,
    nodes: BTreeMap<&'a str, &'a Node>,
    root: &'a Package,
}

impl<'a> Graph<'a> {
    fn new(metadata: &'a Metadata) -> Result<Self, DistError> {
        let root = metadata.packages.iter().find(|package| package.name == MODULE_PACKAGE);
        let Some(root) = root else {
            let names: Vec<&str> = metadata.packages.iter().map(|p| p.name.as_str()).collect();
            return Err(DistError::NoPackage {
                name: MODULE_PACKAGE.into(),
                present: names.join(", "),
            });
        };
        let packages = metadata.packages.iter().map(|package| (package.id.as_str(), package));
        let nodes = metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node));
        Ok(Self { packages: packages.collect(), nodes: nodes.collect(), root })
    }

    fn package(&self, id: &str) -> Result<&'a Package, DistError> {
        self.packages.get(id).copied().ok_or_else(|| DistError::Dangling { id: id.to_owned() })
    }

    fn needs(&self, id: &str) -> Result<impl Iterator<Item = &'a str>, DistError> {
        let node = self.nodes.get(id).copied();
        let node = node.ok_or_else(|| DistError::Dangling { id: id.to_owned() })?;
        Ok(node.deps.iter().filter(|dep| is_compiled_in(dep)).map(|dep| dep.pkg.as_str()))
    }

    /// All packages in the module, by name and version.
    fn reached(&self) -> Result<Vec<&'a Package>, DistError> {
        let mut seen = BTreeSet::from([self.root.id.as_str()]);
        let mut waiting = vec![self.root.id.as_str()];
        while let Some(id) = waiting.pop() {
            waiting.extend(self.needs(id)?.filter(|need| seen.insert(need)));
        }
        let packages: Result<Vec<_>, _> = seen.into_iter().map(|id| self.package(id)).collect();
        let mut packages = packages?;
        packages.sort_by_key(|package| (&package.name, &package.version));
        Ok(packages)
    }

    fn dependencies(&self, of: &[&Package], rust: &str) -> Result<Vec<Value>, DistError> {
        let mut list = Vec::new();
        for package in of {
            let needs: Result<BTreeSet<String>, DistError> =
                self.needs(&package.id)?.map(|id| self.package(id).map(purl)).collect();
            let mut needs = needs?;
            if package.name == MODULE_PACKAGE {
                needs.insert(rust_purl(rust));
            }
            list.push(json!({ "ref": purl(package), "dependsOn": needs }));
        }
        Ok(list)
    }
}

/// Package URLs name a crate without the folder that it was built in, unlike cargo's own ids.
fn purl(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

fn rust_purl(version: &str) -> String {
    format!("pkg:generic/rust-std@{version}")
}

fn component(package: &Package, kind: &str) -> Value {
    let purl = purl(package);
    let mut component = json!({
        "type": kind,
        "bom-ref": purl,
        "name": package.name,
        "version": package.version,
        "scope": "required",
    });
    // Only what a registry serves can be looked up by a package URL.
    if package.source.is_some() {
        component["purl"] = json!(purl);
    }
    if let Some(license) = &package.license {
        // Old crates write a slash where SPDX writes OR.
        component["licenses"] = json!([{ "expression": license.replace('/', " OR ") }]);
    }
    if let Some(description) = &package.description {
        component["description"] =
            json!(description.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    component
}

fn rust_library(version: &str) -> Value {
    let purl = rust_purl(version);
    json!({
        "type": "library",
        "bom-ref": purl,
        "name": "rust-std",
        "version": version,
        "scope": "required",
        "purl": purl,
        "licenses": [{ "expression": "MIT OR Apache-2.0" }],
        "description": "Rust's standard library",
    })
}
