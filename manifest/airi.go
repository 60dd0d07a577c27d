package manifest

import (
	"strings"
	"unicode"
)

// airiShape is the reference host's manifestV1Schema, and the object "airi-host".
// As there, unknown members are ignored.
var airiShape = shape[Manifest]{
	open: true,
	fields: []field[Manifest]{
		{"apiVersion", `"` + APIVersionAIRI + `"`, literal(func(m *Manifest) *string { return &m.APIVersion }, APIVersionAIRI)},
		{"kind", `"` + KindAIRI + `"`, literal(func(m *Manifest) *string { return &m.Kind }, KindAIRI)},
		{"name", "a string, the plugin's name", readName},
		{"entrypoints", `an object, e.g. {"node": "./plugin.mjs"}`, func(r *reader, at fieldPath, v value, m *Manifest) {
			entrypointsShape.read(r, at, v, &m.Entrypoints)
		}},
		{"airi-host", "", func(r *reader, at fieldPath, v value, m *Manifest) {
			hostShape.read(r, at, v, &m.Host)
		}},
	},
}

var entrypointsShape = shape[Entrypoints]{
	open: true,
	fields: []field[Entrypoints]{
		{"default", "", entrypoint(func(e *Entrypoints) **string { return &e.Default })},
		{"electron", "", entrypoint(func(e *Entrypoints) **string { return &e.Electron })},
		{"node", "", entrypoint(func(e *Entrypoints) **string { return &e.Node })},
		{"web", "", entrypoint(func(e *Entrypoints) **string { return &e.Web })},
		{"go", "", entrypoint(func(e *Entrypoints) **string { return &e.Go })},
	},
}

// entrypoint reads a string, which may be empty; where it leads is looked at when
// the whole manifest is read.
func entrypoint(to func(*Entrypoints) **string) func(*reader, fieldPath, value, *Entrypoints) {
	return func(r *reader, at fieldPath, v value, into *Entrypoints) {
		if r.expect(at, v, text, "a string, a path relative to the manifest") {
			*to(into) = new(v.text)
		}
	}
}

// maxName is the longest name in bytes: with an instance's number behind it, it
// must still do as the name of a file.
const maxName = 128

// readName reads a name. The reference host takes any string and makes "plugin" of
// a blank one; here a name is the identity, and a directory is called after it.
func readName(r *reader, at fieldPath, v value, m *Manifest) {
	if !r.expect(at, v, text, "a string, the plugin's name") {
		return
	}
	trimmed := strings.TrimFunc(v.text, isBlank)
	switch {
	case trimmed == "":
		r.add(at, "expected a name, found %s: write one that no other plugin has", v.found())
	case len(v.text) > maxName:
		r.add(at, "expected at most %d bytes, found %d: write a shorter name", maxName, len(v.text))
	case strings.ContainsAny(v.text, `/\`), strings.ContainsFunc(v.text, unicode.IsControl):
		r.add(at, `expected a name that can be a directory's, found %s: remove "/", "\" and control characters`, v.found())
	case trimmed[0] == '.', trimmed[0] == '-':
		r.add(at, `expected a name that can be a directory's, found %s: remove the "%c" at its start`, v.found(), trimmed[0])
	default:
		m.Name = v.text
	}
}

// claimsAIRI tells whether a file means to be an AIRI manifest, right or wrong, and
// if not, why. wellKnown is true for a file that is named as manifests are: there, a
// member "entrypoints" is claim enough.
func claimsAIRI(root value, wellKnown bool) (claims bool, why string) {
	if root.kind != object {
		return false, "it holds " + root.found() + ", not an object"
	}
	for _, m := range root.members {
		if alike(m.name, "kind") && strings.Contains(strings.ToLower(m.value.text), "plugin.airi") {
			return true, ""
		}
	}
	if wellKnown && root.has("entrypoints") {
		return true, ""
	}
	if kind, ok := root.get("kind"); ok {
		return false, "its kind is " + kind.found()
	}
	return false, "it has no kind"
}
