package egctl

// Laid into Envoy Gateway's own source beside `egctl x translate`, which leaves out two things that its controller has:
// the cache of Wasm modules, without which any Wasm extension is refused, and the addresses behind a Service.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/envoyproxy/gateway/internal/gatewayapi/resource"
	"github.com/envoyproxy/gateway/internal/wasm"
)

// moduleFile is a cache that has one module, whatever a policy names.
type moduleFile string

func offlineWasm() wasm.Cache {
	return moduleFile(os.Getenv("WASM_MODULE"))
}

func (f moduleFile) Start(context.Context) {}

func (f moduleFile) Get(string, *wasm.GetOptions) (url, checksum string, err error) {
	content, err := os.ReadFile(string(f))
	if err != nil {
		return "", "", fmt.Errorf("WASM_MODULE: %w", err)
	}
	sum := sha256.Sum256(content)
	return "https://envoy-gateway:18002/module.wasm", hex.EncodeToString(sum[:]), nil
}

// addEndpointSlices takes them from the same input as all other resources.
func addEndpointSlices(resources *resource.Resources, input []byte) error {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(input), 4096)
	for {
		slice := &discoveryv1.EndpointSlice{}
		err := decoder.Decode(slice)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && slice.Kind == "EndpointSlice" {
			resources.EndpointSlices = append(resources.EndpointSlices, slice)
		}
		if err != nil && slice.Kind == "EndpointSlice" {
			return err
		}
	}
}
