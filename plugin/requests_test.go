package plugin_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
)

func TestFields_readsOneValueAndMany(t *testing.T) {
	var f plugin.Fields
	require.NoError(t, json.Unmarshal([]byte(`{"A":"1","b":["2","3"],"c":[],"d":null}`), &f))
	require.Equal(t, plugin.Fields{"A": {"1"}, "b": {"2", "3"}, "c": {}, "d": nil}, f)
	for name, want := range map[string]string{"a": "1", "A": "1", "b": "2", "c": "", "d": "", "e": ""} {
		require.Equal(t, want, f.Get(name), name)
	}
	require.ErrorContains(t, json.Unmarshal([]byte(`{"a":7}`), &f), "expected a string or an array of strings")
	require.Error(t, json.Unmarshal([]byte(`[]`), &f))
}

func TestRequests_ofAHostThatKnowsLess(t *testing.T) {
	p := everything()
	_, err := call(t, p, "job:sync", `{"trigger":"retry"}`)
	require.EqualError(t, err, "a run has a trigger, an id and a time")
	result, err := call(t, p, "http:POST /items/:id", `{"params":{"id":"7"},"query":{},"headers":{},"body":null}`)
	require.NoError(t, err)
	require.JSONEq(t, `{"status":201,"headers":{"x-id":"7"},"body":"null"}`, result)
}

func TestPublic_isSaidInTheMetadata(t *testing.T) {
	p := plugin.Define("p")
	plugin.HTTP(p, "GET /a", func(context.Context, plugin.HTTPRequest) (plugin.HTTPResponse, error) {
		return plugin.Bytes("image/png", []byte{0xff}), nil
	}, plugin.Public(), plugin.Describe("A."))
	offers := p.Offers()
	require.Len(t, offers, 1)
	require.JSONEq(t, `{"public":true}`, string(offers[0].Metadata))
	result, err := call(t, p, "http:GET /a", `{}`)
	require.NoError(t, err)
	require.JSONEq(t, `{"headers":{"content-type":"image/png","content-transfer-encoding":"base64"},"body":"/w=="}`, result)
}
