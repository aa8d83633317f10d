#!/usr/bin/env bash
# setup.sh PURPOSE...: installs what those need and takes what is there. A purpose is a target of the Makefile, or all.
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
    simulate | top) echo cc rust ;;
    run | bench | gateways-test) echo cc rust wasm_rust envoy ;;
    experiment) echo cc rust wasm_rust envoy redis ;;
    test) echo cc rust wasm_rust envoy postgres promtool redis pymemcache node wasm_runner chromium page_packages ;;
    lint) echo cc rust wasm_rust linters ;;
    compose-test) echo cc rust wasm_rust envoy ;;
    kubernetes-test) echo cc rust wasm_rust envoy kubernetes containerd ;;
    fuzz) echo cc rust fuzz ;;
    audit) echo cc rust deny ;;
    all) echo cc rust wasm_rust envoy postgres promtool redis pymemcache node wasm_runner chromium page_packages linters ;;
    *) die "unknown purpose '$1'; allowed: build, run, top, experiment, simulate, test, bench, lint, compose-test, kubernetes-test, gateways-test, fuzz, audit, all" ;;
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
