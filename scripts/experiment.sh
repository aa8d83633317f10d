#!/usr/bin/env bash
# experiment.sh [NAME]: runs one experiment, or all of them and makes the page. QUICK=1 is short; RESULTS says where to.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"
# shellcheck source=scripts/tools.sh
. "$ROOT/scripts/tools.sh"

case ${QUICK:-} in
  '' | 0) quick=() ;;
  1) quick=(--quick) ;;
  *) die "QUICK is '$QUICK'; allowed: 1, or nothing" ;;
esac

export RUDOLPH_QUIET=1
require_rust

# Not a contest of strategies in Envoy, so not of the form that the others share.
shared_nothing() {
  local redis
  redis=$(find_redis) || {
    say "SKIP shared-nothing: no redis-server and redis-benchmark; install Debian's redis-server and redis-tools"
    return
  }
  quietly "building the shared-nothing server and its experiment" \
    cargo build --release --package rudolph-shared-nothing --package rudolph-shared-nothing-experiment
  "$TARGET/release/rudolph-shared-nothing-experiment" --results "${RESULTS:-testbed/results}" --redis "$redis" \
    --server "$TARGET/release/rudolph-shared-nothing" "${quick[@]}"
}

# Redis is what it is about, so without one there is nothing to measure.
arpeggio() {
  local redis
  redis=$(find_redis) || {
    say "SKIP arpeggio: no redis-server; install Debian's redis-server and redis-tools"
    return
  }
  quietly "building the replicated store and its experiment" \
    cargo build --release --package rudolph-replicated-store --package rudolph-replicated-store-experiment
  "$TARGET/release/rudolph-replicated-store-experiment" --results "${RESULTS:-testbed/results}" --redis "$redis" \
    --server "$TARGET/release/rudolph-replicated-store" "${quick[@]}"
}

if [ "${1:-}" = shared-nothing ]; then
  shared_nothing
  exit
fi

scripts/build-filter.sh
ENVOY_BIN=$(find_envoy) || die "no Envoy $ENVOY_VERSION; run scripts/setup.sh run"
export ENVOY_BIN

if [ "${1:-}" = arpeggio ]; then
  arpeggio
  exit
fi

quietly "building the experiments (the first time takes some minutes)" \
  cargo build --release --package rudolph-experiments --package rudolph-app-server

experiments() { "$TARGET/release/rudolph-experiments" --results "${RESULTS:-testbed/results}" "$@"; }
experiments run "${quick[@]}" "$@"
if [ $# -eq 0 ]; then
  shared_nothing
  arpeggio
  experiments report
fi
