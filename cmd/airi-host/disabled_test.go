package main

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/manifest"
)

func TestDisabled_outlivesTheHost(t *testing.T) {
	dir := t.TempDir()
	open := func() *state {
		st, err := (&cli{stateGiven: dir, logLevel: "info", err: newOutput(io.Discard)}).openState(t.Context(), false)
		require.NoError(t, err)
		return st
	}
	st := open()
	require.NoError(t, st.disabled.set(t.Context(), st.db, "a", true))
	require.NoError(t, st.disabled.set(t.Context(), st.db, "b", true))
	require.NoError(t, st.disabled.set(t.Context(), st.db, "b", false))
	require.NoError(t, st.close())
	require.NoError(t, st.close(), "it may be closed again")
	require.Error(t, st.disabled.set(t.Context(), st.db, "b", true))
	require.False(t, st.disabled.has("b"), "what cannot be kept is not so")

	st = open()
	list := []*manifest.Manifest{{Name: "a"}, {Name: "b"}}
	for _, m := range list {
		m.Dialect = manifest.DialectAIRI
	}
	started, names := st.disabled.split(list)
	require.Equal(t, list[1:], started)
	require.Equal(t, []string{"a"}, names)
	require.NoError(t, st.close())
}

func TestOpenState_aTemporaryOneKeepsNothing(t *testing.T) {
	st, err := (&cli{}).openState(t.Context(), true)
	require.NoError(t, err)
	require.Nil(t, st.db)
	require.False(t, st.disabled.has("a"))
	require.NoError(t, st.close())
}
