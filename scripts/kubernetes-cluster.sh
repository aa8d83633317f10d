#!/usr/bin/env bash
# kubernetes-cluster.sh api|pods FOLDER COMMAND...: runs the command beside a Kubernetes of its own, and ends that with it.
# `api` is etcd and the API server, `pods` all of it: one node, its containers, DNS. Logs and state are in FOLDER.
# It must be the first process of new network, mount and process namespaces (kubernetes-test.sh sees to that), so nothing
# outside can be reached or hurt, and whatever it started dies with it.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

PARTS=$1 FOLDER=$2
shift 2
NODE=10.244.0.1
PODS=10.244.0.0/24
RUN=/run/containerd
IMAGES=$FOLDER/images
KUBECONFIG=$FOLDER/kubeconfig
CNI=/usr/lib/cni
[ -d "$CNI" ] || CNI=/opt/cni/bin
export KUBECONFIG

trap 'exit 130' INT TERM

kube() { "$TOOLS/bin/kubernetes" "$@"; }

declare -A PROCESS

# background NAME COMMAND...: with a log of its own.
background() {
  local name=$1
  shift
  "$@" >"$FOLDER/log/$name.log" 2>&1 </dev/null &
  PROCESS[$name]=$!
}

# within SECONDS NAME COMMAND...: waits until the command succeeds; else the log of that name says why it never did.
within() {
  local deadline=$((SECONDS + $1)) name=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    if [ "$SECONDS" -ge "$deadline" ] || ! kill -0 "${PROCESS[$name]}" 2>/dev/null; then
      tail -n 20 "$FOLDER/log/$name.log"
      echo "error: $name did not become ready; its log is $FOLDER/log/$name.log"
      return 1
    fi
    sleep 0.3
  done
}

# --- what the machine's other processes must not notice

own_network() {
  ip link set lo up
  ip link add cni0 type bridge
  ip address add "$NODE/24" dev cni0
  ip link set cni0 up
}

# What the kubelet would set in the kernel, for the whole machine.
KERNEL_SETTINGS=(vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops
  kernel/keys/root_maxkeys kernel/keys/root_maxbytes)

# Sockets and logs at their usual places, seen here only; and plain files for the kubelet to write those settings into.
own_folders() {
  mount --make-rshared /
  mount -t tmpfs tmpfs /run
  mkdir -p "$RUN" "$FOLDER/log/var"
  mount --bind "$FOLDER/log/var" /var/log
  local setting
  for setting in "${KERNEL_SETTINGS[@]}"; do
    mkdir -p "$(dirname "$RUN/settings/$setting")"
    cat "/proc/sys/$setting" >"$RUN/settings/$setting"
    mount --bind "$RUN/settings/$setting" "/proc/sys/$setting"
  done
}

# --- the control plane

write_credentials() {
  openssl genrsa -out "$FOLDER/service-accounts.key" 2048 2>/dev/null
  local token
  token=$(openssl rand -hex 16)
  printf '%s,admin,admin,system:masters\n' "$token" >"$FOLDER/tokens.csv"
  cat >"$KUBECONFIG" <<CONFIG
apiVersion: v1
kind: Config
clusters: [{ name: test, cluster: { server: "https://127.0.0.1:6443", insecure-skip-tls-verify: true } }]
users: [{ name: admin, user: { token: $token } }]
contexts: [{ name: test, context: { cluster: test, user: admin } }]
current-context: test
CONFIG
}

start_api() {
  background etcd "$TOOLS/bin/kubernetes" etcd --data-dir "$FOLDER/etcd" --unsafe-no-fsync --log-level warn \
    --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380
  background kube-apiserver "$TOOLS/bin/kubernetes" kube-apiserver --etcd-servers http://127.0.0.1:2379 \
    --bind-address 127.0.0.1 --advertise-address "$NODE" --cert-dir "$FOLDER/pki" \
    --token-auth-file "$FOLDER/tokens.csv" --authorization-mode AlwaysAllow --service-cluster-ip-range 10.96.0.0/24 \
    --kubelet-preferred-address-types InternalIP \
    --service-account-issuer https://kubernetes.default.svc --service-account-key-file "$FOLDER/service-accounts.key" \
    --service-account-signing-key-file "$FOLDER/service-accounts.key"
  within 180 kube-apiserver kube kubectl get --raw /readyz
}

