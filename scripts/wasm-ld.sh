#!/usr/bin/env bash
# The linker for the module: exports only the symbols of filter/proxy-wasm/exports.txt.
#
# rustc exports every `no_mangle` function, those of the SDK too, and with them stays all that they reach: its
# dispatcher and 14 imports that nothing here calls. What is never exported the linker drops by itself.
# WASM_LINKER is the real linker. This file's name tells rustc how to call it.
set -euo pipefail

list=$(dirname "${BASH_SOURCE[0]}")/../filter/proxy-wasm/exports.txt
kept=$(sed -e 's/#.*//' -e 's/.*= *//' -e 's/ *$//' "$list")

arguments=()
while [ $# -gt 0 ]; do
  if [ "$1" = --export ] && ! grep -qxF -- "$2" <<<"$kept"; then
    shift 2
    continue
  fi
  arguments+=("$1")
  shift
done
exec "$WASM_LINKER" "${arguments[@]}"
