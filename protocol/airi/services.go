package airi

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

var _ protocol.Serving = Dialect{}

// Services are what AIRI modules expect of a host: waiting for a capability,
// listing all of them, and listing the model providers. The last is a capability
// as well, as in the reference host, which says that it comes from "plugin-host".
func (d Dialect) Services(host protocol.Registry) []protocol.ServiceOffer {
	return []protocol.ServiceOffer{
		{Key: ServiceCapabilityWait, Service: capabilityWait(host)},
		{Key: ServiceCapabilitySnapshot, Service: protocol.ServiceFunc(
			func(context.Context, protocol.Call) (json.RawMessage, error) { return host.CapabilitySnapshot() })},
		{
			Key: ServiceListProviders, Service: listProviders(d.Providers),
			Listed: true, Metadata: json.RawMessage(`{"source":"plugin-host"}`),
		},
	}
}

// Provider is one model provider as listProviders shows it.
type Provider struct {
	Name string `json:"name"`
}

// ProvidersService is the provider list as a service that a host can be given in
// place of the first one (the reference's setProvidersListResolver). The key is
// ready with the metadata source "plugin-host-override" from then on.
func ProvidersService(list func(context.Context) ([]Provider, error)) protocol.ServiceOffer {
	return protocol.ServiceOffer{
		Key: ServiceListProviders, Service: listProviders(list),
		Listed: true, Metadata: json.RawMessage(`{"source":"plugin-host-override"}`),
	}
}

func listProviders(list func(context.Context) ([]Provider, error)) protocol.Service {
	return protocol.ServiceFunc(func(ctx context.Context, _ protocol.Call) (json.RawMessage, error) {
		if list == nil {
			return json.RawMessage(`[]`), nil
		}
		providers, err := list(ctx)
		if err != nil {
			return nil, err
		}
		if providers == nil {
			providers = []Provider{}
		}
		return json.Marshal(providers)
	})
}

// capabilityWait takes {key, timeoutMs?}. A timeout that is absent, 0, negative or
// not a number is the host's default.
func capabilityWait(host protocol.Registry) protocol.Service {
	return protocol.ServiceFunc(func(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
		var in struct {
			Key       *string         `json:"key"`
			TimeoutMs json.RawMessage `json:"timeoutMs"`
		}
		if err := json.Unmarshal(c.Input, &in); err != nil || in.Key == nil {
			return nil, &protocol.Error{
				Code: protocol.CodeInvalid, Plugin: c.Caller,
				Message: fmt.Sprintf("the input of %s: expected an object with a string member key", ServiceCapabilityWait),
			}
		}
		var ms float64
		if json.Unmarshal(in.TimeoutMs, &ms) != nil {
			ms = 0
		}
		return host.WaitCapability(ctx, *in.Key, clampTimeout(ms))
	})
}

// maxWaitMs bounds a module's own timeout: one hour.
const maxWaitMs = 3_600_000

func clampTimeout(ms float64) time.Duration {
	return time.Duration(min(max(ms, 0), maxWaitMs) * float64(time.Millisecond))
}