start_controllers() {
  background kube-controller-manager "$TOOLS/bin/kubernetes" kube-controller-manager --kubeconfig "$KUBECONFIG" \
    --leader-elect=false --service-account-private-key-file "$FOLDER/service-accounts.key"
  background kube-scheduler "$TOOLS/bin/kubernetes" kube-scheduler --kubeconfig "$KUBECONFIG" --leader-elect=false
}

# --- the node

start_containerd() {
  cat >"$FOLDER/containerd.toml" <<CONFIG
version = 2
root = "$FOLDER/containerd"
state = "$RUN/state"
[grpc]
  address = "$RUN/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "rudolph.test/pause:1"
  # Some machines let nobody have a better score than they have themselves.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$CNI"
    conf_dir = "$FOLDER/cni"
CONFIG
  mkdir -p "$FOLDER/cni"
  cat >"$FOLDER/cni/10-bridge.conflist" <<CONFIG
{ "cniVersion": "0.4.0", "name": "pods", "plugins": [
  { "type": "bridge", "bridge": "cni0", "isGateway": true,
    "ipam": { "type": "host-local", "subnet": "$PODS", "dataDir": "$RUN/addresses", "routes": [{ "dst": "0.0.0.0/0" }] } } ] }
CONFIG
  background containerd containerd --config "$FOLDER/containerd.toml"
  within 60 containerd ctr --address "$RUN/containerd.sock" version || return 1
  local image
  for image in "$IMAGES"/*.tar; do
    ctr --address "$RUN/containerd.sock" --namespace k8s.io images import "$image" || return 1
  done
}

start_dns() {
  cat >"$FOLDER/Corefile" <<CONFIG
.:53 {
  errors
  ready 127.0.0.1:8181
  kubernetes cluster.local {
    kubeconfig $KUBECONFIG
    ttl 30
  }
}
CONFIG
  background cluster-dns "$TOOLS/bin/cluster-dns" -conf "$FOLDER/Corefile"
}

start_kubelet() {
  cat >"$FOLDER/kubelet.yaml" <<CONFIG
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $NODE
authentication: { anonymous: { enabled: true }, webhook: { enabled: false } }
authorization: { mode: AlwaysAllow }
cgroupDriver: cgroupfs
cgroupRoot: /$CGROUP
clusterDNS: [$NODE]
clusterDomain: cluster.local
containerRuntimeEndpoint: unix://$RUN/containerd.sock
evictionHard: { memory.available: 50Mi }
imageGCHighThresholdPercent: 100
failCgroupV1: false
failSwapOn: false
makeIPTablesUtilChains: false
resolvConf: ""
CONFIG
  background kubelet "$TOOLS/bin/kubernetes" kubelet --config "$FOLDER/kubelet.yaml" --kubeconfig "$KUBECONFIG" \
    --root-dir "$FOLDER/kubelet" --cert-dir "$FOLDER/kubelet/pki" --hostname-override node --node-ip "$NODE"
  within 120 kubelet kube kubectl wait --for=condition=Ready --timeout=1s node/node &&
    within 60 cluster-dns bash -c 'exec 3<>/dev/tcp/127.0.0.1/8181'
}

mkdir -p "$FOLDER/log"
own_network
write_credentials
quietly "Kubernetes: starting the API server" start_api || die "there is no API server"
if [ "$PARTS" = pods ]; then
  own_folders
  start_controllers
  quietly "Kubernetes: starting containerd, with the images" start_containerd || die "there is no container runtime"
  start_dns
  quietly "Kubernetes: starting the node" start_kubelet || die "there is no node"
fi
"$@"
