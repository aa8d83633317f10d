#!/usr/bin/env bash
# Writes target/dist: the module, an OCI image layout, the configuration's schema, a bill of materials, checksums.
# One toolchain gives the same bytes each time and in each folder.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"

OUTPUT=target/dist
METADATA=$(mktemp)
trap 'rm -f "$METADATA"' EXIT

require_rust
RUDOLPH_QUIET=1 scripts/build-filter.sh
step "building the packer" cargo build --package rudolph-dist
cargo metadata --format-version 1 --locked --filter-platform "$WASM_TARGET" >"$METADATA"

rm -rf "$OUTPUT"
"$TARGET/debug/rudolph-dist" --module target/rudolph.wasm --schema filter/core/config.schema.json \
  --metadata "$METADATA" --rust-version "$(in_wasm_rust rustc --version | cut -d' ' -f2)" "$OUTPUT"
say "$OUTPUT: $(cd "$OUTPUT" && printf '%s ' *)"
