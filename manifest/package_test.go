package manifest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/manifest/evaluate"

	"github.com/airi-host/airi-host/internal/need"
)

// syncFiles are the files of a whole Paperclip plugin, below a directory.
func syncFiles(dir string) map[string]string {
	return map[string]string{
		dir + "/package.json": syncPackage, dir + "/dist/manifest.js": syncManifest, dir + "/dist/worker.js": "",
	}
}

// packaged returns the files of a plugin with another package.json.
func packaged(text string) map[string]string {
	files := syncFiles("p")
	files["p/package.json"] = text
	return files
}

// evaluated discovers what is below a directory, modules being JSON.
func evaluated(t *testing.T, dir string, paths ...string) Found {
	t.Helper()
	return discoverWith(t, Options{Evaluate: asJSON, Lookup: lookupIn(nil)}, dir, paths...)
}

func TestPackage_oneThatCannotBeReadIsAProblem(t *testing.T) {
	dir := tree(t, packaged(`{"name": "p" "paperclipPlugin": {"manifest": "./m.js"}}`))
	found := evaluated(t, dir, ".")
	require.Empty(t, found.Manifests)
	found.wantProblems(t, dir, "DIR/p/package.json: line 1, column 14: not valid JSON: invalid character '\"' after object key:value pair")
}

func TestPackage_itsOtherFilesAreNobodysConcern(t *testing.T) {
	files := syncFiles("sync")
	files["sync/package-lock.json"], files["sync/tsconfig.json"] = `{}`, "// comment\n{}"
	files["other/tsconfig.json"] = `{}`
	dir := tree(t, files)
	found := evaluated(t, dir, ".")
	found.wantPlugins(t, "acme.sync")
	found.wantNotes(t, dir, "DIR/other/tsconfig.json: passed over: it is no manifest that this host reads: it has no kind")
}

func TestPackage_isFoundBesideOtherPlugins(t *testing.T) {
	files := syncFiles("sync")
	files["hello/plugin.json"], files["hello/package.json"] = plugin("hello"), `{"name": "hello"}`
	files["package.json"] = `{"workspaces": ["sync"]}`
	dir := tree(t, files)
	found := evaluated(t, dir, ".", "sync", "sync/package.json")
	found.wantPlugins(t, "hello", "acme.sync")
	require.Empty(t, found.Problems)
	found.wantNotes(t, dir,
		"DIR/package.json: passed over: it is no manifest that this host reads: it has no \"paperclipPlugin\"",
		"DIR/hello/package.json: passed over: it is no manifest that this host reads: it has no \"paperclipPlugin\"",
		"DIR/sync/package.json: passed over: it was read before, by this or another name",
		"DIR/sync/package.json: passed over: it was read before, by this or another name")
	entry, err := found.Manifests[1].Entrypoint(Electron)
	require.NoError(t, err)
	require.Equal(t, Entry{Path: filepath.Join(dir, "sync", "dist", "worker.js")}, entry)
}

func TestPackage_isEvaluatedByNode(t *testing.T) {
	_, err := (&evaluate.Node{}).Evaluate(t.Context(), os.DevNull)
	need.That(t, !errors.Is(err, evaluate.ErrNoNode), "Node.js is not on PATH")
	files := syncFiles("sync")
	files["sync/dist/manifest.js"] = "module.exports = " + syncManifest
	files["broken/package.json"] = strings.ReplaceAll(syncPackage, ".js", ".mjs")
	files["broken/dist/worker.mjs"], files["broken/dist/manifest.mjs"] = "", "export default {id: '/', apiVersion: 2}"
	files["throws/package.json"], files["throws/dist/worker.js"], files["throws/dist/manifest.js"] = syncPackage, "", "throw new Error('no')"
	dir, err := filepath.EvalSymlinks(tree(t, files))
	require.NoError(t, err)
	var node evaluate.Node
	found := discoverWith(t, Options{Evaluate: node.Evaluate}, dir, ".")
	found.wantPlugins(t, "acme.sync")
	require.Equal(t, "DIR/throws/dist/manifest.js: cannot be evaluated: Error: no (at DIR/throws/dist/manifest.js:1:7)",
		strings.ReplaceAll(found.Problems[len(found.Problems)-1].String(), dir, "DIR"))
	require.Equal(t, `DIR/broken/dist/manifest.mjs: id: expected an id of a-z, 0-9, ".", "_" and "-", a letter or a digit first, found "/"`,
		strings.ReplaceAll(found.Problems[0].String(), dir, "DIR"))
}

