#!/usr/bin/env bash
# experiment.sh [NAME]: runs one experiment, or all of them and makes the page. QUICK=1 is short; RESULTS says where to;
# RUDOLPH_PROGRAMS is a folder of programs that are built already, as tests have them.
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

# beside_redis NAME PACKAGE: an experiment in a form of its own, for no contest of strategies in Envoy. Redis is what it is
# about, so without one there is nothing to measure.
beside_redis() {
  local name=$1 package=$2 redis
  redis=$(find_redis) || {
    say "SKIP $name: no redis-server and redis-benchmark; install Debian's redis-server and redis-tools"
    return
  }
  quietly "building $package and its experiment" \
    cargo build --release --package "rudolph-$package" --package "rudolph-$package-experiment"
  "$TARGET/release/rudolph-$package-experiment" --results "${RESULTS:-testbed/results}" --redis "$redis" \
    --server "$TARGET/release/rudolph-$package" "${quick[@]}"
}

shared_nothing() { beside_redis shared-nothing shared-nothing; }
arpeggio() { beside_redis arpeggio replicated-store; }

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

programs=${RUDOLPH_PROGRAMS:-}
if [ -z "$programs" ]; then
  quietly "building the experiments (the first time takes some minutes)" \
    cargo build --release --package rudolph-experiments --package rudolph-app-server
  programs=$TARGET/release
fi

experiments() { "$programs/rudolph-experiments" --results "${RESULTS:-testbed/results}" "$@"; }
experiments run "${quick[@]}" "$@"
if [ $# -eq 0 ]; then
  shared_nothing
  arpeggio
  experiments report
fi
