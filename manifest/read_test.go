package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

func TestRead_fillsWhereItWasFound(t *testing.T) {
	dir := tree(t, map[string]string{"plugin.json": hello})
	t.Chdir(dir)
	m, problems := Read("plugin.json", Options{})
	require.Empty(t, problems)
	wd, err := os.Getwd()
	require.NoError(t, err)
	require.Equal(t, &Manifest{
		Dialect: DialectAIRI, APIVersion: APIVersionAIRI, Kind: KindAIRI, Name: "hello",
		File: filepath.Join(wd, "plugin.json"), Dir: wd,
		Entrypoints: Entrypoints{Go: new("builtin:hello")},
	}, m)
}

func TestRead_takesAByteOrderMark(t *testing.T) {
	require.Equal(t, "hello", wantManifest(t, "\ufeff"+hello).Name)
}

func TestRead_saysWhyAFileCannotBeRead(t *testing.T) {
	dir := tree(t, map[string]string{"utf16.json": "\xff\xfe{\x00}\x00", "broken.json": "{\n  x"})
	link(t, "nowhere", filepath.Join(dir, "dangling.json"))
	link(t, os.DevNull, filepath.Join(dir, "device.json"))
	for name, want := range map[string]string{
		"absent.json":   "does not exist: expected a manifest file",
		"dangling.json": "does not exist: expected a manifest file",
		"device.json":   "is not a regular file: expected a manifest file",
		".":             "is a directory: expected a manifest file, e.g. " + filepath.Join(dir, "plugin.json"),
		"utf16.json":    "expected UTF-8, found UTF-16 (little endian): save the file as UTF-8",
		"broken.json":   "line 2, column 3: not valid JSON: invalid character 'x' looking for beginning of object key string",
	} {
		file := filepath.Join(dir, name)
		m, problems := Read(file, Options{})
		require.Nil(t, m)
		require.Equal(t, Problems{{File: file, Message: want}}, problems)
	}
}

func TestRead_boundsTheFile(t *testing.T) {
	for size, limit := range map[int]int64{DefaultMaxBytes: 0, len(hello): int64(len(hello))} {
		file := filepath.Join(tree(t, map[string]string{"a.json": hello + strings.Repeat(" ", size-len(hello))}), "a.json")
		_, problems := Read(file, Options{MaxBytes: limit})
		require.Empty(t, problems)

		require.NoError(t, os.WriteFile(file, []byte(hello+strings.Repeat(" ", size-len(hello)+1)), 0o644))
		_, problems = Read(file, Options{MaxBytes: limit})
		require.Len(t, problems, 1)
		require.Regexp(t, `^expected at most \d+ bytes, found more: move what is long into a file of its own$`, problems[0].Message)
	}
}

func TestRead_reportsEveryProblemAtOnce(t *testing.T) {
	dir := tree(t, map[string]string{"plugin.json": `{"apiVersion": "v2", "kind": "manifest.plugin.airi.moeru.ai", "name": "a/b", "name": "c",
		"entrypoints": {"node": "./gone.mjs", "web": "/abs.js"}, "airi-host": {"timeouts": {"init": 0}, "colour": "red"}}`})
	_, problems := Read(filepath.Join(dir, "plugin.json"), Options{})
	require.Equal(t, []string{
		`name: appears twice: keep one of them`,
		`apiVersion: expected "v1", found "v2"`,
		`name: expected a name that can be a directory's, found "a/b": remove "/", "\" and control characters`,
		`airi-host.timeouts.init: expected a time above 0 and up to 1h, as text ("5s") or in whole milliseconds (5000), found a number, 0`,
		`airi-host.colour: unknown field: remove it (known are requires, offers, command, configuration, invoke, env, timeouts, limits, scope, priority)`,
		`entrypoints.web: expected a path inside the manifest's directory, found "/abs.js": move the file there and write a relative path`,
		`entrypoints.node: "./gone.mjs" does not exist: build the plugin or correct the path`,
	}, withoutFile(problems))
}

func TestRead_looksAtTheEntrypointThatWouldRun(t *testing.T) {
	const both = `{` + head + `, "name": "hello", "entrypoints": {"node": "./node.mjs", "electron": "./electron.js", "web": ""}}`
	dir := tree(t, map[string]string{"plugin.json": both, "electron.js": ""})
	_, problems := Read(filepath.Join(dir, "plugin.json"), Options{})
	require.Equal(t, []string{`entrypoints.node: "./node.mjs" does not exist: build the plugin or correct the path`}, withoutFile(problems))

	_, problems = Read(filepath.Join(dir, "plugin.json"), Options{Runtime: Electron})
	require.Empty(t, problems, "what another runtime would run need not be there")

	_, problems = Read(filepath.Join(dir, "plugin.json"), Options{Runtime: Web})
	require.Equal(t, []string{"entrypoints: " + missing(Web)}, withoutFile(problems), "an empty one ends the search")
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		hello, withHost(`{"requires": ["a", {"anyOf": ["b"]}], "env": {"A": "${B}$${C}"}, "timeouts": {"init": "5s", "call": 1e3}}`),
		withHost(`{"command": ["./x", "y"], "limits": {"logLines": 5.0}, "ENV": 1, "nope\n": null}`),
		`{` + head + `, "name": "a/b", "name": " ", "entrypoints": {"node": "../x", "Web": 1}}`,
		"\xff\xfe{\x00}\x00", "\ufeff{}", "[[[", `{"a":"\ud800"}`, "{}{}", "", `{"name": "\n"`,
	} {
		f.Add([]byte(seed))
	}
	file := filepath.Join(f.TempDir(), "plugin.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		require.NoError(t, os.WriteFile(file, data, 0o644))
		m, problems := Read(file, Options{Lookup: lookupIn(map[string]string{"B": "b"})})
		require.Equal(t, m == nil, len(problems) > 0, "problems or a manifest, never both, never neither")
		for _, p := range problems {
			require.NotEmpty(t, p.Message)
			require.False(t, strings.ContainsFunc(p.String(), unicode.IsControl), "%q is more than one line", p)
		}
		if m != nil {
			require.NotEmpty(t, m.PluginName())
			_, err := m.Entrypoint("")
			require.NoError(t, err)
		}
	})
}

func TestRead_knowsWhatIsCompiledIn(t *testing.T) {
	dir := tree(t, map[string]string{"plugin.json": `{"apiVersion":"v1","kind":"manifest.plugin.airi.moeru.ai","name":"x","entrypoints":{"go":"builtin:x"}}`})
	file := filepath.Join(dir, "plugin.json")
	for name, test := range map[string]struct {
		builtins []string
		want     string
	}{
		"not known": {nil, ""},
		"there":     {[]string{"w", "x"}, ""},
		"others":    {[]string{"a", "b"}, `no plugin "x" is compiled into this host: expected one of a, b`},
		"none":      {[]string{}, `no plugin "x" is compiled into this host: none is`},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := Read(file, Options{Builtins: test.builtins})
			if test.want == "" {
				require.Empty(t, problems)
				return
			}
			require.Equal(t, Problems{{File: file, Field: "entrypoints.go", Message: test.want}}, problems)
		})
	}
}
