#!/usr/bin/env bash
# Translates the shipped resources of Envoy Gateway and Istio with the control planes' own code, and runs Envoy with the
# result before servers on loopback. Says ok, FAIL or SKIP by name, and the counts last.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"
# shellcheck source=scripts/tools.sh
. "$ROOT/scripts/tools.sh"
# shellcheck source=scripts/gateways/translators.sh
. "$ROOT/scripts/gateways/translators.sh"

SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
LOG=$SCRATCH/log
MODULE=$ROOT/target/rudolph.wasm
DIST=$ROOT/target/dist

note() {
  printf '%s\n' "$*" | tee -a "$LOG"
}

# step_of NAME COMMAND...: its output only if it fails.
step_of() {
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then
    note "ok $name${output:+: $(tail -n 1 <<<"$output")}"
  else
    printf '%s\n' "$output" | tail -n 20
    note "FAIL $name"
    return 1
  fi
}

# A port that no address of the test's servers uses.
free_port() {
  local port
  while port=$((20000 + RANDOM % 12000)); do
    (: <"/dev/tcp/127.0.0.11/$port") 2>/dev/null || (: <"/dev/tcp/127.0.0.21/$port") 2>/dev/null || break
  done
  echo "$port"
}

# cluster_of FILE: the objects of the test's cluster.
cluster_of() {
  sed "s/\bPORT\b/$PORT/" "$1"
}

tester() {
  local of=$1 translation=$2
  shift 2
  "$TARGET/release/rudolph-gateways-test" --of "$of" --translation "$translation" --envoy "$ENVOY_BIN" \
    --module "$MODULE" --app-server "$TARGET/release/rudolph-app-server" --scratch "$SCRATCH/$of" "$@"
}

# `make test` has no Go: it checks these files, and here they are checked to be what the translation gives.
is_as_committed() {
  local of=$1 translation=$2 committed=testbed/deployments/tests/gateways/$1.json
  tester "$of" "$translation" --render "$ROOT/target/gateways-$of.json"
  diff "$committed" "$ROOT/target/gateways-$of.json" >/dev/null || {
    echo "$committed differs from target/gateways-$of.json; if that is as it should be, copy it"
    return 1
  }
}

run_envoy() {
  local of=$1 translation=$2
  mkdir -p "$SCRATCH/$of"
  step_of "the translation is the one that make test checks" is_as_committed "$of" "$translation" || true
  # Its last line counts only its own checks.
  tester "$of" "$translation" | sed '$d' | tee -a "$LOG" || true
  cp "$SCRATCH/$of/envoy.log" "$ROOT/target/gateways-$of.log" 2>/dev/null || true
}

# The status page, turned off by its one line.
off_by_a_line() {
  sed '/This one line turns the page off/ { n; s/true/false/; }' "$1" >"$2"
  [ "$(diff "$1" "$2" | grep -c '^>')" -eq 1 ]
}

# Without its block, which ends the file.
left_out() {
  sed '/^# \[status page\]/,$d' "$1" >"$2"
  ! cmp -s "$1" "$2"
}

# run_without_page OF TRANSLATE: both ways.
run_without_page() {
  local of=$1 translate=$2 how resources=$SCRATCH/$1-without.yaml
  for how in off_by_a_line left_out; do
    step_of "the status page: ${how//_/ }" "$how" "envoy/$of/rudolph.yaml" "$resources" || return 0
    step_of "that translates too" "$translate" "$resources" "$SCRATCH/$of-without.json" || return 0
    tester "$of" "$SCRATCH/$of-without.json" --without-page | sed -e '$d' -e '/^SKIP /d' | tee -a "$LOG" || true
  done
}

# for_envoy_gateway RESOURCES: them, and what the test's cluster has besides.
for_envoy_gateway() {
  cat "$1"
  echo ---
  cluster_of scripts/gateways/envoy-gateway-cluster.yaml
}

