//! The module as an artefact. [`dist::write`] makes a folder that holds
//!
//! - `rudolph-VERSION.wasm`, the module,
//! - `rudolph-VERSION.oci/`, an OCI image [`layout`] whose one [`layer`] holds it as `plugin.wasm`: the "compat" form
//!   of a Wasm image, which Istio, Envoy Gateway and a Kubernetes image volume read alike,
//! - `rudolph-VERSION.schema.json`, the JSON Schema of the configuration,
//! - `rudolph-VERSION.cdx.json`, a bill of materials ([`bom`]) in CycloneDX's form,
//! - `SHA256SUMS`, the [`digest`] of every other file.
//!
//! The same input gives the same bytes: there is no time, no path and no random number in any of them.

pub mod bom;
pub mod digest;
pub mod dist;
mod error;
pub mod layer;
pub mod layout;

pub use error::DistError;
