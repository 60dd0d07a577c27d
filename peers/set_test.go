package peers

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestSets_nameNoRegistry(t *testing.T) {
	for _, name := range releases {
		s, err := openSet(name)
		require.NoError(t, err)
		text, err := fs.ReadFile(s.files, "package-lock.json")
		require.NoError(t, err)
		require.NotContains(t, string(text), `"resolved"`)
		require.Contains(t, string(text), `"integrity"`)
		require.Len(t, s.archives, 2)
	}
	for _, name := range []string{EventaA14, EventaB11, EventaB14, AIRISDK, BunRuntime} {
		s, err := openSet(name)
		require.NoError(t, err)
		text, err := fs.ReadFile(s.files, "package-lock.json")
		require.NoError(t, err)
		require.NotContains(t, string(text), `"resolved"`)
		require.Contains(t, string(text), `"integrity"`)
		require.Empty(t, s.archives)
	}
}

func TestHashOf_changesWithNamesAndTexts(t *testing.T) {
	seen := map[string]bool{}
	for _, files := range []fstest.MapFS{
		{"a": {Data: []byte("1")}, "b": {}},
		{"a": {}, "b": {Data: []byte("1")}},
		{"a": {Data: []byte("1")}},
		{"c/a": {Data: []byte("1")}},
	} {
		hash, err := hashOf(files)
		require.NoError(t, err)
		require.Len(t, hash, 20)
		seen[hash] = true
	}
	require.Len(t, seen, 4)
}
