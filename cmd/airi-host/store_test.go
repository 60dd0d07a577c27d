package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
	"github.com/airi-host/airi-host/services/store"
)

// noPlugins are a host's plugins to services that ask nothing of them.
type noPlugins struct{ protocol.Plugins }

func TestOpenStore_stateOutlivesTheHost(t *testing.T) {
	dir := t.TempDir()
	ask := func(method, params string) (answer string) {
		db, err := openStore(t.Context(), dir, store.Options{})
		require.NoError(t, err)
		o := services.Options{Store: stateIn(db, services.MemoryLimits{})}
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
	require.IsType(t, &services.Memory{}, stateIn(nil, services.MemoryLimits{}))
}

func TestOpenStore_saysWhoHoldsTheDirectory(t *testing.T) {
	dir := t.TempDir()
	db, err := openStore(t.Context(), dir, store.Options{})
	require.NoError(t, err)
	_, err = openStore(t.Context(), dir, store.Options{})
	require.ErrorContains(t, err, "held by the host with process id")
	require.NoError(t, db.Close())
}

// A full disk and a database at its limit are one to those who write.
func TestOpenStore_aFullDiskFailsWhoWritesAndNothingElse(t *testing.T) {
	db, err := store.Open(t.Context(), t.TempDir(), store.Options{MaxBytes: 256 << 10})
	require.NoError(t, err)
	serve := func(method, more string) (json.RawMessage, error) {
		service := (&paperclip{st: &state{db: db}}).services(noPlugins{}, &settings{})[method]
		return service.Serve(t.Context(), protocol.Call{
			Key: method, Caller: "demo", Input: json.RawMessage(`{"scopeKind":"instance","stateKey":"k"` + more + `}`),
		})
	}
	_, err = serve("state.set", `,"value":1`)
	require.NoError(t, err)
	_, err = serve("state.set", `,"value":"`+strings.Repeat("x", 500_000)+`"`)
	require.ErrorContains(t, err, "the database is full: make room on its disk")
	require.Equal(t, protocol.CodeInternal, protocol.CodeOf(err))
	value, err := serve("state.get", "")
	require.NoError(t, err)
	require.JSONEq(t, `1`, string(value))
	_, err = serve("state.set", `,"value":2`)
	require.NoError(t, err, "what fits is kept again")
	require.NoError(t, db.Close())
}
