#!/usr/bin/env bash
# Checks format, lints and house rules. Every check says ok, FAIL or SKIP by its name.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"
# shellcheck source=scripts/tools.sh
. "$ROOT/scripts/tools.sh"
# shellcheck source=scripts/house-rules.sh
. "$ROOT/scripts/house-rules.sh"

passed=0 failed=0 skipped=0

check() {
  local name=$1 log
  shift
  log=$(mktemp)
  if "$@" >"$log" 2>&1; then
    echo "ok   $name"
    grep '^warn' "$log" || true
    passed=$((passed + 1))
  else
    cat "$log"
    echo "FAIL $name"
    failed=$((failed + 1))
  fi
  rm -f "$log"
}

skip() {
  echo "SKIP $1: $2"
  skipped=$((skipped + 1))
}

check_shell() {
  project_files | while read -r file; do
    case $file in
      *.sh | .ci/run) printf '%s\n' "$file" ;;
    esac
  done | xargs shellcheck -x
}

require_rust
check "Cargo.lock is up to date" cargo metadata --locked --format-version 1
check "the fuzzers' Cargo.lock too" cargo metadata --locked --format-version 1 \
  --manifest-path filter/fuzz/Cargo.toml

if cargo fmt --version >/dev/null 2>&1; then
  check "cargo fmt" cargo fmt --all --check
else
  skip "cargo fmt" "rustfmt is not installed"
fi

if cargo clippy --version >/dev/null 2>&1; then
  check "cargo clippy, host" cargo clippy --workspace --all-targets -- -D warnings
else
  skip "cargo clippy, host" "clippy is not installed"
fi

if in_wasm_rust cargo clippy --version >/dev/null 2>&1; then
  check "cargo clippy, wasm" wasm_cargo clippy --package rudolph-core --package rudolph-status --package rudolph-filter -- -D warnings
else
  skip "cargo clippy, wasm" "clippy of the wasm toolchain is not installed"
fi

if have shellcheck; then
  check "shellcheck" check_shell
else
  skip "shellcheck" "it is not installed"
fi

if DENY=$(find_deny); then
  check "licences and sources of dependencies" "$DENY" --locked check licenses bans sources
else
  skip "licences and sources of dependencies" "cargo-deny is not installed; make audit installs it"
fi

check "no registry host or home path in a file" no_private_names
check "unsafe code in at most one file of the module" unsafe_stays_put
if have patch; then
  check "the planted faults apply" planted_faults_apply
else
  skip "the planted faults apply" "patch is not installed"
fi
check "links in Markdown lead somewhere" links_exist
check "Rust files under $LONG_FILE lines" long_files

echo "$passed checks passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
