#!/usr/bin/env bash
# Brings docker-compose.yml up for real, checks what it promises, and takes it down. Where no container can run, that is
# said and the test is skipped by name. FROM_SOURCE=1 compiles inside the Dockerfile, as a user's `docker compose build`
# does; that is also what happens where images can be pulled.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"
# shellcheck source=scripts/tools.sh
. "$ROOT/scripts/tools.sh"
# shellcheck source=scripts/containers.sh
. "$ROOT/scripts/containers.sh"

PROGRAMS=$ROOT/target/programs

skip_all() {
  echo "SKIP compose-test: $1"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
}

# Also after Ctrl-C, and if the checks were killed before they took the stack down.
# shellcheck disable=SC2317 # the trap calls it
clean_up() {
  [ -z "${RUDOLPH_PROJECT:-}" ] ||
    compose --progress quiet --project-name "$RUDOLPH_PROJECT" --profile dashboards down --volumes --timeout 5 2>/dev/null || true
  stop_engine
}

# The images that the compose file names and does not build, and those that its Dockerfile starts from.
need_images() {
  need_image debian:bookworm-slim debian
  need_image "envoyproxy/envoy:v$ENVOY_VERSION" envoy
  need_image "$(image_like postgres:)" postgres
  need_image "$(image_like prom/prometheus:)" prometheus
  need_image "$(image_like grafana/grafana:)" none || say "without Grafana: nothing can stand in for its image"
}

# image_like PREFIX: as docker-compose.yml pins it.
image_like() { awk -v prefix="$1" '$1 == "image:" && index($2, prefix) == 1 { print $2; exit }' docker-compose.yml; }

# Programs of this machine run in the images where both are of one release.
from_host() {
  [ -n "${NO_REGISTRY:-}" ] && [ "${FROM_SOURCE:-}" != 1 ] && grep -q '^VERSION_CODENAME=bookworm' /etc/os-release
}

collect_programs() {
  mkdir -p "$PROGRAMS"
  cp target/rudolph.wasm "$TARGET/release/rudolph-app-server" "$TARGET/release/rudolph-load" "$PROGRAMS/"
}

build_images() {
  if from_host; then
    say "the programs of this machine go into the images; FROM_SOURCE=1 compiles in the Dockerfile"
    collect_programs
    quietly "docker compose build" compose build --build-arg PROGRAMS=from-host
  else
    need_image "$(awk '$1 == "FROM" && $2 ~ /^rust:/ { print $2 }' envoy/compose/Dockerfile)" rust
    quietly "docker compose build (the first time takes some minutes)" compose build
  fi
}

case ${FROM_SOURCE:-} in
  '' | 0 | 1) ;;
  *) die "FROM_SOURCE is '$FROM_SOURCE'; allowed: 1, or nothing" ;;
esac
why=$(why_no_containers)
[ -z "$why" ] || skip_all "$why"

require_rust
RUDOLPH_QUIET=1 scripts/build-filter.sh
quietly "building servers, load and checks (the first time takes some minutes)" \
  cargo build --release --package rudolph-app-server --package rudolph-load-generator --package rudolph-deployments

trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
need_engine
need_compose
need_images
build_images || die "the images were not built"

export RUDOLPH_PROJECT=rudolph-test-$$
if docker compose version >/dev/null 2>&1; then RUDOLPH_COMPOSE="docker compose"; else RUDOLPH_COMPOSE=$TOOLS/bin/docker-compose; fi
export RUDOLPH_COMPOSE
headline "docker-compose.yml"
status=0
"$TARGET/release/rudolph-compose-test" || status=$?
exit "$status"
