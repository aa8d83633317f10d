#!/usr/bin/env bash
# fuzz.sh SECONDS [TARGET...]: runs each fuzz target that long. What it finds is in filter/fuzz/artifacts; put it into
# filter/fuzz/corpus, where `cargo test --package rudolph-fuzz-checks` keeps it.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"
# shellcheck source=scripts/tools.sh
. "$ROOT/scripts/tools.sh"

TARGETS=(config admin shared_data key trace)
passed=0 failed=0

# The fuzzer adds to the first folder, which is not the committed one.
fuzz() {
  local target=$1 found=$TARGET/fuzz-corpus/$1 features=(--no-default-features)
  # The trace parser brings the whole simulator; the others need not wait for it.
  [ "$target" != trace ] || features=()
  mkdir -p "$found"
  # Any recent Rust will do: what cargo-fuzz asks of a nightly one is a variable, and no sanitizer is needed where
  # there is no unsafe code.
  RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR="$TARGET/fuzz" "$FUZZ" run --fuzz-dir filter/fuzz --sanitizer none "${features[@]}" "$target" \
    "$found" "filter/fuzz/corpus/$target" -- -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
}

seconds=${1:-60}
[ $# -eq 0 ] || shift
[[ $seconds =~ ^[1-9][0-9]{0,5}$ ]] || die "SECONDS is '$seconds'; allowed: 1 to 999999"
[ $# -gt 0 ] || set -- "${TARGETS[@]}"
require_rust
if ! FUZZ=$(find_fuzz) || ! have c++; then
  echo "SKIP fuzzing: cargo-fuzz or a C++ compiler is not installed"
  echo "0 passed, 0 failed, ${#TARGETS[@]} skipped"
  exit 0
fi
for target in "$@"; do
  [[ " ${TARGETS[*]} " == *" $target "* ]] || die "no fuzz target '$target'; allowed: ${TARGETS[*]}"
  headline "fuzz $target, $seconds s"
  if fuzz "$target"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL $target"
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
