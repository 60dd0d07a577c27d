//go:build unix

package manifest

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// To open a named pipe would wait for whoever writes into it, for ever.
func TestDiscover_aNamedPipeIsNoManifest(t *testing.T) {
	for name, want := range map[string]string{
		"package.json": "is not a regular file", "plugin.json": "is not a regular file",
	} {
		dir := t.TempDir()
		require.NoError(t, syscall.Mkfifo(filepath.Join(dir, name), 0o600))
		found := Discover([]string{dir}, Options{})
		require.Empty(t, found.Manifests)
		text := found.Problems.Err().Error()
		for _, n := range found.Notes {
			text += n.String()
		}
		require.Contains(t, text, want, name)
	}
}
