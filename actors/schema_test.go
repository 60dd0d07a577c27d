package actors

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// checked is a plugin with a tool that takes {"n": integer}, and counts its calls.
func checked(schema string, calls *int) *plugin.Definition {
	p := plugin.Define("a")
	plugin.Handle(p, "tool:count", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		*calls++
		return json.RawMessage(`{}`), nil
	}, plugin.InputSchema(json.RawMessage(schema)))
	return p
}

const countSchema = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`

func TestSchema_ofAToolIsCheckedBeforeThePluginSeesTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		h := startHost(t, checked(countSchema, &calls))
		startReady(t, h, manifestFor("a"))
		for _, input := range []string{`{"n":"1"}`, `{}`, `[]`, ``} {
			c := protocol.Call{Key: "tool:count"}
			if input != "" {
				c.Input = json.RawMessage(input)
			}
			_, err := h.Invoke(t.Context(), c)
			require.Equal(t, protocol.CodeInvalid, protocol.CodeOf(err), "%s: %v", input, err)
			require.ErrorContains(t, err, "tool:count")
			require.ErrorContains(t, err, "input")
		}
		require.Zero(t, calls)
		_, err := h.Invoke(t.Context(), protocol.Call{Key: "tool:count", Input: json.RawMessage(`{"n":9007199254740993,"more":1}`)})
		require.NoError(t, err)
		require.Equal(t, 1, calls)
	})
}

func TestSchema_thatIsWrongIsRefusedWithItsOffer(t *testing.T) {
	const misspelt = `schema: /type: expected one of "array", "boolean", "integer", "null", "number", "object", "string", found "objekt"`
	for _, c := range []struct{ key, schema, want string }{
		{"tool:count", `{"type":"objekt"}`, misspelt},
		{"model:COUNT", `{"type":"objekt"}`, misspelt},
		{"event:count", `{"type":"objekt"}`, misspelt},
		{"tool:count", `{"type":"string"}`, "schema: /type: expected one that admits an object, found one for a string"},
		{"service:a.count", `{"type":"object"}`, "schema: /type: expected one that admits an array, found one for an object"},
		{"action:COUNT", `{"properties":{"params":{"type":"array"}}}`, "schema: /properties/params/type: expected one that admits an object, found one for an array"},
		{"job:count", `{"properties":{"trigger":{"type":"integer"}}}`, "schema: /properties/trigger/type: expected one that admits a string, found one for a whole number"},
		{"http:GET /count", `{"properties":{"query":false}}`, "schema: /properties/query: expected one that admits an object, found one for nothing"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var s *plugin.Session
			late := keepSession("b", &s)
			first := plugin.Define("a")
			plugin.Handle(first, c.key, answers(`1`), plugin.InputSchema(json.RawMessage(c.schema)))
			h := startHost(t, first, late)
			events := listen(t, h, KindDropped, nil)
			startReady(t, h, manifestFor("a"))
			require.Equal(t, []string{"a drops offer 1 plugin a: " + c.key + ": inputSchema: " + c.want}, events.all())
			wantOffers(t, h)

			setup := plugin.Define("c").OnSetup(func(_ context.Context, s *plugin.Session) error {
				plugin.Handle(s, c.key, answers(`1`), plugin.InputSchema(json.RawMessage(c.schema)))
				return nil
			})
			h = startHost(t, setup)
			_, err := h.Start(t.Context(), manifestFor("c"), StartOptions{})
			require.EqualError(t, err, "offering "+c.key+": plugin c: "+c.key+": inputSchema: "+c.want)
		})
	}
}

func TestSchema_ofAnyKindIsChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plugin.Define("a")
		plugin.Handle(p, "service:a.add", answers(`1`), plugin.InputSchema(json.RawMessage(`{"type":"array","minItems":2}`)))
		plugin.Handle(p, "action:ADD", answers(`1`), plugin.InputSchema(json.RawMessage(`{"required":["params"]}`)))
		h := startHost(t, p)
		startReady(t, h, manifestFor("a"))
		_, err := h.Invoke(t.Context(), protocol.Call{Key: "service:a.add", Input: json.RawMessage(`7`)})
		require.Equal(t, protocol.CodeInvalid, protocol.CodeOf(err))
		require.ErrorContains(t, err, "the input of service:a.add of plugin a: ")
		_, err = callKey(t, h, "action:ADD")
		require.ErrorContains(t, err, "the input of action:ADD of plugin a: /params: is missing")
		_, err = h.Invoke(t.Context(), protocol.Call{Key: "service:a.add", Input: json.RawMessage(`[7,8]`)})
		require.NoError(t, err)
	})
}

func TestSchema_withPatternsThatGoCannotSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		lookahead := checked(`{"type":"object","properties":{"s":{"pattern":"^(?!x)"}}}`, &calls)
		h := startHost(t, lookahead)
		events := listen(t, h, KindDropped, nil)
		startReady(t, h, manifestFor("a"))
		require.Equal(t, []string{"a drops pattern 1 tool:count: 1 regular expressions of the schema are not checked, " +
			"the first at /properties/s/pattern: Go's have no such form"}, events.all())
		wantCall(t, h, "tool:count", `{}`)
	})
}

func takesCount(m *manifest.Manifest) { m.Host.Configuration.Schema = json.RawMessage(countSchema) }

func TestSchema_ofTheConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		bad := protocol.Config{ID: "c", Revision: 1, Full: json.RawMessage(`{"n":"1"}`)}
		info, err := h.Start(t.Context(), manifestFor("a", takesCount), StartOptions{Config: &bad})
		require.NoError(t, err)
		require.Equal(t, lifecycle.ConfigurationNeeded, info.Phase)
		require.Contains(t, info.Reason, "the configuration of plugin a: ")

		_, err = h.ApplyConfiguration(t.Context(), info.ID, bad)
		require.Equal(t, protocol.CodeConfiguration, protocol.CodeOf(err), "%v", err)
		wantPhase(t, h, "a", lifecycle.ConfigurationNeeded)

		good := protocol.Config{ID: "c", Revision: 2, Full: json.RawMessage(`{"n":1}`)}
		info, err = h.ApplyConfiguration(t.Context(), info.ID, good)
		require.NoError(t, err)
		require.Equal(t, lifecycle.Ready, info.Phase)
	})
}

// What the schema requires and nobody gave is waited for, and named.
func TestSchema_nothingGivenIsAConfigurationWithoutMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		info := start(t, h, manifestFor("a", takesCount))
		require.Equal(t, lifecycle.ConfigurationNeeded, info.Phase)
		require.Contains(t, info.Reason, "the configuration of plugin a: /n: is missing")
	})
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		startReady(t, h, manifestFor("a", func(m *manifest.Manifest) {
			m.Host.Configuration.Schema = json.RawMessage(`{"properties":{"n":{"type":"integer"}}}`)
		}))
	})
}
