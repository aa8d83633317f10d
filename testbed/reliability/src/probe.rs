//! A second small plugin in Envoy's main thread that adds up the filter's shared data, which Envoy has no statistic for:
//! shared data belongs to a `vm_id`, and whoever has the id can read it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::ReliabilityError;

/// The filter's `vm_id` in the shipped configuration.
const VM_ID: &str = "rudolph";
const EVERY_MS: u32 = 5_000;
const ARENAS: usize = 64;
/// Workers that may hold a slot of an arena: two, the main thread, and those of VMs that still drain.
const SLOTS: usize = 12;

/// What the probe's own VMs hold: less than the filter's smallest. Values up to half of it can be read.
pub const MEMORY: u64 = 262_144;

pub const BYTES: &str = "wasmcustom.rudolph_probe.shared_data_bytes";
pub const VALUES: &str = "wasmcustom.rudolph_probe.shared_data_values";

/// Every name that the filter may write under, as docs/architecture.md lists them, those of its status page too.
fn names() -> Vec<String> {
    let mut names = vec!["rudolph/1/directory".to_owned(), "rudolph/1/watch".to_owned()];
    for arena in 0..ARENAS {
        let key = |what: &str| format!("rudolph/1/{arena}/{what}");
        names.extend(OF_AN_ARENA.map(key));
        for slot in 0..SLOTS {
            names.extend(
                [format!("slot/{slot}"), format!("slot/{slot}/view")].map(|name| key(&name)),
            );
        }
    }
    names
}

const OF_AN_ARENA: [&str; 8] =
    ["epoch", "plan", "plan/before", "roster", "poll", "text", "history", "left_out"];

/// Writes the probe's module to `file`, and returns the entry for Envoy's `bootstrap_extensions`.
pub fn extension(file: &Path) -> Result<Value, ReliabilityError> {
    let module = wat::parse_str(module_text())
        .map_err(|error| ReliabilityError::Module { reason: error.to_string() })?;
    fs::write(file, module).map_err(|source| ReliabilityError::file("write", file, source))?;
    Ok(json!({
        "name": "envoy.bootstrap.wasm",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.wasm.v3.WasmService",
            "singleton": true,
            "config": {
                "name": "rudolph_probe",
                "vm_config": {
                    "vm_id": VM_ID,
                    "runtime": "envoy.wasm.runtime.v8",
                    "code": { "local": { "filename": file } },
                },
            },
        },
    }))
}

/// The names lie in memory one after the other, each after its length; a length of 0 ends them. What the host
/// allocates goes to one place over and over, as only its length matters.
fn module_text() -> String {
    let data: String = names().iter().map(|name| format!("\\{:02x}{name}", name.len())).collect();
    let (bytes, values) = (BYTES.replace("wasmcustom.", ""), VALUES.replace("wasmcustom.", ""));
    let (bytes_length, values_length) = (bytes.len(), values.len());
    let pages = MEMORY / 65_536;
    format!(
        r#"(module
  (import "env" "proxy_set_tick_period_milliseconds" (func $tick (param i32) (result i32)))
  (import "env" "proxy_get_shared_data"
    (func $get (param i32 i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_define_metric" (func $define (param i32 i32 i32 i32) (result i32)))
  (import "env" "proxy_record_metric" (func $record (param i32 i64) (result i32)))
  (memory (export "memory") {pages})
  (data (i32.const 256) "{bytes}")
  (data (i32.const 512) "{values}")
  (data (i32.const 65536) "{data}\00")
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "malloc") (param i32) (result i32) i32.const 131072)
  (func (export "proxy_on_context_create") (param i32 i32))
  (func (export "proxy_on_vm_start") (param i32 i32) (result i32) i32.const 1)
  (func (export "proxy_on_configure") (param i32 i32) (result i32)
    (drop (call $define (i32.const 1) (i32.const 256) (i32.const {bytes_length}) (i32.const 16)))
    (drop (call $define (i32.const 1) (i32.const 512) (i32.const {values_length}) (i32.const 20)))
    (drop (call $tick (i32.const {EVERY_MS})))
    i32.const 1)
  (func (export "proxy_on_tick") (param i32)
    (local $at i32) (local $length i32) (local $bytes i64) (local $values i64)
    (local.set $at (i32.const 65536))
    (loop $next
      (local.set $length (i32.load8_u (local.get $at)))
      (if (local.get $length) (then
        (if (i32.eqz (call $get
              (i32.add (local.get $at) (i32.const 1)) (local.get $length)
              (i32.const 0) (i32.const 4) (i32.const 8)))
          (then
            (local.set $values (i64.add (local.get $values) (i64.const 1)))
            (local.set $bytes
              (i64.add (local.get $bytes) (i64.extend_i32_u (i32.load (i32.const 4)))))))
        (local.set $at
          (i32.add (local.get $at) (i32.add (local.get $length) (i32.const 1))))
        (br $next))))
    (drop (call $record (i32.load (i32.const 16)) (local.get $bytes)))
    (drop (call $record (i32.load (i32.const 20)) (local.get $values)))))"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_assembles_and_its_names_fit_before_the_place_for_values() {
        assert!(wat::parse_str(module_text()).is_ok());
        let length: usize = names().iter().map(|name| name.len() + 1).sum();
        assert!(length < 131_072 - 65_536, "{length}");
        assert!(names().iter().all(|name| name.len() < 256));
    }
}
