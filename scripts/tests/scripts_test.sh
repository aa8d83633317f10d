#!/usr/bin/env bash
# Tests of the scripts' own logic: nothing is built or installed.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"
# shellcheck source=scripts/house-rules.sh
. "$ROOT/scripts/house-rules.sh"

passed=0 failed=0
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT

expect() {
  local name=$1
  shift
  if "$@"; then
    echo "test $name ... ok"
    passed=$((passed + 1))
  else
    echo "test $name ... FAILED"
    failed=$((failed + 1))
  fi
}

not() { ! "$@"; }

# says WORDS COMMAND...: the command fails, in one line that holds the words.
says() {
  local words=$1 output
  shift
  if output=$("$@" 2>&1); then return 1; fi
  [ "$(printf '%s\n' "$output" | grep -c .)" -eq 1 ] && [[ $output == *"$words"* ]]
}

# in_project RULE CONTENT FILE: runs a house rule on a project of one file.
in_project() {
  local rule=$1 content=$2
  only_file=$3
  mkdir -p "$SCRATCH/$(dirname "$only_file")"
  printf '%s\n' "$content" >"$SCRATCH/$only_file"
  (
    cd "$SCRATCH" || exit 1
    # shellcheck disable=SC2317
    project_files() { printf '%s\n' "$only_file"; }
    "$rule" >/dev/null
  )
}

# make_says WORDS [ARGUMENT...]: the words are in what make prints.
make_says() {
  local words=$1 output
  shift
  output=$(env -u MAKEFLAGS -u MAKELEVEL make -s "$@")
  [[ $output == *"$words"* ]]
}

env_strategy_reaches_the_demo() {
  local STRATEGY=rotation
  export STRATEGY
  make_says "--strategy 'rotation'" -n run
}

expect "a version equal to the least is enough" at_least 1.88.0 1.88
expect "versions compare as numbers" at_least 1.100.0 1.88
expect "an older version is not enough" not at_least 1.63.0 1.88
expect "a setup purpose is named when unknown" says "unknown purpose 'tea'" scripts/setup.sh tea
expect "a toolchain is named when unknown" says "RUDOLPH_TOOLCHAIN is 'tea'" env RUDOLPH_TOOLCHAIN=tea scripts/build-filter.sh
expect "make without a target lists run" make_says "  run "
expect "make without a target lists test" make_says "  test "
expect "SECONDS becomes an option" make_says "run.sh --seconds '20'" -n run SECONDS=20
expect "STRATEGY comes from the environment" env_strategy_reaches_the_demo
expect "no option is passed unasked" not make_says " --" -n run
expect "AT reaches the terminal view" make_says "top.sh --at '127.0.0.1:1'" -n top AT=127.0.0.1:1
expect "NAME reaches the experiments" make_says "experiment.sh 'fig6a'" -n experiment NAME=fig6a
expect "SCENARIO reaches the simulator" make_says "simulate.sh 'design'" -n simulate SCENARIO=design
expect "a missing SCENARIO is named" says "SCENARIO is missing; allowed: ablation" scripts/simulate.sh ''
expect "an unknown SCENARIO is named" says "no scenario 'desing'" scripts/simulate.sh desing
expect "QUICK is 1 or nothing" says "QUICK is 'yes'" env QUICK=yes scripts/experiment.sh fig6a
expect "what the page's script can do is named" says "allowed: tests, screenshots" scripts/status-page.sh dance
expect "a link to nowhere is found" not in_project links_exist '[a](b.md)' docs/a.md
expect "a link to itself is fine" in_project links_exist '[a](c.md#top) [b](https://example.org)' docs/c.md
expect "unsafe outside the module is found" not in_project unsafe_stays_put 'unsafe { f() }' filter/core/src/a.rs
expect "unsafe in one file of the module is fine" in_project unsafe_stays_put 'unsafe { f() }' filter/proxy-wasm/src/a.rs
expect "an export's mark is fine" in_project unsafe_stays_put '#[unsafe(no_mangle)]' filter/proxy-wasm/src/c.rs
expect "a word about unsafe is fine" in_project unsafe_stays_put '// unsafe is not used' filter/core/src/b.rs
expect "a home path is found" not in_project no_private_names "see /home""/ann/notes" docs/d.md

if [ "$failed" -eq 0 ]; then verdict=ok; else verdict=FAILED; fi
echo "test result: $verdict. $passed passed; $failed failed; 0 ignored"
[ "$failed" -eq 0 ]
