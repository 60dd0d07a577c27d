package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/services/store"
)

// Where no files are written any more, those of before go all the same; but not from under
// a host that writes to the same directory.
func TestLogRemover_withoutAWriter(t *testing.T) {
	dir := t.TempDir()
	c := &cli{settings: &settings{Settings: manifest.Settings{Logs: manifest.LogFileSettings{Off: true}}}}
	st := &state{dir: dir}
	require.Equal(t, filepath.Join(dir, "logs"), c.logDir(st))
	n, err := c.logRemover(nil, st)(t.Context(), "a")
	require.NoError(t, err)
	require.Zero(t, n, "there is no directory")

	c.settings.Logs.Dir = filepath.Join(dir, "elsewhere")
	require.NoError(t, os.Mkdir(c.settings.Logs.Dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(c.settings.Logs.Dir, "a.log"), nil, 0o600))
	lock, err := store.Acquire(c.logDir(st))
	require.NoError(t, err)
	_, err = c.logRemover(nil, st)(t.Context(), "a")
	var held *store.LockedError
	require.ErrorAs(t, err, &held)
	require.ErrorContains(t, err, "logs.dir of the settings: ")
	require.NoError(t, lock.Release())
	n, err = c.logRemover(nil, st)(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, 1, n)
}
