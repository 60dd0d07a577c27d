package bridge

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeNode puts a file called node on PATH and returns its path.
func fakeNode(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	node := filepath.Join(dir, "node")
	require.NoError(t, os.WriteFile(node, []byte("#!/bin/sh\n"), 0o700))
	t.Setenv("PATH", dir)
	return node
}

func TestNode_installsTheBridgeOnceAndRemovesIt(t *testing.T) {
	node := fakeNode(t)
	t.Setenv("TMPDIR", t.TempDir())
	var n Node
	require.NoError(t, n.Close(), "nothing was written yet")
	for range 2 {
		argv, err := n.Command(t.Context(), "/plugins/x/main.mjs")
		require.NoError(t, err)
		require.Equal(t, node, argv[0])
		require.FileExists(t, argv[1])
		require.Equal(t, "/plugins/x/main.mjs", argv[2])
	}
	written, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	require.Len(t, written, 1)
	require.NoError(t, n.Close())
	written, err = os.ReadDir(os.TempDir())
	require.NoError(t, err)
	require.Empty(t, written)
	_, err = n.Command(t.Context(), "/plugins/x/main.mjs")
	require.NoError(t, err, "it can be used again")
	require.NoError(t, n.Close())
}

// What clears directories for temporary files away in the long run takes the bridge of a host
// that goes on: it is written anew, and not where somebody else may have been since.
func TestNode_writesTheBridgeAnewThatIsGone(t *testing.T) {
	fakeNode(t)
	for name, take := range map[string]func(main string) error{
		"all of it": func(main string) error { return os.RemoveAll(filepath.Dir(filepath.Dir(main))) },
		"a file":    os.Remove,
		"its words": func(main string) error { return os.WriteFile(main, []byte("other"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			var n Node
			first, err := n.Command(t.Context(), "/plugins/x/main.mjs")
			require.NoError(t, err)
			require.NoError(t, take(first[1]))
			again, err := n.Command(t.Context(), "/plugins/x/main.mjs")
			require.NoError(t, err)
			require.FileExists(t, again[1])
			require.NotEqual(t, first[1], again[1])
			words, err := os.ReadFile(again[1])
			require.NoError(t, err)
			require.NotEqual(t, "other", string(words))
			require.NoError(t, n.Close())
			written, err := os.ReadDir(os.TempDir())
			require.NoError(t, err)
			require.Empty(t, written)
		})
	}
}

func TestNode_saysThatThereIsNone(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := new(Node).Command(t.Context(), "/plugins/x/main.mjs")
	require.ErrorIs(t, err, ErrNoNode)
	require.NotErrorIs(t, err, exec.ErrNotFound)
	require.EqualError(t, err, "no Node.js on PATH: install version 20.6.0 or newer to run AIRI modules")
}

func TestNode_saysThatTheBridgeCannotBeWritten(t *testing.T) {
	fakeNode(t)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	_, err := new(Node).Command(t.Context(), "/plugins/x/main.mjs")
	require.ErrorContains(t, err, "bridge for AIRI modules: ")
}
