# shellcheck shell=bash disable=SC2034
# Every outside tool's version is chosen here. Two are read where they are already pinned.

ENVOY_VERSION=1.40.0
POSTGRES_VERSION=18.6.3
# The newest 2.x: it speaks to old Engines, Debian's among them.
COMPOSE_VERSION=2.40.3
PYMEMCACHE_VERSION=4.0.0
NODE_MIN=18
GO_MIN=1.25
# Its Envoy is 1.39.1.
ENVOY_GATEWAY_VERSION=1.9.1
# Istio's module has no versions: this is 1.31 of August 2026, with the releases nearest to the commits that it pins.
ISTIO_COMMIT=v0.0.0-20260827124520-eed52ebb66ad
ISTIO_API_VERSION=1.31.1
ENVOY_API_COMMIT=20260729145720-a2d8c7492908
CARGO_FUZZ_VERSION=0.13.2
CARGO_DENY_VERSION=0.20.2
WASM_TARGET=wasm32-unknown-unknown

# The oldest Rust that may build the workspace, from Cargo.toml.
RUST_MIN=$(awk -F'"' '/^rust-version/ { print $2; exit }' "$ROOT/Cargo.toml")

# The test runner speaks to the wasm-bindgen of the lock file and to no other.
wasm_bindgen_version() {
  awk -F'"' '/^name = "wasm-bindgen"$/ { found = 1 } found && /^version/ { print $2; exit }' "$ROOT/Cargo.lock"
}