func TestPackage_saysWhatIsMissing(t *testing.T) {
	for text, want := range map[string][]string{
		`{"paperclipPlugin": {}}`:                              {`DIR/package.json: paperclipPlugin.manifest: is missing: expected a path relative to package.json`},
		`{"paperclipPlugin": "./m.js"}`:                        {`DIR/package.json: paperclipPlugin: expected an object, found "./m.js"`},
		`{"paperclipplugin": {"manifest": "./m.js"}}`:          {`DIR/package.json: paperclipplugin: unknown field: names are exact, write "paperclipPlugin"`},
		`{"paperclipPlugin": {"manifest": 1, "worker": ""}}`:   {`DIR/package.json: paperclipPlugin.manifest: expected a path relative to package.json, found a number, 1`, `DIR/package.json: paperclipPlugin.worker: expected a path relative to package.json, found ""`},
		`{"paperclipPlugin": {"manifest": "./out/m.js"}}`:      {`DIR/package.json: paperclipPlugin.manifest: "./out/m.js" does not exist: build the plugin or correct the path`},
		`{"paperclipPlugin": {"manifest": "./dist"}}`:          {`DIR/package.json: paperclipPlugin.manifest: "./dist" is not a regular file: name the file that holds the plugin's code`},
		`{"paperclipPlugin": {"manifest": "dist/../../m.js"}}`: {`DIR/package.json: paperclipPlugin.manifest: expected a path inside the manifest's directory, found "dist/../../m.js": move the file there and write a relative path`},
		`{"scripts": {"build": "tsc"}, "paperclipPlugin": {"manifest": "./out/m.js", "worker": "./out/w.js", "ui": "../ui"}}`: {
			`DIR/package.json: paperclipPlugin.ui: expected a path inside the manifest's directory, found "../ui": move the file there and write a relative path`,
			`DIR/package.json: paperclipPlugin.manifest: "./out/m.js" does not exist: run "npm run build" in DIR`,
			`DIR/package.json: paperclipPlugin.worker: "./out/w.js" does not exist: run "npm run build" in DIR`,
		},
		`{"paperclipPlugin": {"manifest": "./dist/manifest.js"}}`:                               nil,
		`{"paperclipPlugin": {"manifest": "./dist/manifest.js", "worker": "./w.js", "new": 1}}`: {`DIR/package.json: paperclipPlugin.worker: "./w.js" does not exist: build the plugin or correct the path`},
	} {
		dir := tree(t, packaged(text))
		evaluated(t, dir, "p").wantProblems(t, filepath.Join(dir, "p"), want...)
	}
}

func TestPackage_theManifestNamesTheWorkerThatRuns(t *testing.T) {
	files := syncFiles("p")
	files["p/dist/manifest.js"] = strings.Replace(syncManifest, "./dist/worker.js", "./dist/other.js", 1)
	dir := tree(t, files)
	evaluated(t, dir, "p").wantProblems(t, dir,
		`DIR/p/dist/manifest.js: entrypoints.worker: "./dist/other.js" does not exist: build the plugin or correct the path`)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "p/dist/other.js"), nil, 0o644))
	found := evaluated(t, dir, "p")
	require.Empty(t, found.Problems)
	entry, err := found.Manifests[0].Entrypoint(Node)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "p", "dist", "other.js"), entry.Path)

	require.NoError(t, os.Remove(filepath.Join(dir, "p/dist/other.js")))
	_, err = found.Manifests[0].Entrypoint(Node)
	require.EqualError(t, err, filepath.Join(dir, "p/dist/manifest.js")+`: entrypoints.worker: "./dist/other.js" does not exist: build the plugin or correct the path`)
}

func TestPackage_pathsStayInside(t *testing.T) {
	files := syncFiles("p")
	files["p/dist/manifest.js"] = strings.NewReplacer("./dist/worker.js", "../worker.js", "./dist/ui", "/ui").Replace(syncManifest)
	files["outside.js"] = ""
	dir := tree(t, files)
	require.NoError(t, os.Remove(filepath.Join(dir, "p/dist/worker.js")))
	link(t, "../../outside.js", filepath.Join(dir, "p/dist/worker.js"))
	target, err := filepath.EvalSymlinks(filepath.Join(dir, "outside.js"))
	require.NoError(t, err)
	evaluated(t, dir, "p").wantProblems(t, dir,
		`DIR/p/package.json: paperclipPlugin.worker: expected a path inside the manifest's directory, found "./dist/worker.js", a link to `+
			strings.ReplaceAll(target, dir, "DIR")+`: put the file itself there`,
		`DIR/p/dist/manifest.js: entrypoints.worker: expected a path inside the manifest's directory, found "../worker.js": move the file there and write a relative path`,
		`DIR/p/dist/manifest.js: entrypoints.ui: expected a path inside the manifest's directory, found "/ui": move the file there and write a relative path`)
}

func TestPackage_aCommandStandsInForTheWorker(t *testing.T) {
	files := syncFiles("p")
	files["p/dist/manifest.js"] = row{set: `{"airi-host": {"command": ["./worker", "--flag"]}}`}.text(t)
	delete(files, "p/dist/worker.js")
	dir := tree(t, files)
	evaluated(t, dir, "p").wantProblems(t, dir,
		`DIR/p/dist/manifest.js: airi-host.command[0]: "./worker" does not exist: build the plugin or correct the path`)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "p/worker"), nil, 0o755))
	found := evaluated(t, dir, "p")
	require.Empty(t, found.Problems)
	entry, err := found.Manifests[0].Entrypoint(Node)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, "p", "worker"), "--flag"}, entry.Command)
}

