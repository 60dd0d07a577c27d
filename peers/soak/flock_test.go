package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/peers"
)

// startScratch is a scratch that is removed with the test.
func startScratch(t *testing.T) *scratch {
	t.Helper()
	s, err := newScratch()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.remove()) })
	return s
}

// startSoak is a run of n workers that has begun.
func startSoak(t *testing.T, n int) *soak {
	t.Helper()
	modules := peers.Install(t, peers.Paperclip)
	s := startScratch(t)
	flock, err := newFlock(t.Context(), s, modules, n)
	require.NoError(t, err)
	k := newSoak(settings{workers: n, seed: 1}, s, flock, t.Output())
	t.Cleanup(func() { require.NoError(t, k.close()) })
	require.NoError(t, k.open(t.Context(), flock))
	return k
}

// wantFault has something wrong with the text in it, and forgives it.
func (k *soak) wantFault(t *testing.T, text string) {
	t.Helper()
	require.ErrorContains(t, k.book.verdict(), text)
	k.book.faults, k.book.wrong = nil, make(chan struct{})
}

func TestFlock_hasEachKind(t *testing.T) {
	modules := peers.Install(t, peers.Paperclip)
	s := startScratch(t)
	flock, err := newFlock(t.Context(), s, modules, 6)
	require.NoError(t, err)
	var names []string
	for i, p := range flock {
		require.Equal(t, p.name, p.man.PluginName())
		require.Equal(t, i < spared, p.spared)
		names = append(names, p.name)
	}
	require.Equal(t, []string{"echo-0", "echo-1", "rogue-2", "rogue-3", "echo-4", "rogue-5"}, names)
	_, err = newFlock(t.Context(), s, modules, 1)
	require.ErrorIs(t, err, os.ErrExist)
}

func TestScratch_isTheTemporaryDirectoryMeanwhile(t *testing.T) {
	mine := t.TempDir()
	t.Setenv("TMPDIR", mine)
	s, err := newScratch()
	require.NoError(t, err)
	require.Equal(t, s.temp, os.TempDir())
	require.Equal(t, map[string]string{markVar: s.mark}, s.environment(nil))
	require.NoError(t, os.WriteFile(filepath.Join(s.temp, "left"), nil, 0o600))
	require.Equal(t, []string{"left"}, s.census().files)
	require.NoError(t, s.remove())
	require.Equal(t, mine, os.TempDir())
	require.Empty(t, names(mine))
}
