# shellcheck shell=bash disable=SC2034
# Sourced by every script: where things are, and how to say, fail, wait and install.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
TOOLS=$ROOT/.tools
TARGET=${CARGO_TARGET_DIR:-$ROOT/target}
cd "$ROOT" || exit 1

# shellcheck source=scripts/versions.sh
. "$ROOT/scripts/versions.sh"

say() { printf '%s\n' "$*" >&2; }
headline() { printf '\n== %s\n' "$*"; }
die() {
  say "error: $*"
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# at_least 1.96.0 1.95: is the first version the second or newer?
at_least() {
  awk -v a="$1" -v b="$2" 'BEGIN {
    split(a, x, /[.+-]/); split(b, y, /[.+-]/)
    for (i = 1; i <= 3; i++) if (x[i] + 0 != y[i] + 0) exit !(x[i] + 0 > y[i] + 0)
  }'
}

# bounded SECONDS COMMAND...: no network wait may last for ever. (macOS has no timeout.)
bounded() {
  local limit=$1
  shift
  if have timeout; then timeout "$limit" "$@"; else "$@"; fi
}

# quietly LABEL COMMAND...: one progress line; the command's output only if it fails.
quietly() {
  local log status=0
  log=$(mktemp)
  with_progress "$log" "$@" || status=$?
  [ "$status" -eq 0 ] || cat "$log" >&2
  rm -f "$log"
  return "$status"
}

# attempt LABEL COMMAND...: the same for what has a fall-back, so its failure is told in one line.
attempt() {
  local log status=0
  log=$(mktemp)
  with_progress "$log" "$@" || status=$?
  [ "$status" -eq 0 ] || say "  $(grep -m 1 -iE '^(error|e):' "$log" || tail -n 1 "$log")"
  rm -f "$log"
  return "$status"
}

# with_progress LOG LABEL COMMAND...: counts the seconds on a terminal.
with_progress() {
  local log=$1 label=$2 ticker='' status=0 started outcome='done'
  shift 2
  started=$(date +%s)
  if [ -t 2 ]; then
    count_seconds "$label" "$started" &
    ticker=$!
  else
    say "$label ..."
  fi
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if [ -n "$ticker" ]; then
    kill "$ticker" 2>/dev/null || true
    wait "$ticker" 2>/dev/null || true
    printf '\r\033[K' >&2
  fi
  [ "$status" -eq 0 ] || outcome=failed
  say "$label: $outcome in $(($(date +%s) - started)) s"
  return "$status"
}

# Ends with the script, however that ends.
count_seconds() {
  while kill -0 $$ 2>/dev/null; do
    printf '\r\033[K%s ... %d s' "$1" $(($(date +%s) - $2)) >&2
    sleep 1
  done
}

# step LABEL COMMAND...: quiet under `make run`, else with the command's own output.
step() {
  if [ -n "${RUDOLPH_QUIET:-}" ]; then
    quietly "$@"
  else
    say "$1"
    shift
    "$@"
  fi
}

can_apt() { have apt-get && [ "$(id -u)" -eq 0 ]; }

apt_get() {
  DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}

# apt_install PACKAGE...: never removes what is there, asks nothing.
apt_install() {
  can_apt || return 1
  if [ -z "${APT_FRESH:-}" ]; then
    attempt "apt: reading package lists" apt_get update || true
    APT_FRESH=1
  fi
  quietly "apt: installing $*" apt_get install -y --no-install-recommends --no-remove "$@"
}

# install_or_explain WHAT HINT PACKAGE...
install_or_explain() {
  local what=$1 hint=$2
  shift 2
  say "$what is missing"
  apt_install "$@" && return
  die "$what is needed and was not installed: $hint (Debian, as root: apt install $*), then run this again"
}

# The files of the project: tracked and new ones, without what is ignored.
project_files() {
  git -C "$ROOT" ls-files -co --exclude-standard 2>/dev/null ||
    find . \( -path ./target -o -path ./.tools -o -path ./.git \) -prune -o -type f -print | sed 's|^\./||'
}
