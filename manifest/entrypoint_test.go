package manifest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// missing is what the reference host says when no entrypoint can be chosen.
func missing(rt Runtime) string {
	return fmt.Sprintf("Plugin entrypoint is required for runtime `%s`. Define one of `entrypoints.<runtime>`, `entrypoints.default`, or `entrypoints.electron` in the plugin manifest.", rt)
}

func TestEntrypoint_choosesAsTheReferenceHostDoes(t *testing.T) {
	stricter := map[string]string{
		// The reference host joins whatever is written to its working directory.
		"../up.js":         `entrypoints.node: expected a path inside the manifest's directory`,
		"/abs/x.js":        `entrypoints.node: expected a path inside the manifest's directory`,
		"file:///abs/x.js": `entrypoints.node: expected a path relative to the manifest, e.g. "./plugin.mjs", found the URL`,
	}
	dir := tree(t, map[string]string{"n.js": "", "d.js": "", "e.js": "", "w.js": ""})
	rows := 0
	for _, note := range recorded(t, "host-resolve-entrypoint") {
		var input struct {
			entrypoints Entrypoints
			options     *struct{ Runtime Runtime }
		}
		if json.Unmarshal([]byte(note[0]), &[]any{&input.entrypoints, &input.options}) != nil {
			continue // the rows about lazy loading
		}
		rows++
		rt := Electron // the reference host's default
		if input.options != nil && input.options.Runtime != "" {
			rt = input.options.Runtime
		}
		m := &Manifest{Name: "lab-plugin", Dir: dir, Entrypoints: input.entrypoints}
		entry, err := m.Entrypoint(rt)
		if node := input.entrypoints.Node; node != nil && stricter[*node] != "" {
			require.ErrorContains(t, err, `plugin lab-plugin: `+stricter[*node])
			delete(stricter, *node)
			continue
		}
		if want, fails := strings.CutPrefix(note[1], "THROW Error: "); fails {
			require.EqualError(t, err, want)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, Entry{Path: filepath.Join(dir, filepath.Base(note[1]))}, entry)
	}
	require.Equal(t, 9, rows)
	require.Empty(t, stricter, "rows that the transcript has not got")
}

func TestEntrypoint_emptyEndsTheSearch(t *testing.T) {
	m := &Manifest{Dir: tree(t, map[string]string{"d.js": ""}), Entrypoints: Entrypoints{Node: new(""), Default: new("./d.js")}}
	_, err := m.Entrypoint(Node)
	require.EqualError(t, err, missing(Node))

	m.Entrypoints.Node = nil
	entry, err := m.Entrypoint("")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(m.Dir, "d.js"), entry.Path)
}

func TestEntrypoint_builtin(t *testing.T) {
	m := &Manifest{File: "/p/plugin.json", Entrypoints: Entrypoints{Go: new("builtin:hello"), Node: new("./gone.js")}}
	entry, err := m.Entrypoint(Node)
	require.NoError(t, err)
	require.Equal(t, Entry{Builtin: "hello"}, entry)

	for _, bad := range []string{"", "hello", "builtin:", "builtin: ", "Builtin:hello"} {
		m.Entrypoints.Go = &bad
		_, err = m.Entrypoint(Node)
		require.EqualError(t, err, fmt.Sprintf(`/p/plugin.json: entrypoints.go: expected "builtin:NAME", a plugin compiled into the host, found %q`, bad))
	}
}

