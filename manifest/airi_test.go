package manifest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorded is what the reference host did: pairs of input and outcome.
func recorded(t *testing.T, name string) [][2]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".meta.json"))
	require.NoError(t, err)
	var transcript struct{ Notes [][2]string }
	require.NoError(t, json.Unmarshal(data, &transcript))
	require.NotEmpty(t, transcript.Notes)
	return transcript.Notes
}

func TestAIRI_readsWhatTheReferenceHostReads(t *testing.T) {
	const start = `{"apiVersion":"v1","kind":"manifest.plugin.airi.moeru.ai","name":`
	stricter := map[string]string{
		// A name is an identity and names a directory; the reference host takes
		// any text, and makes "plugin" of a blank one.
		start + `"","entrypoints":{"electron":"./x.js"}}`: "name",
		// Such a plugin can never be loaded; the reference host says so when it tries.
		start + `"lab-plugin","entrypoints":{}}`: "entrypoints",
	}
	for _, note := range recorded(t, "host-manifest-schema") {
		input, outcome := note[0], note[1]
		if !strings.HasPrefix(input, "{") {
			// The reference host loads a manifest of any apiVersion, unvalidated;
			// here what is not valid is not loaded, as the rows above it show.
			require.Equal(t, "host.load does not validate: apiVersion v2", input)
			continue
		}
		dir := tree(t, map[string]string{"plugin.json": input, "x.js": "", "a": ""})
		m, problems := Read(filepath.Join(dir, "plugin.json"), Options{})
		field, isStricter := stricter[input]
		delete(stricter, input)
		want, isGood := strings.CutPrefix(outcome, "ok ")
		switch {
		case isStricter:
			require.True(t, isGood, input)
			require.Len(t, problems, 1, input)
			require.Equal(t, field, problems[0].Field, input)
		case isGood:
			require.Empty(t, problems, input)
			require.JSONEq(t, want, stripped(t, m))
		default:
			require.Len(t, problems, 1, input)
			require.True(t, strings.HasPrefix(outcome, "invalid: "+problems[0].Field+": "), "%s: %v", outcome, problems)
		}
	}
	require.Empty(t, stricter, "rows that the transcript has not got")
}

// stripped returns what the reference host's schema leaves of a manifest.
func stripped(t *testing.T, m *Manifest) string {
	t.Helper()
	data, err := json.Marshal(struct {
		APIVersion  string      `json:"apiVersion"`
		Kind        string      `json:"kind"`
		Name        string      `json:"name"`
		Entrypoints Entrypoints `json:"entrypoints"`
	}{m.APIVersion, m.Kind, m.Name, m.Entrypoints})
	require.NoError(t, err)
	return string(data)
}

func TestAIRI_keepsEachEntrypoint(t *testing.T) {
	m := wantManifest(t, `{`+head+`, "name": "hello", "entrypoints":
		{"default": "./d.js", "electron": "./e.js", "web": "", "go": "builtin:hello"}}`)
	require.Equal(t, Entrypoints{
		Default: new("./d.js"), Electron: new("./e.js"), Web: new(""), Go: new("builtin:hello"),
	}, m.Entrypoints)
}

func TestAIRI_reportsAllThatIsMissing(t *testing.T) {
	wantProblems(t, `{}`,
		`apiVersion: is missing: expected "v1"`,
		`kind: is missing: expected "manifest.plugin.airi.moeru.ai"`,
		`name: is missing: expected a string, the plugin's name`,
		`entrypoints: is missing: expected an object, e.g. {"node": "./plugin.mjs"}`)
}

func TestAIRI_reportsAllThatIsOfTheWrongType(t *testing.T) {
	wantProblems(t, `{"apiVersion": 1, "kind": "plugin", "name": null, "airi-host": [],
		"entrypoints": {"node": 5, "default": null, "electron": [], "web": {}, "go": false}}`,
		`apiVersion: expected "v1", found a number, 1`,
		`kind: expected "manifest.plugin.airi.moeru.ai", found "plugin"`,
		`name: expected a string, the plugin's name, found null`,
		`airi-host: expected an object, found an array`,
		`entrypoints.node: expected a string, a path relative to the manifest, found a number, 5`,
		`entrypoints.default: expected a string, a path relative to the manifest, found null`,
		`entrypoints.electron: expected a string, a path relative to the manifest, found an array`,
		`entrypoints.web: expected a string, a path relative to the manifest, found an object`,
		`entrypoints.go: expected a string, a path relative to the manifest, found a boolean, false`)
	wantProblems(t, `[]`, `expected an object, found an array`)
}

