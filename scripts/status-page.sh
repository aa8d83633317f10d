#!/usr/bin/env bash
# status-page.sh [tests|screenshots]: the status page in Chromium, over a cluster under load. It needs the module and the
# documents that the filter's tests leave in target/status-page/.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"
# shellcheck source=scripts/tools.sh
. "$ROOT/scripts/tools.sh"

FOLDER=testbed/status-page

case ${1:-tests} in
  tests | screenshots) ;;
  *) die "what '$1' is to do is not known; allowed: tests, screenshots" ;;
esac
require_rust
CHROMIUM=$(find_chromium) || die "no Chromium; run scripts/setup.sh test"
page_packages_are_there || die "no packages in $FOLDER; run scripts/setup.sh test"
ENVOY_BIN=$(find_envoy) || die "no Envoy $ENVOY_VERSION; run scripts/setup.sh test"
export CHROMIUM ENVOY_BIN

if [ "${1:-tests}" = screenshots ]; then
  # Pictures are to show it at its speed.
  folder=release
  cargo build --release --package rudolph-demo --package rudolph-app-server
else
  # As the tests of the host build it: with other packages' features left out, half the tree would be built again.
  folder=debug
  cargo test --workspace --no-run
fi
export RUDOLPH_DEMO=$TARGET/$folder/rudolph-demo

cd "$FOLDER"
if [ "${1:-tests}" = screenshots ]; then
  exec node screenshots.mjs
fi
node --test --test-concurrency=1 --test-reporter=spec page.test.mjs looks.test.mjs
