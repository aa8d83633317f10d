#!/usr/bin/env bash
# Runs envoy/kubernetes-sidecar on a Kubernetes made for it: API server, kubelet, containerd, DNS, all in namespaces that
# end with it. Where containers cannot run, the manifests are still checked, and the rest is skipped by name.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/toolchain.sh
. "$ROOT/scripts/toolchain.sh"
# shellcheck source=scripts/tools.sh
. "$ROOT/scripts/tools.sh"

FOLDER=$ROOT/target/kubernetes-test
CGROUP=rudolph-kubernetes-test
VERSION=$(awk -F'"' '/^version/ { print $2; exit }' Cargo.toml)
export CGROUP

isolated() {
  local user=()
  [ "$(id -u)" -eq 0 ] || user=(--user --map-root-user)
  unshare "${user[@]}" --net --mount --pid --fork --kill-child --mount-proc "$@"
}

# Prints why nothing of this can run here; nothing if it can.
why_nothing() {
  local tool
  [ "$(uname -s)" = Linux ] || { echo "a node needs Linux"; return; }
  for tool in unshare ip openssl; do
    have "$tool" || { echo "there is no $tool"; return; }
  done
  isolated true 2>/dev/null || echo "this user may not make namespaces"
}

# The same for containers.
why_no_pods() {
  local tool
  [ "$(id -u)" -eq 0 ] || { echo "containers need root"; return; }
  for tool in containerd ctr runc; do
    have "$tool" || { echo "there is no $tool"; return; }
  done
  [ -x /usr/lib/cni/bridge ] || [ -x /opt/cni/bin/bridge ] || { echo "there is no CNI plugin 'bridge'"; return; }
  isolated ip link add cni0 type bridge 2>/dev/null || { echo "the kernel has no network bridges"; return; }
  isolated ip link add one type veth peer name two 2>/dev/null || { echo "the kernel has no veth devices"; return; }
  overlay_works || { echo "overlayfs cannot be mounted in $FOLDER"; return; }
  make_cgroups || { echo "cgroups cannot be made"; return; }
}

overlay_works() {
  mkdir -p "$FOLDER"/overlay/{lower,upper,work,merged}
  isolated mount -t overlay overlay -o "lowerdir=$FOLDER/overlay/lower,upperdir=$FOLDER/overlay/upper,workdir=$FOLDER/overlay/work" \
    "$FOLDER/overlay/merged" 2>/dev/null
}

# The node's own corner of each hierarchy of cgroups: one in version 2, one a controller in version 1.
make_cgroups() {
  local hierarchy
  if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
    echo "+cpu +cpuset +memory +pids" >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null || true
    mkdir -p "/sys/fs/cgroup/$CGROUP" && return
  fi
  for hierarchy in /sys/fs/cgroup/*/tasks; do
    mkdir -p "$(dirname "$hierarchy")/$CGROUP" || return 1
  done 2>/dev/null
}

remove_cgroups() {
  find /sys/fs/cgroup -depth -type d -path "*/$CGROUP*" -exec rmdir {} + 2>/dev/null || true
}

# Processes and mounts are gone with their namespaces; containers' files and cgroups are not.
clean_up() {
  remove_cgroups
  rm -rf "$FOLDER"/{containerd,kubelet,etcd,images,overlay}
}

copy_sidecar() {
  rm -rf "$FOLDER/sidecar"
  cp -R envoy/kubernetes-sidecar "$FOLDER/sidecar"
  cp target/rudolph.wasm "$FOLDER/sidecar/module-in-configmap/"
}

# Under the names that the manifests use.
make_images() {
  local images=$FOLDER/images
  mkdir -p "$images"
  scripts/kubernetes-image.sh rudolph.test/pause:1 "$TOOLS/bin/pause" "$images/pause.tar" &&
    scripts/kubernetes-image.sh "docker.io/envoyproxy/envoy:v$ENVOY_VERSION" "$FOLDER/envoy" "$images/envoy.tar" &&
    scripts/kubernetes-image.sh "docker.io/rudolph/app-server:$VERSION" "$TARGET/release/rudolph-app-server" "$images/app-server.tar" &&
    scripts/kubernetes-image.sh "docker.io/rudolph/load-generator:$VERSION" "$TARGET/release/rudolph-load" "$images/load-generator.tar"
}

why=$(why_nothing)
if [ -n "$why" ]; then
  echo "SKIP envoy/kubernetes-sidecar on Kubernetes: $why"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi

require_rust
ENVOY_BIN=$(find_envoy) || die "no Envoy $ENVOY_VERSION; run scripts/setup.sh kubernetes-test"
kubernetes_is_built || die "no Kubernetes in .tools; run scripts/setup.sh kubernetes-test"
RUDOLPH_QUIET=1 scripts/build-filter.sh
quietly "building the servers, the load generator and the checks" \
  cargo build --release --package rudolph-app-server --package rudolph-load-generator --package rudolph-deployments

rm -rf "$FOLDER"
mkdir -p "$FOLDER"
trap clean_up EXIT
copy_sidecar

no_pods=()
parts=pods
why=$(why_no_pods)
if [ -n "$why" ]; then
  say "no pods here: $why"
  parts=api
  no_pods=(--no-pods "$why")
else
  # The program itself, and not the link to it.
  cp -L "$ENVOY_BIN" "$FOLDER/envoy"
  quietly "making the images" make_images || die "the images were not made"
fi

isolated scripts/kubernetes-cluster.sh "$parts" "$FOLDER" \
  "$TARGET/release/rudolph-kubernetes-test" --kubernetes "$TOOLS/bin/kubernetes" --sidecar "$FOLDER/sidecar" \
  --envoy "$ENVOY_BIN" --scratch "$FOLDER" "${no_pods[@]}" || {
  status=$?
  say "logs of the cluster: $FOLDER/log"
  exit "$status"
}
