package airi

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestValidation_asksWithTheReferencesPayload(t *testing.T) {
	self := protocol.Module{Name: "hello", ID: "hello-0", Plugin: "hello"}
	call := Dialect{}.Validation(self, protocol.Config{ID: "c", Revision: 2, SchemaVersion: 1, Full: json.RawMessage(`{"a":1}`)})
	require.Equal(t, "airi-host:bridge:validate", call.Key)
	require.JSONEq(t, `{"identity":{"id":"hello-0","kind":"plugin","plugin":{"id":"hello"}},
		"current":{"configId":"c","revision":2,"schemaVersion":1,"full":{"a":1}}}`, string(call.Input))
}

func TestValidated_readsTheResponse(t *testing.T) {
	for name, c := range map[string]struct {
		result string
		want   protocol.Validation
	}{
		"unheard": {`{"unheard":true}`, protocol.Validation{Note: "it does not listen to module:configuration:validate:request"}},
		"valid":   {`{"validation":{"status":"valid","warnings":["w",{"key":"k"}]}}`, protocol.Validation{Asked: true, Warnings: []string{"w", "k"}}},
		"partial": {`{"validation":{"status":"partial","missing":["token"]}}`, protocol.Validation{Asked: true, Missing: []string{"token"}}},
		"invalid": {
			`{"validation":{"status":"invalid","invalid":[{"path":"/a","reason":{"key":"k","fallback":"no"}}]}}`,
			protocol.Validation{Asked: true, Invalid: []protocol.ConfigProblem{{Path: "/a", Reason: "no"}}},
		},
		"no reason": {`{"validation":{"status":"invalid"}}`, protocol.Validation{Asked: true, Invalid: []protocol.ConfigProblem{{Reason: "it gives no reason"}}}},
		"nothing":   {`{}`, protocol.Validation{Asked: true, Invalid: []protocol.ConfigProblem{{Reason: "it gives no reason"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Dialect{}.Validated(json.RawMessage(c.result), nil)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	_, err := Dialect{}.Validated(json.RawMessage(`{"validation":{"missing":7}}`), nil)
	require.Equal(t, protocol.CodeWire, protocol.CodeOf(err))
	gone := errors.New("it is gone")
	_, err = Dialect{}.Validated(nil, gone)
	require.Equal(t, gone, err)
}

func TestWants_readsStatusChange(t *testing.T) {
	event := func(payload string) protocol.Event {
		return protocol.Event{Name: "module:status:change", Payload: json.RawMessage(payload)}
	}
	w, ok := Dialect{}.Wants(event(`{"identity":{},"phase":"announced","reason":"more"}`))
	require.True(t, ok)
	require.Equal(t, protocol.Wanted{Phase: "announced", Reason: "more"}, w)
	w, ok = Dialect{}.Wants(event(`{"phase":7}`))
	require.True(t, ok, "it asks for something that there is not")
	require.Zero(t, w)
	for _, none := range []protocol.Event{event(`{"phase"`), {Name: "module:status", Payload: json.RawMessage(`{"phase":"announced"}`)}, {Name: "module:status:change", Payload: func() {}}} {
		_, ok = Dialect{}.Wants(none)
		require.False(t, ok)
	}
}
