package manifest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// clock is a whole elizaOS manifest.
const clock = `{"id": "acme.clock", "name": " Clock ", "version": "1", "description": "tells the time", "mode": "background",
	"permissions": {"bun": {"run": true, "ffi": false}, "isolation": "isolated-process"},
	"view": {"relativePath": "view.html", "title": "Clock", "width": 400, "height": 300},
	"worker": {"relativePath": "worker.mjs"}, "unknown": 1%s}`

func clockWith(more string) string { return strings.ReplaceAll(clock, "%s", more) }

// elizaVectors reads one file of recorded results of the ecosystem's own reader.
func elizaVectors(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("testdata/eliza/" + name + ".json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, into))
}

func TestEliza_isReadAsTheReferenceDoes(t *testing.T) {
	var v struct {
		Vectors []struct {
			Name   string
			Input  json.RawMessage
			Result struct {
				OK       bool
				Manifest json.RawMessage
				Issues   []struct{ Path, Message string }
			}
		}
		IDs []struct {
			ID    string
			Valid bool
		}
	}
	elizaVectors(t, "manifest", &v)
	require.NotEmpty(t, v.Vectors)
	for _, c := range v.Vectors {
		root, err := decode(c.Input, func(fieldPath, int) {})
		require.NoError(t, err, c.Name)
		issues := elizaIssues(root)
		require.Equal(t, c.Result.OK, len(issues) == 0, c.Name)
		require.Len(t, issues, len(c.Result.Issues), c.Name)
		for i, want := range c.Result.Issues {
			require.Equal(t, want.Path, issues[i].path, c.Name)
			require.Equal(t, want.Message, issues[i].words, c.Name)
		}
		if c.Result.OK {
			require.Equal(t, compacted(t, c.Result.Manifest), compacted(t, normalManifest(root)), c.Name)
		}
	}
	for _, c := range v.IDs {
		require.Equal(t, c.Valid, isID(c.ID), "%q", c.ID)
	}
}

func compacted(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	v, err := decode(raw, func(fieldPath, int) {})
	require.NoError(t, err)
	return written(v)
}

// written writes a value with the order of its members and its numbers as they are.
func written(v value) string {
	switch v.kind {
	case object:
		w := objectWriter{}
		for _, m := range v.members {
			w.add(m.name, json.RawMessage(written(m.value)))
		}
		return string(w.done())
	case text:
		raw, _ := json.Marshal(v.text)
		return string(raw)
	case null, boolean, number, array:
	}
	return string(v.raw)
}

func TestEliza_whole(t *testing.T) {
	dir := tree(t, map[string]string{
		"plugin.json": clockWith(`, "airi-host": {"requires": ["tool:x"], "invoke": ["model:*"], "priority": 2}`), "worker.mjs": "",
	})
	m, problems := Read(filepath.Join(dir, "plugin.json"), Options{})
	require.Empty(t, problems)
	require.Equal(t, DialectEliza, m.Dialect)
	require.Equal(t, "acme.clock", m.PluginName())
	require.Equal(t, " Clock ", m.Eliza.Title)
	require.Equal(t, "background", m.Eliza.Mode)
	require.Equal(t, "tool:x", m.Host.Requires.String())
	require.Equal(t, 2, m.Host.Priority)
	require.Equal(t, []string{"bun:run", "isolation:isolated-process"}, m.Eliza.Permissions.Tags())
	require.JSONEq(t, `{"id": "acme.clock", "name": " Clock ", "version": "1", "description": "tells the time", "mode": "background",
		"permissions": {"bun": {"run": true, "ffi": false}, "isolation": "isolated-process"},
		"view": {"relativePath": "view.html", "title": "Clock", "width": 400, "height": 300}, "worker": {"relativePath": "worker.mjs"}}`, string(m.Eliza.Raw))
	require.Empty(t, m.Declared())
	entry, err := m.Entrypoint(Node)
	require.NoError(t, err)
	require.Equal(t, Entry{Path: filepath.Join(dir, "worker.mjs")}, entry)
}

func TestEliza_command(t *testing.T) {
	dir := tree(t, map[string]string{"plugin.json": clockWith(`, "airi-host": {"command": ["clock", "-v"]}`)})
	m, problems := Read(filepath.Join(dir, "plugin.json"), Options{})
	require.Empty(t, problems, "the worker's file need not be there")
	entry, err := m.Entrypoint(Node)
	require.NoError(t, err)
	require.Equal(t, Entry{Command: []string{"clock", "-v"}}, entry)
}

func TestEliza_everyProblemAtOnce(t *testing.T) {
	wantProblems(t, `{"id": "../x", "name": 5, "version": " ", "mode": "Window", "permissions": {"host": {"camera": true}, "bun": {"reed": true, "run": 1}, "isolation": null},
		"view": {"relativePath": "/abs", "title": "t", "width": 1e999, "height": 0, "hidden": 0}, "worker": {"relativePath": "../w.js"},
		"dependencies": {"a": null}, "remoteUIs": {"a b": {"name": "n", "path": "../p"}, "c": 1}, "Worker": 1, "airi-host": {"zzzzzzz": 1}}`,
		`id: expected remote plugin id segments containing only letters, numbers, underscores, hyphens, or dots, found "../x"`,
		`name: expected non-empty string, found a number, 5`,
		`version: expected non-empty string, found " "`,
		`description: is missing: expected non-empty string`,
		`mode: expected window or background, found "Window"`,
		`permissions.host.camera: unknown permission: remove it (known are windows, tray, notifications, storage, manage-remote-plugins)`,
		`permissions.bun.reed: unknown permission: remove it (known are read, write, env, run, ffi, addons, worker)`,
		`permissions.bun.run: expected boolean, found a number, 1`,
		`permissions.isolation: expected shared-worker or isolated-process, found null`,
		`view.width: expected finite number, found a number, 1e999`,
		`view.hidden: expected boolean, found a number, 0`,
		`dependencies.a: expected string, found null`,
		`remoteUIs.c: expected object, found a number, 1`,
		`airi-host.zzzzzzz: unknown field: remove it (known are requires, offers, command, configuration, invoke, env, timeouts, limits, scope, priority)`,
		`view.relativePath: expected a path inside the manifest's directory, found "/abs": move the file there and write a relative path`,
		`remoteUIs["a b"].path: expected a path inside the manifest's directory, found "../p": move the file there and write a relative path`,
		`worker.relativePath: expected a path inside the manifest's directory, found "../w.js": move the file there and write a relative path`)
}

func TestEliza_problems(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{
			`"permissions": {"bun": {"run": true, "ffi": false}, "isolation": "isolated-process"}`, `"permissions": ["bun:fs"]`,
			`permissions: expected object, found an array: write {"host": {…}, "bun": {…}} with true for each permission`,
		},
		{`"id": "acme.clock"`, `"id": "-x"`, `id: expected an id that can be a directory's name, found "-x": remove the "-" at its start`},
		{`"id": "acme.clock"`, `"id": "` + strings.Repeat("x", 129) + `"`, `id: expected at most 128 bytes, found 129: write a shorter id`},
		{`"mode"`, `"Mode"`, ``},
		{`"unknown"`, `"id"`, `id: appears twice: keep one of them`},
		{``, ``, `worker.relativePath: "worker.mjs" does not exist: build the plugin or correct the path`},
	} {
		_, problems := readText(t, strings.Replace(clockWith(""), c.from, c.to, 1))
		if c.want == "" {
			require.Contains(t, withoutFile(problems), `Mode: unknown field: names are exact, write "mode"`)
			continue
		}
		require.Contains(t, withoutFile(problems), c.want)
	}
}

func TestEliza_isFoundBesideOthers(t *testing.T) {
	dir := tree(t, map[string]string{
		"a/plugin.json": plugin("acme.clock"), "b/plugin.json": clockWith(""), "b/worker.mjs": "",
		"c/plugin.json": strings.Replace(clockWith(""), "acme.clock", "acme.other", 1), "c/worker.mjs": "", "c/package.json": "{}",
		"d/other.json":  clockWith(""),
		"e/plugin.json": `{"view": {}, "worker": {"relativePath": "w"}, "kind": "manifest.plugin.airi.moeru.ai"}`,
	})
	found := discover(t, dir, ".")
	found.wantPlugins(t, "acme.clock", "acme.other")
	require.Contains(t, found.Problems[0].String(), `b/plugin.json: id: the name "acme.clock" is taken by`)
	require.Contains(t, found.Problems[1].String(), `e/plugin.json: apiVersion: is missing`, "an AIRI manifest, by its kind")
}
