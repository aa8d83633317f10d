# shellcheck shell=bash disable=SC2034
# Every outside tool's version is chosen here. Two are read where they are already pinned.

ENVOY_VERSION=1.40.0
POSTGRES_VERSION=18.6.3
NODE_MIN=18
CARGO_FUZZ_VERSION=0.13.2
CARGO_DENY_VERSION=0.20.2
WASM_TARGET=wasm32-unknown-unknown

# The oldest Rust that may build the workspace, from Cargo.toml.
RUST_MIN=$(awk -F'"' '/^rust-version/ { print $2; exit }' "$ROOT/Cargo.toml")

# The test runner speaks to the wasm-bindgen of the lock file and to no other.
wasm_bindgen_version() {
  awk -F'"' '/^name = "wasm-bindgen"$/ { found = 1 } found && /^version/ { print $2; exit }' "$ROOT/Cargo.lock"
}
