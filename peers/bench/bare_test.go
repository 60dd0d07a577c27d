package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/peers/load"
)

func startBare(t *testing.T) *bare {
	t.Helper()
	b := &bare{}
	require.NoError(t, b.Start(t.Context(), []load.Worker{{Dir: t.TempDir(), Command: []string{os.Args[0], "-worker"}}}))
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

func TestBare_calls(t *testing.T) {
	b := startBare(t)
	for _, input := range []string{`{"text":"hello"}`, `{"text":"a,b}"}`} {
		answer, err := b.Call(t.Context(), "data:echo", []byte(input))
		require.NoError(t, err)
		require.Equal(t, input, string(answer))
	}
	_, err := b.Call(t.Context(), "tool:fan", nil)
	require.EqualError(t, err, "a bare loop cannot call tool:fan")
}

func TestBare_loops(t *testing.T) {
	b := startBare(t)
	for _, l := range []load.Load{
		{Kind: load.Echo, Size: 100, Flight: 1, Calls: 20},
		{Kind: load.Echo, Size: 100, Flight: 128, Calls: 1000},
		{Kind: load.Echo, Size: 64 << 10, Flight: 16, Calls: 100},
	} {
		took, err := b.Loop(t.Context(), l)
		require.NoError(t, err)
		require.Len(t, took, l.Calls)
		for _, each := range took {
			require.Positive(t, each)
		}
	}
}

func TestBare_tellsThatTheWorkerEnded(t *testing.T) {
	b := &bare{}
	err := b.Start(t.Context(), []load.Worker{{Dir: t.TempDir(), Command: []string{"true"}}})
	require.ErrorContains(t, err, "initialize: ")
	require.NoError(t, b.Close())
}
