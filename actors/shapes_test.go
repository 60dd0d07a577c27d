package actors

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

func TestShapes_ofInputsAreHeldBeforeThePluginSeesTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := 0
		p := plugin.Define("a")
		for _, key := range []string{"http:GET /hello", "action:GREET", "provider:TIME", "evaluator:FACTS", "job:sync", "webhook:git", "data:d"} {
			plugin.Handle(p, key, func(context.Context, json.RawMessage) (json.RawMessage, error) { seen++; return nil, nil })
		}
		h := startHost(t, p)
		startReady(t, h, manifestFor("a"))
		for _, c := range [][3]string{
			{"http:GET /hello", `{"query":"q"}`, "input.query: expected an object, got a string"},
			{"action:GREET", `{"params":7}`, "input.params: expected an object, got a number"},
			{"provider:TIME", `{"message":"hi"}`, "input.message: expected an object, got a string"},
			{"evaluator:FACTS", `[]`, "input: expected an object, got an array"},
			{"job:sync", `{"trigger":"now"}`, `input.trigger: expected one of "schedule", "manual", "retry", got another string`},
			{"webhook:git", `{"rawBody":{}}`, "input.rawBody: expected a string, got an object"},
			{"data:d", `7`, "input: expected an object, got a number"},
		} {
			_, err := h.Invoke(t.Context(), protocol.Call{Key: c[0], Input: json.RawMessage(c[1])})
			wantCode(t, err, protocol.CodeInvalid, c[0]+": "+c[2])
		}
		require.Zero(t, seen)
		_, err := h.Invoke(t.Context(), protocol.Call{Key: "job:sync", Input: json.RawMessage(`null`)})
		require.NoError(t, err)
		require.Equal(t, 1, seen)
	})
}

func TestShapes_ofResultsAreHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plugin.Define("a")
		for key, result := range map[string]string{
			"tool:x": `{"content":7}`, "tool:y": `[1]`, "provider:TIME": `{"text":7}`, "http:GET /x": `{"status":"200"}`,
			"http:GET /y": `{"body":1}`, "job:sync": `7`, "action:X": `7`,
		} {
			plugin.Handle(p, key, func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(result), nil })
		}
		echo := func(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil }
		plugin.Handle(p, "service:a.echo", echo)
		h := startHost(t, p)
		startReady(t, h, manifestFor("a"))
		for key, text := range map[string]string{
			"tool:x":        "result.content: expected a string, got a number",
			"tool:y":        "result: expected an object, got an array",
			"provider:TIME": "result.text: expected a string, got a number",
			"http:GET /x":   "result.status: expected a whole number, got a string",
		} {
			_, err := callKey(t, h, key)
			wantCode(t, err, protocol.CodeWire, key+" of plugin a: "+text)
		}
		wantCall(t, h, "job:sync", "null")
		wantCall(t, h, "action:X", "7")
		wantCall(t, h, "service:a.echo", "[]")
		got, err := callKey(t, h, "http:GET /y")
		require.NoError(t, err)
		require.JSONEq(t, `{"status":200,"headers":{},"body":1}`, got)
	})
}
