#!/usr/bin/env bash
# reliability.sh chaos|soak|load-limits [OPTION...]: builds the filter and the program, then becomes it.
# RESULTS says where the files go; QUICK=1 makes chaos short.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"
# shellcheck source=scripts/tools.sh
. "$ROOT/scripts/tools.sh"

program=${1:-}
case $program in
  chaos | soak | load-limits) shift ;;
  *) die "'$program' is not a program; allowed: chaos, soak, load-limits" ;;
esac
case ${QUICK:-} in
  '' | 0) ;;
  1) [ "$program" != chaos ] || set -- --quick "$@" ;;
  *) die "QUICK is '$QUICK'; allowed: 1, or nothing" ;;
esac

export RUDOLPH_QUIET=1
require_rust
scripts/build-filter.sh
quietly "building rudolph-$program (the first time takes some minutes)" \
  cargo build --release --package rudolph-reliability --package rudolph-app-server
ENVOY_BIN=$(find_envoy) || die "no Envoy $ENVOY_VERSION; run scripts/setup.sh run"
export ENVOY_BIN
exec "$TARGET/release/rudolph-$program" --folder "${RESULTS:-testbed/results}/$program" "$@"