func TestAIRI_reportsMembersThatAppearTwice(t *testing.T) {
	wantProblems(t, `{`+head+`, "name": "a", "name": "b", "entrypoints": {"go": "builtin:a", "go": "x"}, "extra": [{"a": 1, "a": 1}]}`,
		"name: appears twice: keep one of them",
		"entrypoints.go: appears twice: keep one of them",
		"extra[0].a: appears twice: keep one of them")
}

// named returns a manifest of that name, which is JSON.
func named(name string) string {
	return strings.Replace(hello, `"hello"`, name, 1)
}

func TestAIRI_takesNamesThatADirectoryCanHave(t *testing.T) {
	for _, name := range []string{
		"hello", "a", "spaced name", "  kept as written ", "a.b-c_d@1", "名前", "a..b", "x-", "C:", strings.Repeat("x", maxName),
	} {
		data, err := json.Marshal(name)
		require.NoError(t, err)
		require.Equal(t, name, wantManifest(t, named(string(data))).Name)
	}
}

func TestAIRI_refusesNamesThatADirectoryCannotHave(t *testing.T) {
	const unsafe = `name: expected a name that can be a directory's, found `
	for name, want := range map[string]string{
		`""`:                                 `name: expected a name, found "": write one that no other plugin has`,
		`" \t\ufeff"`:                        `name: expected a name, found " \t\ufeff": write one that no other plugin has`,
		`"a/b"`:                              unsafe + `"a/b": remove "/", "\" and control characters`,
		`"a\\b"`:                             unsafe + `"a\\b": remove "/", "\" and control characters`,
		`"a\u0000"`:                          unsafe + `"a\x00": remove "/", "\" and control characters`,
		`"a\n"`:                              unsafe + `"a\n": remove "/", "\" and control characters`,
		`"a\u0085"`:                          unsafe + `"a\u0085": remove "/", "\" and control characters`,
		`"."`:                                unsafe + `".": remove the "." at its start`,
		`".."`:                               unsafe + `"..": remove the "." at its start`,
		`" .hidden"`:                         unsafe + `" .hidden": remove the "." at its start`,
		`"-rf"`:                              unsafe + `"-rf": remove the "-" at its start`,
		`"` + strings.Repeat("x", 129) + `"`: `name: expected at most 128 bytes, found 129: write a shorter name`,
		`"` + strings.Repeat("é", 65) + `"`:  `name: expected at most 128 bytes, found 130: write a shorter name`,
		`["hello"]`:                          `name: expected a string, the plugin's name, found an array`,
		`"` + strings.Repeat(" ", 128) + "a" + `"`: `name: expected at most 128 bytes, found 129: write a shorter name`,
	} {
		wantProblems(t, named(name), want)
	}
}

func TestAIRI_knowsItsManifests(t *testing.T) {
	for data, want := range map[string]struct {
		claims, wellKnown bool
		why               string
	}{
		hello: {claims: true, wellKnown: true},
		`{"kind": "Manifest.Plugin.AIRI.moeru.ai"}`:  {claims: true, wellKnown: true},
		`{"Kind": "manifest.plugin.airi.moeru.ai "}`: {claims: true, wellKnown: true},
		`{"entrypoints": {}}`:                        {wellKnown: true, why: "it has no kind"},
		`{"kind": "x", "entrypoints": {}}`:           {wellKnown: true, why: `its kind is "x"`},
		`{"kind": 5}`:                                {why: "its kind is a number, 5"},
		`{"airi-host": {}}`:                          {why: "it has no kind"},
		`["kind"]`:                                   {why: "it holds an array, not an object"},
	} {
		root, _, err := decodeText(data)
		require.NoError(t, err)
		claims, why := claimsAIRI(root, false)
		require.Equal(t, want.claims, claims, data)
		require.Equal(t, want.why, why, data)
		claims, why = claimsAIRI(root, true)
		require.Equal(t, want.wellKnown, claims, data)
		if claims {
			require.Empty(t, why, data)
		}
	}
}
