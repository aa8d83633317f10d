# shellcheck shell=bash disable=SC2034
# Which Rust builds the host programs, and which builds for Wasm. Sourced after lib.sh.
#
# Wasm: the active toolchain if it has the target; else Debian's own Rust, with the standard library
# built from its sources, if that is installed. setup.sh makes one of the two true.
# RUDOLPH_TOOLCHAIN=rustup|debian forces one.

DEBIAN_PACKAGES="rustc-web cargo-web rust-web-src lld"
DEBIAN_STD=/usr/lib/rustlib/src/rust/library/std
WASM_LD=/usr/bin/wasm-ld
WASM_RUST=

# rust_is_usable BIN_PREFIX: are rustc and cargo there, working, and new enough?
rust_is_usable() {
  local tool version
  for tool in rustc cargo; do
    version=$("$1$tool" --version 2>/dev/null | awk '{ print $2 }')
    [ -n "$version" ] && at_least "$version" "$RUST_MIN" || return 1
  done
}

# The Rust on PATH, or the system's own when that one does not work.
use_host_rust() {
  rust_is_usable '' && return
  rust_is_usable /usr/bin/ || return 1
  PATH=/usr/bin:$PATH
}

active_rust_has_target() {
  local libs
  rust_is_usable '' || return 1
  libs=$(rustc --print target-libdir --target "$WASM_TARGET" 2>/dev/null) || return 1
  compgen -G "$libs/libstd-*.rlib" >/dev/null
}

debian_rust_has_std() {
  rust_is_usable /usr/bin/ && [ -d "$DEBIAN_STD" ] && [ -x "$WASM_LD" ]
}

# Sets WASM_RUST without installing anything; fails if neither toolchain can do it.
pick_wasm_rust() {
  case ${RUDOLPH_TOOLCHAIN:-} in
    rustup) active_rust_has_target && WASM_RUST=rustup ;;
    debian) debian_rust_has_std && WASM_RUST=debian ;;
    '')
      if active_rust_has_target; then
        WASM_RUST=rustup
      elif debian_rust_has_std; then
        WASM_RUST=debian
      else
        return 1
      fi
      ;;
    *) die "RUDOLPH_TOOLCHAIN is '$RUDOLPH_TOOLCHAIN'; allowed: rustup, debian, or unset" ;;
  esac
}

require_rust() {
  use_host_rust || die "no Rust $RUST_MIN or newer; run scripts/setup.sh build"
  pick_wasm_rust || die "no Rust that builds for $WASM_TARGET; run scripts/setup.sh build"
}

describe_wasm_rust() {
  case $WASM_RUST in
    rustup) say "wasm toolchain: the active one, with its $WASM_TARGET target ($(rustc --version))" ;;
    debian) say "wasm toolchain: Debian's, with std built from source ($(/usr/bin/rustc --version))" ;;
  esac
}

# in_wasm_rust COMMAND...: with the chosen toolchain first, so that cargo, rustc, rustdoc and clippy agree.
# Debian's needs RUSTC_BOOTSTRAP for -Zbuild-std; its own target directory spares rebuilds, since that
# variable is part of what cargo compares.
in_wasm_rust() {
  case $WASM_RUST in
    rustup) env CARGO_TARGET_DIR="$TARGET" "$@" ;;
    debian)
      env -u RUSTC -u RUSTUP_TOOLCHAIN PATH="/usr/bin:$PATH:${CARGO_HOME:-$HOME/.cargo}/bin" \
        RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$WASM_LD" \
        CARGO_TARGET_DIR="$(wasm_target_dir)" "$@"
      ;;
  esac
}

wasm_target_dir() {
  case $WASM_RUST in
    debian) printf '%s\n' "$TARGET/debian" ;;
    *) printf '%s\n' "$TARGET" ;;
  esac
}

# wasm_cargo SUBCOMMAND [ARGUMENT...]
wasm_cargo() {
  local subcommand=$1 std=
  shift
  [ "$WASM_RUST" = debian ] && std=-Zbuild-std=std,panic_abort
  in_wasm_rust cargo "$subcommand" --target "$WASM_TARGET" ${std:+"$std"} "$@"
}
