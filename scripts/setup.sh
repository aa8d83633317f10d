#!/usr/bin/env bash
# setup.sh [build|run|simulate|test|bench|lint|fuzz|audit|all]...: installs what those need and takes what is there.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"
# shellcheck source=scripts/tools.sh
. "$ROOT/scripts/tools.sh"

needs_of() {
  case $1 in
    build) echo cc rust wasm_rust ;;
    simulate) echo cc rust ;;
    run | bench) echo cc rust wasm_rust envoy ;;
    test) echo cc rust wasm_rust envoy postgres node wasm_runner ;;
    lint) echo cc rust wasm_rust linters ;;
    fuzz) echo cc rust fuzz ;;
    audit) echo cc rust deny ;;
    all) echo cc rust wasm_rust envoy postgres node wasm_runner linters ;;
    *) die "unknown purpose '$1'; allowed: build, run, simulate, test, bench, lint, fuzz, audit, all" ;;
  esac
}

[ $# -gt 0 ] || set -- all
needs=
for purpose in "$@"; do
  needs="$needs $(needs_of "$purpose")"
done
for need in $needs; do
  "need_$need"
done
[ -n "${RUDOLPH_QUIET:-}" ] || say "setup for $*: ready"
