package evaluate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
