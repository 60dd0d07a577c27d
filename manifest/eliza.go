package manifest

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// Eliza is what the manifest of an elizaOS remote plugin says in its ecosystem's own
// words.
type Eliza struct {
	// Raw is the whole manifest as JSON, as the ecosystem's own reader leaves it: without
	// unknown members, with the isolation that holds. A worker is given it at its birth.
	Raw json.RawMessage
	// ID is the plugin's identity, and Manifest.Name.
	ID string
	// Title is its "name", for people; like the version and the description it is kept
	// as written.
	Title, Version, Description string
	// Mode is "window" or "background". It makes no difference to a worker.
	Mode string
	// Permissions are what the plugin asks to be permitted.
	Permissions ElizaPermissions
	// Worker is the path of the worker's file, relative to Manifest.Dir.
	Worker string
}

// Grants are the tags of the permissions that the plugin asks for. How its worker is
// kept apart is none of them: here it is always the same.
func (e *Eliza) Grants() []string {
	return slices.DeleteFunc(e.Permissions.Tags(), func(tag string) bool { return strings.HasPrefix(tag, "isolation:") })
}

// How a worker is kept apart from its host.
const (
	// IsolationShared is a thread of the host's own runtime. Here such a worker runs in a
	// process of its own all the same.
	IsolationShared = "shared-worker"
	// IsolationProcess is a process of its own.
	IsolationProcess = "isolated-process"
)

// elizaFile is the name that the manifests of remote plugins have.
const elizaFile = "plugin.json"

// claimsEliza tells whether a file means to be an elizaOS manifest, right or wrong: it
// has its name, and two of the members that no other manifest has.
func claimsEliza(file string, root value) bool {
	if filepath.Base(file) != elizaFile || root.has("kind") || root.has("entrypoints") {
		return false
	}
	own := 0
	for _, name := range []string{"mode", "permissions", "view", "worker", "remoteUIs"} {
		if root.has(name) {
			own++
		}
	}
	return own >= 2
}

// elizaManifest reads a remote plugin's manifest.
func (r *reader) elizaManifest(root value, m *Manifest) {
	r.name = Problem{File: r.file, Field: "id"}
	m.Eliza = &Eliza{}
	for _, issue := range elizaIssues(root) {
		r.add(issue.at, "%s", issue.String())
	}
	if root.kind != object {
		return
	}
	elizaOwn.read(r, "", root, m)
	m.Eliza.take(root)
	r.checkElizaID(m)
	r.checkElizaPaths(root, m)
}

// elizaOwn reports members that look like a known one, and reads this host's own. What
// the ecosystem's members must be is elizaIssues' to say.
var elizaOwn = shape[Manifest]{open: true, fields: append(
	[]field[Manifest]{{"airi-host", "", func(r *reader, at fieldPath, v value, m *Manifest) {
		hostShape.read(r, at, v, &m.Host)
	}}}, known[Manifest]("id", "name", "version", "description", "mode", "permissions", "view", "worker", "dependencies", "remoteUIs")...)}

// known are members that something else reads.
func known[T any](names ...string) []field[T] {
	fields := make([]field[T], len(names))
	for i, name := range names {
		fields[i] = field[T]{name: name, read: func(*reader, fieldPath, value, *T) {}}
	}
	return fields
}

// take keeps what a host needs of a manifest.
func (e *Eliza) take(root value) {
	e.ID, e.Title, e.Version = root.word("id"), root.word("name"), root.word("version")
	e.Description, e.Mode, e.Worker = root.word("description"), root.word("mode"), root.at("worker").word("relativePath")
	e.Permissions = elizaPermissionsOf(root.at("permissions"))
	e.Raw = normalManifest(root)
}

// checkElizaID asks of an id what the ecosystem does not: logs and state are kept by it.
func (r *reader) checkElizaID(m *Manifest) {
	id := m.Eliza.ID
	switch {
	case r.blames("id"):
		return
	case len(id) > maxName:
		r.add("id", "expected at most %d bytes, found %d: write a shorter id", maxName, len(id))
	case id[0] == '-':
		r.add("id", `expected an id that can be a directory's name, found %s: remove the "-" at its start`, quote(id))
	default:
		m.Name = id
	}
}

// checkElizaPaths notes paths that lead out of the plugin's directory, and that what
// would run is not there.
func (r *reader) checkElizaPaths(root value, m *Manifest) {
	check := func(at fieldPath, path string) {
		if !r.blames(at) {
			r.checkInside(at, m.Dir, path)
		}
	}
	check("view.relativePath", root.at("view").word("relativePath"))
	for _, ui := range root.at("remoteUIs").members {
		check(fieldPath("remoteUIs").member(ui.name).member("path"), ui.value.word("path"))
	}
	check("worker.relativePath", m.Eliza.Worker)
	if r.blames("worker") || r.blames("airi-host.command") {
		return
	}
	if _, problem := m.entry(r.opts.Runtime); problem != nil {
		r.add(fieldPath(problem.Field), "%s", problem.Message)
	}
}

// normalManifest is a manifest as the ecosystem's own reader leaves it, in its order.
func normalManifest(root value) json.RawMessage {
	w := objectWriter{}
	for _, name := range []string{"id", "name", "version", "description", "mode", "dependencies"} {
		w.keep(root, name)
	}
	w.add("permissions", normalPermissions(root.at("permissions")))
	view := objectWriter{}
	for _, name := range []string{"relativePath", "title", "width", "height", "hidden", "titleBarStyle", "transparent"} {
		view.keep(root.at("view"), name)
	}
	w.add("view", view.done())
	worker := objectWriter{}
	worker.keep(root.at("worker"), "relativePath")
	w.add("worker", worker.done())
	if uis, ok := root.get("remoteUIs"); ok {
		all := objectWriter{}
		for _, ui := range uis.members {
			one := objectWriter{}
			one.keep(ui.value, "name")
			one.keep(ui.value, "path")
			all.add(ui.name, one.done())
		}
		w.add("remoteUIs", all.done())
	}
	return w.done()
}

func normalPermissions(v value) json.RawMessage {
	w := objectWriter{}
	w.keep(v, "host")
	w.keep(v, "bun")
	isolation := v.word("isolation")
	if isolation == "" {
		isolation = IsolationShared
	}
	w.text("isolation", isolation)
	return w.done()
}

// objectWriter writes an object member by member.
type objectWriter struct{ b []byte }

func (w *objectWriter) add(name string, value json.RawMessage) {
	key, _ := json.Marshal(name) // a string
	w.b = append(append(append(append(w.b, ','), key...), ':'), value...)
}

func (w *objectWriter) text(name, value string) {
	raw, _ := json.Marshal(value) // a string
	w.add(name, raw)
}

// keep adds a member of another object, if it is there.
func (w *objectWriter) keep(of value, name string) {
	if v, ok := of.get(name); ok {
		w.add(name, v.raw)
	}
}

func (w *objectWriter) done() json.RawMessage {
	if len(w.b) == 0 {
		return json.RawMessage("{}")
	}
	w.b[0] = '{'
	return append(w.b, '}')
}

// isID tells whether the segments between dots are ASCII letters, digits, "_" and "-",
// and none is empty.
func isID(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
		}) {
			return false
		}
	}
	return true
}
