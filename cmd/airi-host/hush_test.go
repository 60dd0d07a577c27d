package main

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

func TestHush_hidesSecretsThatWereGivenOut(t *testing.T) {
	h := newHush(&settings{})
	given := map[string]string{"a": `"a<b>\"c\"\n"`, "b": `""`}
	service := h.listen(protocol.ServiceFunc(func(_ context.Context, c protocol.Call) (json.RawMessage, error) {
		if given[c.Key] == "" {
			return nil, errors.New("no")
		}
		return json.RawMessage(given[c.Key]), nil
	}))
	const frames = `{"result":"a<b>\"c\"\n"} {"x":"= a\u003cb\u003e\"c\"\n"} {"y":1}`
	require.Equal(t, frames, h.over(frames), "it was not given out yet")
	for _, key := range []string{"a", "b"} {
		result, err := service.Serve(t.Context(), protocol.Call{Key: key})
		require.NoError(t, err)
		require.Equal(t, given[key], string(result))
	}
	_, err := service.Serve(t.Context(), protocol.Call{})
	require.EqualError(t, err, "no")
	require.Equal(t, `{"result":"[masked]"} {"x":"= [masked]"} {"y":1}`, h.over(frames))
}

func TestHush_hidesConfigurations(t *testing.T) {
	s := &settings{manifest.Settings{Plugins: map[string]manifest.PluginSettings{
		"a": {Config: json.RawMessage(`{ "url": "hidden" }`), Companies: map[string]json.RawMessage{"acme": json.RawMessage(`{"n":1}`)}},
		"b": {Config: json.RawMessage(`{}`)}, "c": {},
	}}}
	require.Equal(t, `{"params":{"config":[masked]}} {"result":[masked]} {"params":{}}`,
		newHush(s).over(`{"params":{"config":{"url":"hidden"}}} {"result":{"n":1}} {"params":{}}`))
	require.Equal(t, "as it is", (*hush)(nil).over("as it is"))
}
