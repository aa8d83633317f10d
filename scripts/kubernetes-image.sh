#!/usr/bin/env bash
# kubernetes-image.sh NAME PROGRAM OUTPUT: an image of one program at /usr/local/bin and the libraries it needs, as an
# archive that container runtimes load. It takes the name that a manifest uses, where that cannot be pulled.
set -euo pipefail

NAME=$1 PROGRAM=$2 OUTPUT=$3
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT

# The paths in what ldd prints: libraries, and the loader itself. A static program has none.
libraries_of() { ldd "$1" 2>/dev/null | grep -oE '/[^ ]+' | sort -u || true; }

architecture() {
  case $(uname -m) in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    *) uname -m ;;
  esac
}

digest() { sha256sum "$1" | cut -d' ' -f1; }

install -D -m 755 "$PROGRAM" "$FOLDER/root/usr/local/bin/$(basename "$PROGRAM")"
while read -r library; do
  [ -z "$library" ] || install -D -m 755 "$library" "$FOLDER/root$library"
done <<<"$(libraries_of "$PROGRAM")"

tar -C "$FOLDER/root" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf "$FOLDER/layer.tar" .
cat >"$FOLDER/config.json" <<CONFIG
{ "architecture": "$(architecture)", "os": "linux",
  "config": { "Entrypoint": ["/usr/local/bin/$(basename "$PROGRAM")"] },
  "rootfs": { "type": "layers", "diff_ids": ["sha256:$(digest "$FOLDER/layer.tar")"] } }
CONFIG
cat >"$FOLDER/manifest.json" <<MANIFEST
[{ "Config": "config.json", "RepoTags": ["$NAME"], "Layers": ["layer.tar"] }]
MANIFEST
tar -C "$FOLDER" -cf "$OUTPUT" manifest.json config.json layer.tar
