#!/usr/bin/env bash
# top.sh [OPTION...]: builds the terminal view of the status page, then becomes it.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"

export RUDOLPH_QUIET=1
require_rust
quietly "building the terminal view (the first time takes a minute)" cargo build --release --package rudolph-top
exec "$TARGET/release/rudolph-top" "$@"
