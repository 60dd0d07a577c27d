package actors_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/manifest"
)

// The stories about manifests.

func manifestSchema(l *lab) {
	for _, note := range l.reference.Notes {
		input, _, _ := strings.Cut(note, ": ")
		if !strings.HasPrefix(input, "{") {
			continue
		}
		l.note(input, readManifest(l, input))
	}
	m := l.plugin("trivial")
	m.APIVersion = "v2"
	l.note("host.load does not validate: apiVersion v2", l.start(m, l.options()))
}

// readManifest returns what is left of a manifest, or the field that is wrong.
func readManifest(l *lab, text string) string {
	dir := l.t.TempDir()
	file := filepath.Join(dir, "plugin.json")
	for name, content := range map[string]string{"plugin.json": text, "x.js": "", "a": ""} {
		require.NoError(l.t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	m, problems := manifest.Read(file, manifest.Options{})
	if len(problems) > 0 {
		return fmt.Sprintf("invalid: %s: %s", problems[0].Field, problems[0].Message)
	}
	return "ok " + l.json(struct {
		APIVersion  string               `json:"apiVersion"`
		Kind        string               `json:"kind"`
		Name        string               `json:"name"`
		Entrypoints manifest.Entrypoints `json:"entrypoints"`
	}{m.APIVersion, m.Kind, m.Name, m.Entrypoints})
}

func resolveEntrypoint(l *lab) {
	dir := l.t.TempDir()
	for _, name := range []string{"n.js", "d.js", "e.js", "w.js"} {
		require.NoError(l.t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	for _, note := range l.reference.Notes {
		input, _, _ := strings.Cut(note, ": ")
		if strings.HasPrefix(input, "[") {
			l.note(input, resolve(l, dir, input))
		}
	}
}

// resolve returns where an entrypoint leads, in the transcript's own directory.
func resolve(l *lab, dir, input string) string {
	var entries manifest.Entrypoints
	var options *struct {
		Runtime manifest.Runtime
		Cwd     string
	}
	require.NoError(l.t, json.Unmarshal([]byte(input), &[]any{&entries, &options}))
	rt, there := manifest.Electron, "<cwd>"
	if options != nil && options.Runtime != "" {
		rt = options.Runtime
	}
	if options != nil && options.Cwd != "" {
		there = options.Cwd
	}
	m := &manifest.Manifest{Dialect: manifest.DialectAIRI, Name: "lab-plugin", Dir: dir, Entrypoints: entries}
	entry, err := m.Entrypoint(rt)
	if err != nil {
		return "THROW " + err.Error()
	}
	return "ok " + strings.Replace(entry.Path, dir, there, 1)
}
