#!/usr/bin/env bash
# run.sh [DEMO OPTION...]: builds the filter, the demo and its servers, then becomes the demo.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"
# shellcheck source=scripts/tools.sh
. "$ROOT/scripts/tools.sh"

export RUDOLPH_QUIET=1
require_rust
scripts/build-filter.sh
quietly "building the demo (the first time takes some minutes)" \
  cargo build --release --package rudolph-demo --package rudolph-app-server
ENVOY_BIN=$(find_envoy) || die "no Envoy $ENVOY_VERSION; run scripts/setup.sh run"
export ENVOY_BIN
exec "$TARGET/release/rudolph-demo" "$@"
