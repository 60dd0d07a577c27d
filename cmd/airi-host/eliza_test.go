package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is removed of a plugin is its own directory, whatever its name or its links say.
func TestState_removesTheDirectoryOfAnElizaPlugin(t *testing.T) {
	st := &state{dir: t.TempDir()}
	files, err := st.removeElizaDir(t.Context(), "p")
	require.NoError(t, err)
	require.Zero(t, files, "there are none at all")
	for _, name := range []string{"eliza/p/a", "eliza/p/deep/b", "eliza/q/c", "eliza/d.e/f", "other/g"} {
		file := filepath.Join(st.dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, nil, 0o600))
	}
	require.NoError(t, os.Symlink(filepath.Join(st.dir, "other"), filepath.Join(st.dir, "eliza", "p", "link")))
	require.NoError(t, os.Symlink("../other", filepath.Join(st.dir, "eliza", "link")))
	for _, c := range []struct {
		plugin string
		files  int64
	}{{"p", 3}, {"p", 0}, {"d.e", 1}, {"none", 0}, {".", 0}, {"..", 0}, {"", 0}, {"../other", 0}, {"q/c", 0}, {"/", 0}, {"link", 1}} {
		files, err := st.removeElizaDir(t.Context(), c.plugin)
		require.NoError(t, err, c.plugin)
		require.Equal(t, c.files, files, c.plugin)
	}
	require.NoDirExists(t, filepath.Join(st.dir, "eliza", "p"))
	require.FileExists(t, filepath.Join(st.dir, "eliza", "q", "c"))
	require.FileExists(t, filepath.Join(st.dir, "other", "g"))
}
