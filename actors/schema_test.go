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
			require.ErrorContains(t, err, "the input of tool:count of plugin a: ")
		}
		require.Zero(t, calls)
		_, err := h.Invoke(t.Context(), protocol.Call{Key: "tool:count", Input: json.RawMessage(`{"n":9007199254740993,"more":1}`)})
		require.NoError(t, err)
		require.Equal(t, 1, calls)
	})
}

func TestSchema_thatCannotBeReadIsToldAndPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		h := startHost(t, checked(`{"type":"objekt"}`, &calls))
		events := listen(t, h, KindDropped, nil)
		startReady(t, h, manifestFor("a"))
		require.Len(t, events.all(), 1)
		require.Contains(t, events.all()[0], "a drops schema 1 the parameters of tool:count are not checked: schema: ")
		wantCall(t, h, "tool:count", `{}`)

		lookahead := checked(`{"type":"object","properties":{"s":{"pattern":"^(?!x)"}}}`, &calls)
		h = startHost(t, lookahead)
		events = listen(t, h, KindDropped, nil)
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

func TestSchema_nothingGivenIsNoConfigurationToRefuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		startReady(t, h, manifestFor("a", takesCount))
	})
}