func TestEntrypoint_staysInsideTheDirectory(t *testing.T) {
	root := tree(t, map[string]string{"outside.js": "", "p/sub/in.js": "", "p/plugin.json": ""})
	dir := filepath.Join(root, "p")
	link(t, "../outside.js", filepath.Join(dir, "out.js"))
	link(t, "..", filepath.Join(dir, "up"))
	link(t, filepath.Join(dir, "sub", "in.js"), filepath.Join(dir, "in.js"))
	link(t, "nowhere", filepath.Join(dir, "dangling.js"))

	const outside = "expected a path inside the manifest's directory, found "
	outsideFile, err := filepath.EvalSymlinks(filepath.Join(root, "outside.js"))
	require.NoError(t, err)
	for name, want := range map[string]string{
		"./sub/in.js":       "",
		"sub/../sub/in.js":  "",
		"in.js":             "",
		"/etc/passwd":       outside + `"/etc/passwd": move the file there and write a relative path`,
		"../outside.js":     outside + `"../outside.js": move the file there and write a relative path`,
		"sub/../../p/in.js": outside + `"sub/../../p/in.js": move the file there and write a relative path`,
		"out.js":            outside + `"out.js", a link to ` + outsideFile + `: put the file itself there`,
		"up/outside.js":     outside + `"up/outside.js", a link to ` + outsideFile + `: put the file itself there`,
		`sub\in.js`:         `expected a path with "/" between its parts, found "sub\\in.js"`,
		"a\x00.js":          `expected a path without control characters, found "a\x00.js"`,
		"https://x/y.js":    `expected a path relative to the manifest, e.g. "./plugin.mjs", found the URL "https://x/y.js"`,
		"gone.js":           `"gone.js" does not exist: build the plugin or correct the path`,
		"dangling.js":       `"dangling.js" does not exist: build the plugin or correct the path`,
		"sub":               `"sub" is not a regular file: name the file that holds the plugin's code`,
		".":                 `"." is not a regular file: name the file that holds the plugin's code`,
	} {
		m := &Manifest{File: "F", Dir: dir, Entrypoints: Entrypoints{Default: &name}}
		entry, err := m.Entrypoint(Web)
		if want == "" {
			require.NoError(t, err)
			require.Equal(t, filepath.Join(dir, name), entry.Path)
			continue
		}
		require.EqualError(t, err, "F: entrypoints.default: "+want)
	}
}

func TestEntrypoint_ofADirectoryThatIsALink(t *testing.T) {
	root := tree(t, map[string]string{"store/hello/x.js": ""})
	link(t, "store/hello", filepath.Join(root, "hello"))
	m := &Manifest{Dir: filepath.Join(root, "hello"), Entrypoints: Entrypoints{Node: new("./x.js")}}
	entry, err := m.Entrypoint(Node)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(root, "hello", "x.js"), entry.Path)
}

func TestEntrypoint_needsADirectory(t *testing.T) {
	for _, dir := range []string{"", "plugins"} {
		m := &Manifest{Name: "hello", Dir: dir, Entrypoints: Entrypoints{Node: new("./x.js")}}
		_, err := m.Entrypoint(Node)
		require.EqualError(t, err, fmt.Sprintf(`plugin hello: entrypoints.node: no absolute directory to find "./x.js" in, found %q: set Dir`, dir))
	}
}

func TestEntrypoint_command(t *testing.T) {
	root := tree(t, map[string]string{"p/worker": "", "p/text": "", "p/x.js": ""})
	dir := filepath.Join(root, "p")
	worker := filepath.Join(dir, "worker")
	require.NoError(t, os.Chmod(worker, 0o755))
	link(t, "/", filepath.Join(dir, "root"))

	for program, want := range map[string]string{"./worker": worker, worker: worker, "python3": "python3"} {
		m := &Manifest{Dir: dir, Entrypoints: Entrypoints{Node: new("./x.js")}, Host: HostFields{Command: []string{program, "-v"}}}
		entry, err := m.Entrypoint(Node)
		require.NoError(t, err)
		require.Equal(t, Entry{Command: []string{want, "-v"}}, entry)
		entry.Command[1] = "changed"
		require.Equal(t, "-v", m.Host.Command[1])
	}
	for program, want := range map[string]string{
		"./gone":     `"./gone" does not exist: build the plugin or correct the path`,
		"/gone/away": `"/gone/away" does not exist: build the plugin or correct the path`,
		"./text":     `"./text" is not executable: chmod +x it`,
		"../worker":  `expected a path inside the manifest's directory, found "../worker": move the file there and write a relative path`,
	} {
		m := &Manifest{File: "F", Dir: dir, Host: HostFields{Command: []string{program}}}
		_, err := m.Entrypoint(Node)
		require.EqualError(t, err, "F: airi-host.command[0]: "+want)
	}
}

func TestEntrypoint_commandAndBuiltinExcludeEachOther(t *testing.T) {
	wantProblems(t, withHost(`{"command": ["worker"]}`), "airi-host.command: entrypoints.go says already what to run: keep one of them")
}