func TestPackage_saysWhatIsNotInstalled(t *testing.T) {
	const needs = `{"dependencies": {"@paperclipai/plugin-sdk": "*", "zod": "*"}, "paperclipPlugin": {"manifest": "./dist/manifest.js"}}`
	dir := tree(t, packaged(needs))
	evaluated(t, dir, "p").wantProblems(t, dir,
		`DIR/p/package.json: dependencies: there is no node_modules: "@paperclipai/plugin-sdk" and 1 more cannot be found: run "npm install" in DIR/p`)

	require.NoError(t, os.MkdirAll(filepath.Join(dir, "p/node_modules/@paperclipai/plugin-sdk"), 0o755))
	evaluated(t, dir, "p").wantProblems(t, dir, `DIR/p/package.json: dependencies: "zod" cannot be found: run "npm install" in DIR/p`)

	require.NoError(t, os.MkdirAll(filepath.Join(dir, "node_modules/zod"), 0o755))
	require.Empty(t, evaluated(t, dir, "p").Problems, "Node looks above, too")

	dir = tree(t, packaged(strings.Replace(needs, `"zod"`, `"../../x"`, 1)))
	require.Len(t, evaluated(t, dir, "p").Problems, 1)
}

func TestPackage_thatIsNotToBeEvaluated(t *testing.T) {
	files := syncFiles("sync")
	files["anonymous/package.json"], files["anonymous/m.js"] = `{"paperclipPlugin": {"manifest": "m.js"}}`, "throw 1"
	dir := tree(t, files)
	found := discover(t, dir, "sync", "anonymous")
	found.wantPlugins(t, "@acme/sync", "anonymous")
	require.Empty(t, found.Problems)
	found.wantNotes(t, dir,
		"DIR/sync/dist/manifest.js: not checked: it is code that was not to be run",
		"DIR/anonymous/m.js: not checked: it is code that was not to be run")
	m := found.Manifests[0]
	require.Equal(t, &Paperclip{Module: filepath.Join(dir, "sync/dist/manifest.js"), Worker: "./dist/worker.js"}, m.Paperclip)
	entry, err := m.Entrypoint(Node)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "sync/dist/worker.js"), entry.Path)

	require.NoError(t, os.Remove(entry.Path))
	_, err = m.Entrypoint(Node)
	require.EqualError(t, err, m.File+`: paperclipPlugin.worker: "./dist/worker.js" does not exist: build the plugin or correct the path`)
	_, err = found.Manifests[1].Entrypoint(Node)
	require.EqualError(t, err, found.Manifests[1].File+`: paperclipPlugin.worker: is missing: expected the path of the worker's file`)
}

func TestPackage_whatTheEvaluatorSays(t *testing.T) {
	dir := tree(t, syncFiles("p"))
	for answer, want := range map[string]string{
		"":                        "expected a JSON object, found an empty file",
		"[]":                      "expected an object, the manifest, found an array",
		`{"id": `:                 "line 1, column 8: the JSON ends in the middle: a closing bracket or quote is missing",
		strings.Repeat(" ", 2000): "expected at most 1000 bytes, found 2000: move what is long into a file of its own",
	} {
		found := discoverWith(t, Options{MaxBytes: 1000, Evaluate: func(_ context.Context, module string) ([]byte, error) {
			require.Equal(t, filepath.Join(dir, "p", "dist", "manifest.js"), module)
			return []byte(answer), nil
		}}, dir, "p")
		found.wantProblems(t, dir, "DIR/p/dist/manifest.js: "+want)
	}
	found := discoverWith(t, Options{Evaluate: func(context.Context, string) ([]byte, error) { return nil, errors.New("cannot be evaluated: x") }}, dir, "p")
	found.wantProblems(t, dir, "DIR/p/dist/manifest.js: cannot be evaluated: x")
}

func TestPackage_namesAreUniqueAcrossEcosystems(t *testing.T) {
	files := syncFiles("b")
	files["a/plugin.json"], files["c/plugin.json"] = plugin("acme.sync"), plugin("other")
	dir := tree(t, files)
	found := evaluated(t, dir, ".")
	found.wantPlugins(t, "acme.sync", "other")
	found.wantProblems(t, dir,
		`DIR/b/dist/manifest.js: id: the name "acme.sync" is taken by DIR/a/plugin.json: a name is unique in a host, change one of them`)

	evaluated(t, dir, "b", "a").wantProblems(t, dir,
		`DIR/a/plugin.json: name: the name "acme.sync" is taken by DIR/b/dist/manifest.js: a name is unique in a host, change one of them`)
}
