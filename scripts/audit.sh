#!/usr/bin/env bash
# Licences, sources and advisories of all dependencies, by deny.toml. Ends with a count of checks.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"
# shellcheck source=scripts/tools.sh
. "$ROOT/scripts/tools.sh"

passed=0 failed=0 skipped=0

# audit CHECK...
audit() {
  if "$DENY" --locked check "$@"; then
    echo "ok   $*"
    passed=$((passed + 1))
  else
    echo "FAIL $*"
    failed=$((failed + 1))
  fi
}

require_rust
if DENY=$(find_deny); then
  audit licenses bans sources
  if bounded 300 "$DENY" fetch db >/dev/null 2>&1; then
    audit advisories
  else
    echo "SKIP advisories: their database cannot be fetched from here"
    skipped=$((skipped + 1))
  fi
else
  echo "SKIP licences, sources, advisories: cargo-deny is not installed"
  skipped=$((skipped + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
