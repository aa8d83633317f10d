#!/usr/bin/env bash
# Builds the filter, trims it to the exports it uses, and writes target/rudolph.wasm.
# One toolchain gives the same bytes each time: no path of this machine gets into the module. TRIMMER is a trimmer that
# is built already.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"

KEEP=filter/proxy-wasm/exports.txt
OUTPUT=target/rudolph.wasm

# Separated by a byte that no path holds, unlike RUSTFLAGS.
rustflags() {
  local sysroot
  sysroot=$(in_wasm_rust rustc --print sysroot)
  printf '%s\x1f' "--remap-path-prefix=$sysroot=/rust" \
    "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo" \
    "--remap-path-prefix=$ROOT=/rudolph" "-Cstrip=symbols"
  printf '%s' "-Clinker=$ROOT/scripts/wasm-ld.sh"
}

real_linker() {
  local lld
  lld=$(in_wasm_rust rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/rust-lld
  if [ -x "$lld" ]; then echo "$lld"; else echo "$WASM_LD"; fi
}

build_module() {
  WASM_LINKER=$(real_linker) CARGO_ENCODED_RUSTFLAGS=$(rustflags) \
    wasm_cargo build --profile module --package rudolph-filter
}

build_trimmer() { cargo build --package rudolph-trim-exports; }

sha256() {
  if have sha256sum; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}

require_rust
[ -n "${RUDOLPH_QUIET:-}" ] || describe_wasm_rust
step "building the filter" build_module
if [ -z "${TRIMMER:-}" ]; then
  step "building the trimmer" build_trimmer
  TRIMMER=$TARGET/debug/rudolph-trim-exports
fi

mkdir -p target
"$TRIMMER" --keep-file "$KEEP" \
  "$(wasm_target_dir)/$WASM_TARGET/module/rudolph_filter.wasm" "$OUTPUT.new"
mv "$OUTPUT.new" "$OUTPUT"
say "$OUTPUT: $(wc -c <"$OUTPUT" | tr -d ' ') bytes, sha256 $(sha256 "$OUTPUT")"
