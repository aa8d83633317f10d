# shellcheck shell=bash
# The control planes' own code, built so that it runs once and prints. Sourced after lib.sh and tools.sh.
#
# Both are built from a copy of their module's source, with one file of ours laid in: what we call is internal to them.

# GO_MIN is for tools that are installed as they are; these name the Go that they want, which Go fetches itself.
TRANSLATOR_GO_MIN=1.21

can_translate() {
  have go && at_least "$(go env GOVERSION | tr -d go)" "$TRANSLATOR_GO_MIN"
}

in_go() {
  env GOTOOLCHAIN=auto GOFLAGS=-mod=mod CGO_ENABLED=0 "$@"
}

# source_of MODULE VERSION NAME: a copy that may be changed, in .tools/src.
source_of() {
  local module=$1 version=$2 copy=$TOOLS/src/$3 folder
  (cd / && in_go go mod download "$module@$version") || return 1
  folder=$(in_go go env GOMODCACHE)/$module@$version
  rm -rf "$copy"
  mkdir -p "$copy"
  cp -R "$folder/." "$copy/"
  chmod -R u+w "$copy"
}

# is_built NAME INPUT...: of these very inputs and versions?
is_built() {
  local name=$1
  shift
  [ -x "$TOOLS/bin/$name" ] && [ "$(recipe "$@")" = "$(cat "$TOOLS/src/$name.recipe" 2>/dev/null)" ]
}

recipe() {
  cat scripts/gateways/translators.sh scripts/versions.sh "$@" | cksum
}

# egctl, with what `egctl x translate` leaves out, and with `egctl x service`: see envoy-gateway.go.
build_egctl() {
  local source=$TOOLS/src/egctl ours=scripts/gateways/envoy-gateway.go
  is_built egctl "$ours" && return
  source_of github.com/envoyproxy/gateway "v$ENVOY_GATEWAY_VERSION" egctl || return 1
  cp "$ours" "$source/internal/cmd/egctl/offline.go"
  sed -i -e 's/&gatewayapi\.Translator{/&\nWasmCache: offlineWasm(),/' \
    -e 's/EndpointRoutingDisabled: true/EndpointRoutingDisabled: false/' \
    -e 's/^\t\tvar result TranslationResult$/if err := addWhatIsLeftOut(resources, inBytes); err != nil {\nreturn err\n}\n&/' \
    "$source/internal/cmd/egctl/translate.go"
  sed -i 's/newTranslateCommand())/&\nexperimentalCommand.AddCommand(newServiceCommand())/' \
    "$source/internal/cmd/egctl/experimental.go"
  (cd "$source" && in_go go build -ldflags "-s -w" -o "$TOOLS/bin/egctl" ./cmd/egctl) || return 1
  recipe "$ours" >"$TOOLS/src/egctl.recipe"
}

# Istio pins commits of its interfaces that a module proxy need not have; the releases next to them serve as well.
build_istio() {
  local source=$TOOLS/src/istio ours=scripts/gateways/istio.go api=github.com/envoyproxy/go-control-plane
  is_built istio-translate "$ours" && return
  source_of istio.io/istio "$ISTIO_COMMIT" istio || return 1
  mkdir -p "$source/tools/translate"
  cp "$ours" "$source/tools/translate/main.go"
  (
    cd "$source" || exit 1
    go mod edit -require="$api/envoy@v1.37.1-0.$ENVOY_API_COMMIT" -require="$api/contrib@v1.36.1-0.$ENVOY_API_COMMIT" \
      -require="istio.io/api@v$ISTIO_API_VERSION" -require="istio.io/client-go@v$ISTIO_API_VERSION"
    in_go go build -ldflags "-s -w" -o "$TOOLS/bin/istio-translate" ./tools/translate
  ) || return 1
  recipe "$ours" >"$TOOLS/src/istio-translate.recipe"
}
