package main

import (
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStarter_isTextAsPeopleWriteIt(t *testing.T) {
	require.Equal(t, []string{"go", "js", "python"}, starterLanguages())
	for _, language := range starterLanguages() {
		files, err := starter{Name: "mine", ModuleName: "mine", GoVersion: "1.26.0", SDKVersion: "v1.0.0", SDK: "/sdk"}.render(language)
		require.NoError(t, err)
		var names []string
		for _, f := range files {
			names = append(names, f.name)
			text := string(f.text)
			require.NotContains(t, text, "{{", f.name)
			require.True(t, strings.HasSuffix(text, "\n") && !strings.HasSuffix(text, "\n\n"), f.name)
			if strings.HasSuffix(f.name, ".go") {
				formatted, err := format.Source(f.text)
				require.NoError(t, err)
				require.Equal(t, string(formatted), text, f.name)
			}
		}
		require.Contains(t, names, "README.md")
	}
	_, err := starter{}.render("cobol")
	require.Error(t, err)
}

func TestWriteStarter_overwritesNothing(t *testing.T) {
	dir := t.TempDir()
	files := []starterFile{{"a", []byte("1")}, {"b", []byte("2")}}
	require.NoError(t, writeStarter(filepath.Join(dir, "new", "deep"), files))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "empty"), 0o755))
	require.NoError(t, writeStarter(filepath.Join(dir, "empty"), files))
	text, err := os.ReadFile(filepath.Join(dir, "empty", "b"))
	require.NoError(t, err)
	require.Equal(t, "2", string(text))

	require.ErrorContains(t, writeStarter(filepath.Join(dir, "new"), files), "new is not empty: name another directory by --dir, nothing is overwritten")
	require.Error(t, writeStarter(filepath.Join(dir, "empty", "a"), files), "a file is no directory")
	require.Error(t, writeStarter(filepath.Join(dir, "empty", "a", "c"), files))

	require.Error(t, writeStarter(filepath.Join(dir, "half"), append(files, starterFile{"no/where", nil})))
	require.NoDirExists(t, filepath.Join(dir, "half"), "what was made of it is gone again")
}
