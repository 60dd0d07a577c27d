package manifest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// head is how every manifest in these tests begins.
const head = `"apiVersion": "v1", "kind": "manifest.plugin.airi.moeru.ai"`

// hello is a whole manifest, whose entrypoint needs no file.
const hello = `{` + head + `, "name": "hello", "entrypoints": {"go": "builtin:hello"}}`

// tree writes files, by slash-separated name, and returns their directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o644))
	}
	return dir
}

// link makes a symbolic link.
func link(t *testing.T, target, name string) {
	t.Helper()
	require.NoError(t, os.Symlink(target, name))
}

// readText reads a manifest of that text, alone in its directory.
func readText(t *testing.T, content string) (*Manifest, Problems) {
	t.Helper()
	dir := tree(t, map[string]string{"plugin.json": content})
	return Read(filepath.Join(dir, "plugin.json"), Options{Lookup: lookupIn(nil)})
}

// wantManifest reads a text that has no problem.
func wantManifest(t *testing.T, content string) *Manifest {
	t.Helper()
	m, problems := readText(t, content)
	require.Empty(t, problems)
	require.NotNil(t, m)
	return m
}

// wantProblems reads a text and compares its problems, without the file's name.
func wantProblems(t *testing.T, content string, want ...string) {
	t.Helper()
	m, problems := readText(t, content)
	require.Nil(t, m, "a manifest with problems was returned")
	require.Equal(t, want, withoutFile(problems))
}

// withoutFile returns the problems' lines without the file.
func withoutFile(problems Problems) []string {
	lines := make([]string, len(problems))
	for i, p := range problems {
		p.File = ""
		lines[i] = p.String()
	}
	return lines
}

// lookupIn looks variables up in a map.
func lookupIn(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}

func TestManifest_PluginName_trimsAsJavaScriptDoes(t *testing.T) {
	for name, want := range map[string]string{
		"hello":                             "hello",
		"  spaced name \t":                  "spaced name",
		"\ufeff\u00a0\u3000\u2028hello\v\f": "hello",
		"\u0085hello":                       "\u0085hello", // a blank for Go alone
		" \n ":                              "",
	} {
		require.Equal(t, want, (&Manifest{Name: name}).PluginName(), "%q", name)
	}
}
