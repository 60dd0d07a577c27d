package manifest

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// discover finds the manifests at paths below dir.
func discover(t *testing.T, dir string, paths ...string) Found {
	t.Helper()
	return discoverWith(t, Options{}, dir, paths...)
}

// discoverWith is discover with options.
func discoverWith(t *testing.T, opts Options, dir string, paths ...string) Found {
	t.Helper()
	full := make([]string, len(paths))
	for i, p := range paths {
		full[i] = filepath.Join(dir, p)
	}
	return Discover(full, opts)
}

// wantPlugins compares the plugins' names.
func (f Found) wantPlugins(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, m := range f.Manifests {
		got = append(got, m.PluginName())
	}
	require.Equal(t, want, got)
}

// wantProblems compares the problems' lines, DIR standing for dir.
func (f Found) wantProblems(t *testing.T, dir string, want ...string) {
	t.Helper()
	var got []string
	for _, p := range f.Problems {
		got = append(got, strings.ReplaceAll(p.String(), dir, "DIR"))
	}
	require.Equal(t, want, got)
}

// wantNotes compares the notes' lines, DIR standing for dir.
func (f Found) wantNotes(t *testing.T, dir string, want ...string) {
	t.Helper()
	var got []string
	for _, n := range f.Notes {
		got = append(got, strings.ReplaceAll(n.String(), dir, "DIR"))
	}
	require.Equal(t, want, got)
}

// plugin is a whole manifest of that name.
func plugin(name string) string { return named(fmt.Sprintf("%q", name)) }

func TestDiscover_file(t *testing.T) {
	dir := tree(t, map[string]string{"odd.name": plugin("a"), "other.json": plugin("b")})
	found := discover(t, dir, "odd.name")
	found.wantPlugins(t, "a")
	require.Equal(t, filepath.Join(dir, "odd.name"), found.Manifests[0].File)
	require.Empty(t, found.Problems)
}

func TestDiscover_fileThatIsNoManifest(t *testing.T) {
	dir := tree(t, map[string]string{"package.json": `{"name": "hello"}`})
	discover(t, dir, "package.json").wantProblems(t, dir,
		`DIR/package.json: apiVersion: is missing: expected "v1"`,
		`DIR/package.json: kind: is missing: expected "manifest.plugin.airi.moeru.ai"`,
		`DIR/package.json: entrypoints: is missing: expected an object, e.g. {"node": "./plugin.mjs"}`)
}

func TestDiscover_directoryThatHoldsManifests(t *testing.T) {
	dir := tree(t, map[string]string{
		"b.json": plugin("b"), "a.json": plugin("a"), "plugin.json": plugin("p"), "package.json": `{}`, "readme.md": "",
		"sub/plugin.json": plugin("not looked for"),
	})
	found := discover(t, dir, ".")
	found.wantPlugins(t, "a", "b", "p")
	require.Empty(t, found.Problems)
	found.wantNotes(t, dir, "DIR/package.json: passed over: it is no manifest that this host reads: it has no \"paperclipPlugin\"")
}

func TestDiscover_subDirectories(t *testing.T) {
	dir := tree(t, map[string]string{
		"b/plugin.json": plugin("b"), "a/z.json": plugin("z"), "a/y.json": plugin("y"), "a/tsconfig.json": "// comment\n{}",
		"empty/readme.md": "", "deep/er/plugin.json": plugin("too deep"),
		".hidden/plugin.json": plugin("hidden"), "node_modules/plugin.json": plugin("module"),
	})
	found := discover(t, dir, ".")
	found.wantPlugins(t, "y", "z", "b")
	require.Empty(t, found.Problems)
	found.wantNotes(t, dir, "DIR/a/tsconfig.json: passed over: it cannot be read as JSON: line 1, column 1: not valid JSON: invalid character '/' looking for beginning of value")

	discover(t, dir, ".hidden").wantPlugins(t, "hidden")
}

