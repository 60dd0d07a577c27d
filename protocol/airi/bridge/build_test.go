package bridge_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/internal/need"
)

// offline is how npm says that it cannot reach a registry.
var offline = regexp.MustCompile(`ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT`)

// The built files are what the sources and the lock file give, byte for byte.
func TestBuild_givesTheCommittedFiles(t *testing.T) {
	npm := tool(t, "npm")
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc", "build.mjs"} {
		copyFile(t, name, filepath.Join(dir, name))
	}
	require.NoError(t, os.CopyFS(filepath.Join(dir, "src"), os.DirFS("src")))

	out, err := npmIn(dir, npm, "ci")
	need.That(t, err == nil || !offline.Match(out), "npm reaches no registry")
	require.NoError(t, err, "%s", out)
	out, err = npmIn(dir, npm, "run", "build")
	require.NoError(t, err, "%s", out)

	require.Equal(t, names(t, "dist"), names(t, filepath.Join(dir, "dist")))
	for _, name := range append([]string{"NOTICE"}, under("dist", names(t, "dist"))...) {
		requireSame(t, name, filepath.Join(dir, name))
	}
}

func TestLock_namesNoRegistry(t *testing.T) {
	text, err := os.ReadFile("package-lock.json")
	require.NoError(t, err)
	require.NotContains(t, string(text), `"resolved"`)
}

func TestNotice_hasTheLicensesOfWhatIsBundled(t *testing.T) {
	text, err := os.ReadFile("NOTICE")
	require.NoError(t, err)
	for _, owner := range []string{"@moeru/eventa 1.0.0-alpha.14", "nanoid 5", "picomatch 4"} {
		require.Contains(t, string(text), "\n"+owner)
	}
	require.Equal(t, 3, bytes.Count(text, []byte("Permission is hereby granted, free of charge")))
}

func npmIn(dir, npm string, args ...string) ([]byte, error) {
	cmd := exec.Command(npm, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "npm_config_fetch_retries=0")
	return cmd.CombinedOutput()
}

func under(dir string, files []string) []string {
	var paths []string
	for _, name := range files {
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, data, 0o600))
}

func requireSame(t *testing.T, committed, built string) {
	t.Helper()
	want, err := os.ReadFile(committed)
	require.NoError(t, err)
	got, err := os.ReadFile(built)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got), "%s is not what its sources give: run npm ci && npm run build", committed)
}
