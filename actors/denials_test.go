package actors

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/paperclip"
)

func TestDenials_areToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var plugins protocol.Plugins
		told := make(chan Denial, 10)
		fails := map[string]*protocol.Error{
			"folders.denied":  {Code: protocol.CodeDenied, Message: "not this one"},
			"folders.unknown": {Code: protocol.CodeNotFound, Denied: true, Message: "not declared"},
			"folders.broken":  {Code: protocol.CodeInternal, Message: "broken"},
		}
		methods := map[string]protocol.Service{"airi-host.invoke": protocol.ServiceFunc(func(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
			return plugins.Invoke(ctx, protocol.Call{Key: "tool:own", Caller: c.Caller, Scope: c.Scope})
		})}
		for method, err := range fails {
			methods[method] = protocol.ServiceFunc(func(context.Context, protocol.Call) (json.RawMessage, error) { return nil, err })
		}
		opts := Options{Denied: func(d Denial) { told <- d }, Methods: func(p protocol.Plugins) map[string]map[string]protocol.Service {
			plugins = p
			return map[string]map[string]protocol.Service{manifest.DialectPaperclip: methods}
		}}
		n := grown(t, opts, paperclip.Plugin{Company: "acme", Handles: func(string) bool { return true }}, `[]`)
		ask := func(method string) {
			t.Helper()
			n.says(`{"jsonrpc":"2.0","id":"a","method":"` + method + `","params":{}}`)
			settle()
		}
		want := func(d Denial) {
			t.Helper()
			d.Origin, d.At = Origin{Session: "plugin-session-0", Plugin: "far"}, time.Now()
			require.Len(t, told, 1)
			require.Equal(t, d, <-told)
		}
		ask("state.get")
		want(Denial{
			What: "state.get", Grant: "plugin.state.read",
			Reason: `Plugin "far" is missing required capability "plugin.state.read" for method "state.get"`,
		})
		ask("folders.denied")
		want(Denial{What: "folders.denied", Reason: "not this one"})
		ask("folders.unknown")
		want(Denial{What: "folders.unknown", Reason: "not declared"})
		ask("airi-host.invoke")
		want(Denial{
			What: "tool:own", Grant: "invoke:tool:own",
			Reason: "plugin far may not call tool:own: its manifest's airi-host.invoke does not list it",
		})
		ask("folders.broken")
		require.Empty(t, told)
	})
}

func TestMayInvoke_takesTheGrantBesideTheManifest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		granted := false
		var told []Denial
		h := startHostWith(t, Options{
			MayInvoke: func(plugin string, key capability.Key) bool {
				require.Equal(t, "asks", plugin)
				require.Equal(t, capability.Key("tool:own"), key)
				return granted
			},
			Denied: func(d Denial) { told = append(told, d) },
		}, plugin.Define("asks"))
		require.NoError(t, h.SetService(t.Context(), protocol.ServiceOffer{Key: "tool:own", Service: protocol.ServiceFunc(echoCall)}))
		startReady(t, h, manifestFor("asks", func(m *manifest.Manifest) { m.Host.Invoke = []string{"tool:*"} }))
		call := protocol.Call{Key: "tool:own", Caller: "asks"}
		_, err := plugins{h}.Invoke(t.Context(), call)
		wantCode(t, err, protocol.CodeDenied, "plugin asks may not call tool:own: its manifest's airi-host.invoke lists it, and that was not granted")
		require.Len(t, told, 1)
		granted = true
		_, err = plugins{h}.Invoke(t.Context(), call)
		require.NoError(t, err)
		require.Len(t, told, 1)
	})
}
