#!/usr/bin/env bash
# simulate.sh [SCENARIO] [OPTION...]: builds the simulator and runs a shipped scenario by its name, or a TOML file, or a
# trace (--trace FILE).
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"

SCENARIOS=testbed/simulator/scenarios

shipped() { (cd "$SCENARIOS" && printf '%s\n' *.toml) | sed 's/\.toml$//' | paste -sd ' '; }

case ${1:-} in
  '') die "SCENARIO is missing; allowed: $(shipped), or a file that ends in .toml" ;;
  -* | *.toml) ;;
  *)
    [ -f "$SCENARIOS/$1.toml" ] || die "there is no scenario '$1'; allowed: $(shipped), or a file that ends in .toml"
    set -- "$SCENARIOS/$1.toml" "${@:2}"
    ;;
esac

export RUDOLPH_QUIET=1
require_rust
quietly "building the simulator (the first time takes a minute or two)" \
  cargo build --release --package rudolph-simulator
exec "$TARGET/release/rudolph-sim" "$@"
