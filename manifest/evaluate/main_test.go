package evaluate

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// needNode skips a test for want of Node.js, where that is allowed.
func needNode(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("node"); err == nil {
		return
	}
	if os.Getenv("AIRI_HOST_NO_SKIP") != "" {
		t.Fatal("Node.js is not on PATH, and AIRI_HOST_NO_SKIP is set")
	}
	t.Skip("Node.js is not on PATH")
}

// module writes a module and returns its path.
func module(t *testing.T, text string) string {
	t.Helper()
	return write(t, filepath.Join(t.TempDir(), "manifest.mjs"), text)
}

func write(t *testing.T, file, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	return file
}

// wantSays evaluates a module that is good.
func wantSays(t *testing.T, n *Node, file, want string) {
	t.Helper()
	data, err := n.Evaluate(t.Context(), file)
	require.NoError(t, err)
	require.Equal(t, want, string(data))
}
