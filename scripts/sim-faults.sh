#!/usr/bin/env bash
# sim-faults.sh [NAME...]: plants each fault in a copy of the tree, builds the module from it, and shows that the
# fault simulation catches it. The patches are in filter/fault-sim/planted; the first line of each says what it breaks.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"

PATCHES=$ROOT/filter/fault-sim/planted
PLANTED=$TARGET/planted
COPY=$PLANTED/tree
SEEDS=${SEEDS:-300}

# One folder for all, so that only what a patch touches is built again.
copy_tree() {
  rm -rf "$COPY"
  mkdir -p "$COPY"
  (cd "$ROOT" && project_files | tar -cf - -T -) | tar -xf - -C "$COPY"
}

# A light build: the fault is the same, and is there sooner.
build_copy() {
  (cd "$COPY" && env CARGO_TARGET_DIR="$PLANTED/target" RUDOLPH_QUIET=1 CARGO_PROFILE_MODULE_LTO=off \
    CARGO_PROFILE_MODULE_CODEGEN_UNITS=16 CARGO_PROFILE_MODULE_OPT_LEVEL=2 \
    TRIMMER="$TARGET/debug/rudolph-trim-exports" scripts/build-filter.sh)
}

# Ends with the first failure, which is what is hoped for.
simulate() { "$TARGET/debug/rudolph-fault-sim" --module "$COPY/target/rudolph.wasm" --first 0 --seeds "$SEEDS"; }

# catches NAME
catches() {
  local name=$1 patch=$PATCHES/$1.patch log=$PLANTED/$1.log
  say "$name: $(head -n 1 "$patch")"
  patch -s -d "$COPY" -p1 <"$patch" || die "$patch does not apply"
  quietly "  building" build_copy || die "the module with $name does not build"
  if simulate >"$log" 2>&1; then
    echo "FAIL $name: not caught in $SEEDS seeds"
    missed=$((missed + 1))
  else
    grep -m 1 '^seed ' "$log" >/dev/null || { cat "$log" && die "the simulation did not run"; }
    echo "ok   $name: $(grep -m 1 '^seed ' "$log")"
    caught=$((caught + 1))
  fi
  patch -s -R -d "$COPY" -p1 <"$patch"
}

require_rust
have patch || die "patch is missing: install it from your system's packages, then run this again"
quietly "building the simulation" cargo build --package rudolph-fault-sim
quietly "building the trimmer" cargo build --package rudolph-trim-exports
copy_tree
quietly "the module without a fault" build_copy || die "the module does not build"
simulate >"$PLANTED/control.log" 2>&1 || {
  tail -n 60 "$PLANTED/control.log"
  die "without a fault planted the simulation fails already"
}
say "without a fault: $(tail -n 1 "$PLANTED/control.log")"
caught=0 missed=0
if [ $# -eq 0 ]; then
  for file in "$PATCHES"/*.patch; do set -- "$@" "$(basename "$file" .patch)"; done
fi
for name in "$@"; do
  [ -f "$PATCHES/$name.patch" ] || die "no planted fault '$name'; there are: $(cd "$PATCHES" && echo *.patch)"
  catches "$name"
done
echo "$caught passed, $missed failed: faults planted and caught"
[ "$missed" -eq 0 ]