func TestDiscover_keepsTheOrderOfThePaths(t *testing.T) {
	dir := tree(t, map[string]string{"a/plugin.json": plugin("a"), "b/plugin.json": plugin("b"), "c/plugin.json": plugin("c")})
	discover(t, dir, "c", "a/plugin.json", "b").wantPlugins(t, "c", "a", "b")
}

func TestDiscover_brokenFiles(t *testing.T) {
	dir := tree(t, map[string]string{
		"a/plugin.json": "{", "b/manifest.json": "{}}", "c/other.json": "{", "d/plugin.json": `{"id": "an.elizaOS.plugin", "mode": "window"}`,
		"e/plugin.json": `{"name": "e", "entrypoints": {"node": "x.mjs"}}`,
		"f/f.json":      `{"kind": "manifest.plugin.airi.moeru.ai", "apiVersion": "v1", "name": "f"}`,
		"g/g.json":      strings.Repeat(" ", DefaultMaxBytes+1),
	})
	found := discover(t, dir, ".")
	require.Empty(t, found.Manifests)
	found.wantProblems(t, dir,
		"DIR/a/plugin.json: line 1, column 2: the JSON ends in the middle: a closing bracket or quote is missing",
		"DIR/b/manifest.json: line 1, column 3: expected the file to end behind its JSON object, found more: remove it",
		`DIR/e/plugin.json: apiVersion: is missing: expected "v1"`,
		`DIR/e/plugin.json: kind: is missing: expected "manifest.plugin.airi.moeru.ai"`,
		`DIR/e/plugin.json: entrypoints.node: "x.mjs" does not exist: build the plugin or correct the path`,
		`DIR/f/f.json: entrypoints: is missing: expected an object, e.g. {"node": "./plugin.mjs"}`)
	found.wantNotes(t, dir,
		"DIR/c/other.json: passed over: it cannot be read as JSON: line 1, column 2: the JSON ends in the middle: a closing bracket or quote is missing",
		"DIR/d/plugin.json: passed over: it is no manifest that this host reads: it has no kind",
		"DIR/g/g.json: passed over: it cannot be read as JSON: expected at most 1048576 bytes, found more: move what is long into a file of its own")
}

func TestDiscover_aBrokenManifestHidesNoSubDirectory(t *testing.T) {
	dir := tree(t, map[string]string{"plugin.json": "{", "sub/plugin.json": plugin("sub")})
	found := discover(t, dir, ".")
	require.Empty(t, found.Manifests, "the directory is a plugin's, though a broken one")
	require.Len(t, found.Problems, 1)
}

func TestDiscover_filesThatCannotBeOpened(t *testing.T) {
	dir := tree(t, map[string]string{"good/plugin.json": plugin("good"), "folder/plugin.json/x": "", "gone/x": "", "socket/x": ""})
	link(t, "nowhere", filepath.Join(dir, "gone", "plugin.json"))
	link(t, "nowhere", filepath.Join(dir, "gone", "other.json"))
	socket, err := net.Listen("unix", filepath.Join(dir, "socket", "plugin.json"))
	require.NoError(t, err)
	defer func() { require.NoError(t, socket.Close()) }()

	found := discover(t, dir, ".")
	found.wantPlugins(t, "good")
	found.wantProblems(t, dir,
		"DIR/gone/plugin.json: does not exist: expected a manifest file",
		"DIR/socket/plugin.json: is not a regular file: expected a manifest file")
	found.wantNotes(t, dir, "DIR/gone/other.json: passed over: it cannot be read as JSON: does not exist: expected a manifest file")
}

