#!/usr/bin/env bash
# sim.sh [OPTION...]: builds the module and the fault simulation, then becomes the simulation. See --help.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"

export RUDOLPH_QUIET=1
require_rust
scripts/build-filter.sh
quietly "building the fault simulation (the first time takes some minutes)" cargo build --package rudolph-fault-sim
exec "$TARGET/debug/rudolph-fault-sim" --module target/rudolph.wasm "$@"
