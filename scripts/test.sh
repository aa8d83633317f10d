#!/usr/bin/env bash
# Runs every test: on the host, the core as Wasm in Node, the status page in Chromium, the scripts. Ends with one line of
# totals.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"
# shellcheck source=scripts/tools.sh
. "$ROOT/scripts/tools.sh"

LOG=$(mktemp)
trap 'rm -f "$LOG"' EXIT
broken=0

# suite NAME COMMAND...: a suite that fails without counting a failed test counts as one.
suite() {
  local name=$1 before
  shift
  headline "$name"
  before=$(total failed)
  if ! "$@" 2>&1 | tee -a "$LOG"; then
    say "suite failed: $name"
    [ "$(total failed)" -gt "$before" ] || broken=$((broken + 1))
  fi
}

# total passed|failed: over the runners' own summary lines; Node's say pass and fail.
total() {
  awk -v word="$1" '/^test result: / {
    for (i = 2; i <= NF; i++) if ($i ~ "^" word ";?$") sum += $(i - 1)
  }
  $2 ~ /^(pass|fail)$/ && NF == 3 && index(word, $2) == 1 { sum += $3 }
  END { print sum + 0 }' "$LOG"
}

core_in_node() {
  CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER=$(find_wasm_runner) \
    wasm_cargo test --package rudolph-core --lib --tests --no-fail-fast
}

page_in_chromium() {
  if ! find_chromium >/dev/null; then
    say "SKIP the status page in a browser: there is no Chromium"
  elif ! page_packages_are_there; then
    say "SKIP the status page in a browser: npm's packages are not installed"
  else
    scripts/status-page.sh
  fi
}

shell_tests() {
  local file status=0
  for file in scripts/tests/*.sh; do
    bash "$file" || status=1
  done
  return "$status"
}

require_rust
ENVOY_BIN=$(find_envoy) || die "no Envoy $ENVOY_VERSION; run scripts/setup.sh test"
export ENVOY_BIN
find_wasm_runner >/dev/null || die "no wasm-bindgen-test-runner $(wasm_bindgen_version); run scripts/setup.sh test"

# Their tests say by name what they skip without these.
RUDOLPH_REDIS=$(find_redis) && export RUDOLPH_REDIS
RUDOLPH_PYMEMCACHE=$(find_pymemcache) && export RUDOLPH_PYMEMCACHE

headline "the filter's module"
scripts/build-filter.sh || die "the module does not build; no test was run"
suite "host: cargo test --workspace" cargo test --workspace --no-fail-fast
suite "wasm: the core's tests in Node" core_in_node
suite "browser: the status page in Chromium" page_in_chromium
suite "scripts" shell_tests

headline "total"
failed=$(($(total failed) + broken))
echo "$(total passed) passed, $failed failed"
[ "$failed" -eq 0 ]
