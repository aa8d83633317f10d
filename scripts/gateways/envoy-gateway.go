package egctl

// Laid into Envoy Gateway's own source beside `egctl x translate`, which leaves out three things that its controller has:
// the cache of Wasm modules, without which any Wasm extension is refused, ListenerSets, and the addresses behind a Service.
// `egctl x service` is new: the ports of the Service that the controller would make for the Gateway, one a line.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	gwapiv1 "sigs.k8s.io/gateway-api/apis/v1"

	egv1a1 "github.com/envoyproxy/gateway/api/v1alpha1"
	"github.com/envoyproxy/gateway/internal/gatewayapi/resource"
	"github.com/envoyproxy/gateway/internal/infrastructure/kubernetes/proxy"
	"github.com/envoyproxy/gateway/internal/ir"
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

// addWhatIsLeftOut takes it from the same input as all other resources.
func addWhatIsLeftOut(resources *resource.Resources, input []byte) error {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(input), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := addOne(resources, object); err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
}

func addOne(resources *resource.Resources, object *unstructured.Unstructured) error {
	switch object.GetKind() {
	case "EndpointSlice":
		slice := &discoveryv1.EndpointSlice{}
		resources.EndpointSlices = append(resources.EndpointSlices, slice)
		return runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, slice)
	case resource.KindListenerSet:
		// As the API server would, by the schema.
		defaulted, err := resource.GetGatewaySchemaDefaulter().ApplyDefault(object)
		if err != nil {
			return err
		}
		set := &gwapiv1.ListenerSet{}
		resources.ListenerSets = append(resources.ListenerSets, set)
		return runtime.DefaultUnstructuredConverter.FromUnstructured(defaulted.Object, set)
	}
	return nil
}

func newServiceCommand() *cobra.Command {
	file := ""
	command := &cobra.Command{
		Use:   "service",
		Short: "The ports of the Service of a Gateway",
		RunE: func(command *cobra.Command, _ []string) error {
			return showService(command.OutOrStdout(), file)
		},
	}
	command.Flags().StringVarP(&file, "file", "f", "", "Location of input file.")
	return command
}

func showService(w io.Writer, file string) error {
	input, err := getInputBytes(file)
	if err != nil {
		return err
	}
	resources, err := resource.LoadResourcesFromYAMLBytes(input, false, nil)
	if err != nil {
		return err
	}
	if err := addWhatIsLeftOut(resources, input); err != nil {
		return err
	}
	translated, err := translateGatewayAPIToIR(resources)
	if err != nil {
		return err
	}
	for _, infra := range translated.InfraIR {
		render, err := proxy.NewResourceRender(context.Background(), defaultProvider{}, infra)
		if err != nil {
			return err
		}
		service, err := render.Service()
		if err != nil {
			return err
		}
		for _, port := range service.Spec.Ports {
			fmt.Fprintf(w, "%s %d\n", port.Name, port.Port)
		}
	}
	return nil
}

// defaultProvider is an Envoy Gateway as it is installed.
type defaultProvider struct{}

func (defaultProvider) GetControllerNamespace() string        { return "envoy-gateway-system" }
func (defaultProvider) GetDNSDomain() string                  { return "cluster.local" }
func (defaultProvider) GetEnvoyGateway() *egv1a1.EnvoyGateway { return egv1a1.DefaultEnvoyGateway() }
func (defaultProvider) GetResourceNamespace(*ir.Infra) string { return "envoy-gateway-system" }
func (defaultProvider) GetOwnerReferenceUID(context.Context, *ir.Infra) (map[string]types.UID, error) {
	return nil, nil
}
