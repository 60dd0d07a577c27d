package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
)

// noPlugins are a host's plugins to services that ask nothing of them.
type noPlugins struct{ protocol.Plugins }

func TestOpenStore_stateOutlivesTheHost(t *testing.T) {
	dir := t.TempDir()
	ask := func(method, params string) (answer string) {
		db, err := openStore(dir)
		require.NoError(t, err)
		o := services.Options{Store: stateIn(db)}
		service := services.Paperclip(noPlugins{}, o)[method]
		result, err := service.Serve(t.Context(), protocol.Call{Key: method, Caller: "demo", Input: json.RawMessage(params)})
		require.NoError(t, err)
		require.NoError(t, db.Close())
		return string(result)
	}
	const key = `"scopeKind":"instance","stateKey":"k"`
	require.Equal(t, `null`, ask("state.set", `{`+key+`,"value":{ "a" : 1 }}`))
	require.Equal(t, `{ "a" : 1 }`, ask("state.get", `{`+key+`}`))
	require.Equal(t, `null`, ask("state.delete", `{`+key+`}`))
	require.Equal(t, `null`, ask("state.get", `{`+key+`}`))
}

func TestStateIn_withoutAStoreIsInMemory(t *testing.T) {
	require.Nil(t, stateIn(nil), "which services.Paperclip takes for memory")
}

func TestOpenStore_saysWhoHoldsTheDirectory(t *testing.T) {
	dir := t.TempDir()
	db, err := openStore(dir)
	require.NoError(t, err)
	_, err = openStore(dir)
	require.ErrorContains(t, err, "held by the host with process id")
	require.NoError(t, db.Close())
}
