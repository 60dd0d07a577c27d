package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors/configuration"
	"github.com/airi-host/airi-host/protocol"
)

// Peers choose their names: the host keeps the configurations of so many, and so much of them.
func TestGuestConfigs_areKeptOfSoMany(t *testing.T) {
	book := &configuration.Book{}
	g := &guestConfigs{
		bounds: wantSettings(t, `{"websocket": {"limits": {"configurations": 3, "configurationBytes": 20}}}`).guestConfigs(),
		book:   book, owns: func(plugin string) bool { return plugin == "own" }, coming: map[string]int{},
	}
	book.Put(configuration.Kept{Plugin: "own", Revision: 1, Value: json.RawMessage(fmt.Sprintf(`{"a":%q}`, make([]byte, 100)))})
	keep := func(plugin, value string) error {
		leave, err := g.enter(plugin, len(value))
		if err != nil {
			return err
		}
		defer leave()
		book.Put(configuration.Kept{Plugin: plugin, Revision: 1, Value: json.RawMessage(value)})
		return nil
	}
	refused := func(why string, err error) {
		t.Helper()
		require.Equal(t, protocol.CodeOverloaded, protocol.CodeOf(err))
		require.EqualError(t, err, why+": 'airi-host forget' those that do not come any more, or raise websocket.limits")
	}
	require.NoError(t, keep("a", `{"a":1}`))
	require.NoError(t, keep("b", `{}`))
	leave, err := g.enter("c", 2)
	require.NoError(t, err)
	refused("plugin d: configurations of 3 peers' plugins are kept, the limit", keep("d", `{}`))
	leave()
	refused("plugin d: the configurations of peers' plugins would have more than 20 bytes, the limit", keep("d", `{"a":12345678}`))
	require.NoError(t, keep("d", `{}`))
	refused("plugin c: configurations of 3 peers' plugins are kept, the limit", keep("c", `{}`))
	require.NoError(t, keep("a", `{"a":123456789}`), "one that is kept may change")
	refused("plugin b: the configurations of peers' plugins would have more than 20 bytes, the limit", keep("b", `{"b":1}`))
	book.Forget("a", "")
	require.NoError(t, keep("c", `{}`), "what is forgotten makes room")
	require.Empty(t, g.coming)
}

func TestGuestConfigs_haveUsualBounds(t *testing.T) {
	require.Equal(t, guestConfigBounds{Plugins: 1000, Bytes: 16 << 20}, wantSettings(t, `{}`).guestConfigs())
}