func TestDiscover_pathsWithoutAPlugin(t *testing.T) {
	dir := tree(t, map[string]string{"empty/readme.md": "", "deep/a/b/plugin.json": plugin("b"), "other/x/package.json": `{"kind": "plugin"}`})
	const none = `holds no plugin: expected a file *.json with "kind": "manifest.plugin.airi.moeru.ai", a package.json with "paperclipPlugin", or elizaOS's plugin.json, in it or in one of its direct sub-directories`
	found := discover(t, dir, "absent", "empty", "deep", "other")
	require.Empty(t, found.Manifests)
	found.wantProblems(t, dir,
		"DIR/absent: does not exist: expected a manifest, or a directory of plugins",
		"DIR/empty: "+none,
		"DIR/deep: "+none,
		"DIR/other: "+none+`; DIR/other/x/package.json: passed over: it is no manifest that this host reads: it has no "paperclipPlugin"`)
	require.Empty(t, found.Notes, "that is said once")

	require.Equal(t, Found{}, Discover(nil, Options{}))
}

func TestDiscover_followsLinksButReadsNothingTwice(t *testing.T) {
	dir := tree(t, map[string]string{"plugins/b/plugin.json": plugin("b"), "store/x/plugin.json": plugin("x")})
	link(t, "../store/x", filepath.Join(dir, "plugins", "c"))
	link(t, "b", filepath.Join(dir, "plugins", "d"))
	link(t, ".", filepath.Join(dir, "plugins", "loop"))
	link(t, "nowhere", filepath.Join(dir, "plugins", "dangling"))

	found := discover(t, dir, "plugins", "plugins/b", "store/x/plugin.json", "store")
	found.wantPlugins(t, "b", "x")
	require.Empty(t, found.Problems)
	found.wantNotes(t, dir,
		"DIR/plugins/d/plugin.json: passed over: it was read before, by this or another name",
		"DIR/plugins/b/plugin.json: passed over: it was read before, by this or another name",
		"DIR/store/x/plugin.json: passed over: it was read before, by this or another name",
		"DIR/store/x/plugin.json: passed over: it was read before, by this or another name")
	require.Equal(t, filepath.Join(dir, "plugins", "c", "plugin.json"), found.Manifests[1].File)
}

func TestDiscover_namesAreUnique(t *testing.T) {
	dir := tree(t, map[string]string{
		"a/plugin.json": plugin("hello"), "b/plugin.json": plugin(" hello "), "c/plugin.json": plugin("Hello"),
		"d/plugin.json": strings.Replace(plugin("broken"), "v1", "v2", 1), "e/plugin.json": plugin("broken"),
	})
	found := discover(t, dir, ".")
	found.wantPlugins(t, "hello", "Hello")
	found.wantProblems(t, dir,
		`DIR/b/plugin.json: name: the name "hello" is taken by DIR/a/plugin.json: a name is unique in a host, change one of them`,
		`DIR/d/plugin.json: apiVersion: expected "v1", found "v2"`,
		`DIR/e/plugin.json: name: the name "broken" is taken by DIR/d/plugin.json: a name is unique in a host, change one of them`)

	found = discover(t, dir, "b", "a")
	found.wantPlugins(t, "hello")
	require.Equal(t, " hello ", found.Manifests[0].Name, "the first path's stays")
}

func TestDiscover_boundsWhatItLooksAt(t *testing.T) {
	files := map[string]string{}
	for i := range 4 {
		files[fmt.Sprintf("p%d/plugin.json", i)] = plugin(fmt.Sprintf("p%d", i))
	}
	dir := tree(t, files)
	const reached = "the limit of files to look at is reached here: not all plugins were found; name the plugins' own directories, or raise the limit"

	found := discoverWith(t, Options{MaxFiles: 8}, dir, ".", ".")
	found.wantPlugins(t, "p0", "p1", "p2", "p3")
	require.Empty(t, found.Problems, "four directories and four files, for each path")

	found = discoverWith(t, Options{MaxFiles: 6}, dir, ".")
	found.wantPlugins(t, "p0", "p1")
	found.wantProblems(t, dir, "DIR/p2: "+reached)

	found = discoverWith(t, Options{MaxFiles: 3}, dir, ".")
	require.Empty(t, found.Manifests)
	found.wantProblems(t, dir, "DIR: "+reached)
}
