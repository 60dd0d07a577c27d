package airi

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// registry remembers what a service asked of it.
type registry struct {
	key     string
	timeout time.Duration
	fail    error
}

func (r *registry) WaitCapability(_ context.Context, key string, timeout time.Duration) (json.RawMessage, error) {
	r.key, r.timeout = key, timeout
	return json.RawMessage(`{"key":"k"}`), r.fail
}

func (r *registry) CapabilitySnapshot() (json.RawMessage, error) {
	return json.RawMessage(`[1]`), r.fail
}

func serveWith(t *testing.T, d Dialect, r *registry, key, input string) (string, error) {
	t.Helper()
	for _, offer := range d.Services(r) {
		if offer.Key == key {
			result, err := offer.Service.Serve(t.Context(), protocol.Call{Key: key, Input: json.RawMessage(input), Caller: "hello"})
			return string(result), err
		}
	}
	t.Fatalf("no service %s", key)
	return "", nil
}

func TestServices_waitReadsItsTimeout(t *testing.T) {
	tests := []struct {
		input   string
		timeout time.Duration
	}{
		{`{"key":"k","timeoutMs":1500}`, 1500 * time.Millisecond},
		{`{"key":"k","timeoutMs":0.5}`, 500 * time.Microsecond},
		{`{"key":"k"}`, 0},
		{`{"key":"k","timeoutMs":0}`, 0},
		{`{"key":"k","timeoutMs":-5}`, 0},
		{`{"key":"k","timeoutMs":"soon"}`, 0},
		{`{"key":"k","timeoutMs":1e300}`, time.Hour},
	}
	for _, test := range tests {
		t.Run(test.input, func(t *testing.T) {
			r := &registry{}
			result, err := serveWith(t, Dialect{}, r, ServiceCapabilityWait, test.input)
			require.NoError(t, err)
			require.JSONEq(t, `{"key":"k"}`, result)
			require.Equal(t, registry{key: "k", timeout: test.timeout}, *r)
		})
	}
}

func TestServices_waitWithoutAKeyIsInvalid(t *testing.T) {
	for _, input := range []string{``, `null`, `{}`, `{"key":7}`, `[]`} {
		_, err := serveWith(t, Dialect{}, &registry{}, ServiceCapabilityWait, input)
		require.Equal(t, protocol.CodeInvalid, protocol.CodeOf(err), input)
		require.ErrorContains(t, err, "expected an object with a string member key")
	}
}

func TestServices_snapshotAndFailures(t *testing.T) {
	result, err := serveWith(t, Dialect{}, &registry{}, ServiceCapabilitySnapshot, ``)
	require.NoError(t, err)
	require.Equal(t, `[1]`, result)
	_, err = serveWith(t, Dialect{}, &registry{fail: errors.New("down")}, ServiceCapabilitySnapshot, ``)
	require.EqualError(t, err, "down")
}

func TestServices_providersAreAListOfNames(t *testing.T) {
	list := func(providers []Provider, err error) func(context.Context) ([]Provider, error) {
		return func(context.Context) ([]Provider, error) { return providers, err }
	}
	tests := []struct {
		name    string
		resolve func(context.Context) ([]Provider, error)
		result  string
		err     string
	}{
		{"none is set", nil, `[]`, ""},
		{"none is known", list(nil, nil), `[]`, ""},
		{"two", list([]Provider{{"provider1"}, {"provider2"}}, nil), `[{"name":"provider1"},{"name":"provider2"}]`, ""},
		{"it fails", list(nil, errors.New("resolver exploded")), ``, "resolver exploded"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			result, err := serveWith(t, Dialect{Providers: test.resolve}, &registry{}, ServiceListProviders, ``)
			require.Equal(t, test.result, result)
			if test.err != "" {
				require.EqualError(t, err, test.err)
				return
			}
			require.NoError(t, err)
			override := ProvidersService(test.resolve)
			require.JSONEq(t, `{"source":"plugin-host-override"}`, string(override.Metadata))
			require.True(t, override.Listed)
		})
	}
}