translate_for_envoy_gateway() {
  for_envoy_gateway "$1" >"$SCRATCH/envoy-gateway.yaml"
  WASM_MODULE=$MODULE "$TOOLS/bin/egctl" x translate --from gateway-api --to gateway-api,xds --type all --output json \
    --file "$SCRATCH/envoy-gateway.yaml" >"$2"
}

# egctl succeeds whatever it finds.
valid_for_envoy_gateway() {
  local found
  found=$("$TOOLS/bin/egctl" x validate --file "$1")
  echo "$found"
  [[ $found == *OK* ]]
}

# The Service leads to no other port: it would list that of the status page as well.
service_has_port_80_alone() {
  local ports
  for_envoy_gateway envoy/envoy-gateway/rudolph.yaml >"$SCRATCH/envoy-gateway.yaml"
  ports=$(WASM_MODULE=$MODULE "$TOOLS/bin/egctl" x service --file "$SCRATCH/envoy-gateway.yaml")
  echo "$ports"
  [ "$ports" = "http-80 80" ]
}

test_envoy_gateway() {
  headline "Envoy Gateway $ENVOY_GATEWAY_VERSION"
  quietly "building egctl from its module (the first time takes some minutes)" build_egctl || {
    note "SKIP Envoy Gateway: egctl could not be built"
    return
  }
  local resources=envoy/envoy-gateway/rudolph.yaml
  step_of "egctl finds the resources valid" valid_for_envoy_gateway "$resources" || true
  step_of "egctl translates them" translate_for_envoy_gateway "$resources" "$SCRATCH/envoy-gateway.json" || return 0
  step_of "the Service has the gateway's port alone" service_has_port_80_alone || true
  run_envoy envoy-gateway "$SCRATCH/envoy-gateway.json"
  run_without_page envoy-gateway translate_for_envoy_gateway
}

translate_for_istio() {
  "$TOOLS/bin/istio-translate" gateway istio-ingress "$SCRATCH/istio-cluster.yaml" "$1" >"$2" 2>"$SCRATCH/istio.log" || {
    cat "$SCRATCH/istio.log"
    return 1
  }
}

test_istio() {
  headline "Istio ($ISTIO_COMMIT)"
  quietly "building Istio's translation from its module (the first time takes some minutes)" build_istio || {
    note "SKIP Istio: its code could not be built"
    return
  }
  local resources=envoy/istio/rudolph.yaml
  cluster_of scripts/gateways/istio-cluster.yaml >"$SCRATCH/istio-cluster.yaml"
  step_of "Istio finds the resources valid" "$TOOLS/bin/istio-translate" validate "$resources" || true
  step_of "Istio's code for Wasm images gets the module out of the image" "$TOOLS/bin/istio-translate" image \
    "$(echo "$DIST"/*.oci)" "$MODULE" || true
  step_of "Istio translates them" translate_for_istio "$resources" "$SCRATCH/istio.json" || return 0
  run_envoy istio "$SCRATCH/istio.json"
  run_without_page istio translate_for_istio
}

count() {
  grep -c "^$1 " "$LOG" || true
}

require_rust
ENVOY_BIN=$(find_envoy) || die "no Envoy $ENVOY_VERSION; run scripts/setup.sh gateways-test"
export RUDOLPH_QUIET=1
scripts/dist.sh >/dev/null
quietly "building the servers and the test" \
  cargo build --release --package rudolph-app-server --package rudolph-load-generator --package rudolph-deployments
PORT=$(free_port)
if can_translate; then
  test_envoy_gateway
  test_istio
else
  for name in "Envoy Gateway" "Istio"; do
    note "SKIP $name: Go $TRANSLATOR_GO_MIN or newer is needed to build its translation; get it from https://go.dev"
  done
fi

headline "total"
echo "$(count ok) passed, $(count FAIL) failed, $(count SKIP) skipped"
[ "$(count FAIL)" -eq 0 ] && [ "$(count ok)$(count SKIP)" != 00 ]
