#!/usr/bin/env bash
# Runs the benches and prints one line a result last: figure NAME VALUE. RESULTS says where tables and plots go.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"
# shellcheck source=scripts/tools.sh
. "$ROOT/scripts/tools.sh"

LOG=$(mktemp)
trap 'rm -f "$LOG"' EXIT
status=0

bench() {
  headline "$1"
  shift
  "$@" 2>&1 | tee -a "$LOG" || status=1
}

require_rust
ENVOY_BIN=$(find_envoy) || die "no Envoy $ENVOY_VERSION; run scripts/setup.sh bench"
export ENVOY_BIN
RUDOLPH_QUIET=1 scripts/build-filter.sh
quietly "building the CPU bench" \
  cargo build --release --package rudolph-cluster --bin rudolph-cpu-bench

bench "the core, native" cargo bench --package rudolph-core
quietly "building the bench of choosing" cargo build --release --package rudolph-choice-bench
bench "choosing a server, ours and others' ways" "$TARGET/release/rudolph-choice-bench" \
  --results "${RESULTS:-testbed/results}"
bench "Envoy's CPU a request" "$TARGET/release/rudolph-cpu-bench"

headline "figures"
grep -E '^figure [a-z0-9_]+ [-+0-9.e]+$' "$LOG" || die "no bench printed a figure"
[ "$status" -eq 0 ] || die "a bench failed; its output is above"
