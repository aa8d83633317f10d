// Laid into Istio's own source, whose control plane it runs once and in this process.
//
//	istio-translate gateway|sidecar NAMESPACE KUBERNETES.yaml ISTIO.yaml   the proxy's Envoy configuration, as JSON
//	istio-translate validate ISTIO.yaml                                    what Istio has to say against it
//	istio-translate image LAYOUT MODULE                                    whether Istio's agent gets MODULE out of it
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"strings"

	listener "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	hcm "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"google.golang.org/protobuf/proto"

	"istio.io/istio/pilot/pkg/config/kube/crd"
	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pilot/pkg/networking/core"
	fake "istio.io/istio/pilot/test/xds"
	"istio.io/istio/pkg/cluster"
	istiolog "istio.io/istio/pkg/log"
	"istio.io/istio/pkg/test"
	"istio.io/istio/pkg/util/protomarshal"
	"istio.io/istio/pkg/wasm"
)

func main() {
	// Standard output is for what was asked.
	options := istiolog.DefaultOptions()
	options.OutputPaths = []string{"stderr"}
	if err := istiolog.Configure(options); err != nil {
		fmt.Fprintln(os.Stderr, "istio-translate:", err)
		os.Exit(1)
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "istio-translate:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	switch {
	case len(arguments) == 2 && arguments[0] == "validate":
		return validateConfigs(arguments[1])
	case len(arguments) == 3 && arguments[0] == "image":
		return fetchImage(arguments[1], arguments[2])
	case len(arguments) == 4 && (arguments[0] == "gateway" || arguments[0] == "sidecar"):
		return translate(arguments[0], arguments[1], arguments[2], arguments[3])
	}
	return errors.New("usage: gateway|sidecar NAMESPACE KUBERNETES.yaml ISTIO.yaml, validate ISTIO.yaml, or image LAYOUT MODULE")
}

// validateConfigs refuses what Istio's admission webhook refuses, and kinds that it does not know.
func validateConfigs(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	configs, others, err := crd.ParseInputs(string(text))
	if err != nil {
		return err
	}
	for _, other := range others {
		return fmt.Errorf("%s is no kind of Istio's", other.Kind)
	}
	fmt.Printf("%d resources\n", len(configs))
	return nil
}

// fetchImage serves the layout from a registry on loopback, and fetches it as Istio's agent does.
func fetchImage(folder, module string) error {
	want, err := os.ReadFile(module)
	if err != nil {
		return err
	}
	path, err := layout.FromPath(folder)
	if err != nil {
		return err
	}
	top, err := path.ImageIndex()
	if err != nil {
		return err
	}
	// The independent reader's own check of every digest, size and media type.
	if err := validate.Index(top); err != nil {
		return err
	}
	manifest, err := top.IndexManifest()
	if err != nil {
		return err
	}
	index, err := top.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		return err
	}
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	image := strings.TrimPrefix(server.URL, "http://") + "/rudolph:test"
	reference, err := name.ParseReference(image)
	if err != nil {
		return err
	}
	if err := remote.WriteIndex(reference, index); err != nil {
		return err
	}
	fetch, digest, err := wasm.NewImageFetcher(context.Background(), wasm.ImageFetcherOption{}).PrepareFetch(image)
	if err != nil {
		return err
	}
	got, err := fetch()
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%d bytes came out of the image, of a module of %d bytes", len(got), len(want))
	}
	fmt.Printf("sha256:%s, %d bytes\n", digest, len(got))
	return nil
}

func translate(kind, namespace, kubernetes, istio string) error {
	objects, err := os.ReadFile(kubernetes)
	if err != nil {
		return err
	}
	configs, err := os.ReadFile(istio)
	if err != nil {
		return err
	}
	var failed error
	err = test.Wrap(func(t test.Failer) {
		server := fake.NewFakeDiscoveryServer(t, fake.FakeOptions{
			KubernetesObjectString: string(objects),
			ConfigString:           string(configs),
		})
		failed = show(server, server.SetupProxy(proxyOf(kind, namespace)))
	})
	return errors.Join(err, failed)
}

func proxyOf(kind, namespace string) *model.Proxy {
	labels := map[string]string{"istio": "ingressgateway", "app": "caller"}
	proxy := &model.Proxy{
		Type:            model.SidecarProxy,
		ConfigNamespace: namespace,
		Labels:          labels,
		IPAddresses:     []string{"10.1.2.3"},
		Metadata: &model.NodeMetadata{
			IstioVersion: "1.31.0",
			Namespace:    namespace,
			Labels:       labels,
			ClusterID:    cluster.ID("Kubernetes"),
		},
	}
	if kind == "gateway" {
		proxy.Type = model.Router
	}
	return proxy
}

func show(server *fake.FakeDiscoveryServer, proxy *model.Proxy) error {
	listeners := server.Listeners(proxy)
	generator := core.NewConfigGenerator(model.DisabledCache{})
	extensions := generator.BuildExtensionConfiguration(proxy, server.PushContext(), discovered(listeners), nil)
	document := map[string][]json.RawMessage{}
	var problem error
	problem = errors.Join(problem, add(document, "listeners", listeners))
	problem = errors.Join(problem, add(document, "clusters", server.Clusters(proxy)))
	problem = errors.Join(problem, add(document, "routes", server.RoutesFromListeners(proxy, listeners)))
	problem = errors.Join(problem, add(document, "endpoints", server.Endpoints(proxy)))
	problem = errors.Join(problem, add(document, "extensions", extensions))
	if problem != nil {
		return problem
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}

func add[T proto.Message](document map[string][]json.RawMessage, name string, messages []T) error {
	for _, message := range messages {
		text, err := protomarshal.Marshal(message)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		document[name] = append(document[name], text)
	}
	return nil
}

// discovered lists the HTTP filters that a proxy would ask for by name.
func discovered(listeners []*listener.Listener) []string {
	names := []string{}
	seen := map[string]bool{}
	for _, l := range listeners {
		chains := append([]*listener.FilterChain{}, l.FilterChains...)
		if l.DefaultFilterChain != nil {
			chains = append(chains, l.DefaultFilterChain)
		}
		for _, chain := range chains {
			for _, filter := range chain.Filters {
				manager := &hcm.HttpConnectionManager{}
				if filter.GetTypedConfig() == nil || filter.GetTypedConfig().UnmarshalTo(manager) != nil {
					continue
				}
				for _, http := range manager.HttpFilters {
					if http.GetConfigDiscovery() != nil && !seen[http.Name] {
						seen[http.Name] = true
						names = append(names, http.Name)
					}
				}
			}
		}
	}
	return names
}
