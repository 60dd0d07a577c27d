package manifest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// packageFile is what this host reads of a Paperclip plugin's package.json.
type packageFile struct {
	name                 string
	manifest, worker, ui string
	dependencies         []string
	// builds tells that there is a script "build".
	builds bool
}

var packageShape = shape[packageFile]{
	open: true,
	fields: []field[packageFile]{
		{
			"paperclipPlugin", `an object, e.g. {"manifest": "./dist/manifest.js", "worker": "./dist/worker.js"}`,
			func(r *reader, at fieldPath, v value, p *packageFile) { filesShape.read(r, at, v, p) },
		},
		{"name", "", func(_ *reader, _ fieldPath, v value, p *packageFile) { p.name = v.text }},
		{"dependencies", "", func(_ *reader, _ fieldPath, v value, p *packageFile) {
			for _, m := range v.members {
				p.dependencies = append(p.dependencies, m.name)
			}
		}},
		{"scripts", "", func(_ *reader, _ fieldPath, v value, p *packageFile) { p.builds = v.word("build") != "" }},
	},
}

// filesShape is the object "paperclipPlugin". As in the reference host, the worker
// that runs is the one that the manifest names.
var filesShape = shape[packageFile]{
	open: true,
	fields: []field[packageFile]{
		must[packageFile]("manifest", packagePath).keep(func(p *packageFile) *string { return &p.manifest }),
		may[packageFile]("worker", packagePath).keep(func(p *packageFile) *string { return &p.worker }),
		may[packageFile]("ui", packagePath).keep(func(p *packageFile) *string { return &p.ui }),
	},
}

var packagePath = is("a path relative to package.json", func(v value) bool { return v.kind == text && v.text != "" })

// claimsPaperclip tells whether a file means to be a Paperclip plugin's package.json.
func claimsPaperclip(file string, root value) bool {
	return filepath.Base(file) == "package.json" && root.hasAlike("paperclipPlugin")
}

// packageFile reads a package.json and the manifest module that it names.
func (r *reader) packageFile(root value, m *Manifest) {
	var p packageFile
	packageShape.read(r, "", root, &p)
	m.Paperclip = &Paperclip{Worker: p.worker, UI: p.ui}
	r.checkDependencies(m, p)
	for _, one := range []candidate{{"manifest", p.manifest}, {"worker", p.worker}, {"ui", p.ui}} {
		r.checkInside(fieldPath("paperclipPlugin").member(string(one.field)), m.Dir, one.path)
	}
	module := &reader{file: filepath.Join(filepath.Dir(r.file), p.manifest), opts: r.opts}
	if p.manifest != "" && !r.blames("paperclipPlugin.manifest") && r.isBuilt("paperclipPlugin.manifest", m, p, p.manifest) {
		m.Paperclip.Module = filepath.Join(m.Dir, p.manifest)
		r.name = Problem{File: module.file, Field: "id"}
		r.evaluate(module, m, p)
	}
	if p.worker != "" && len(m.Host.Command) == 0 && !r.blames("paperclipPlugin.worker") {
		r.isBuilt("paperclipPlugin.worker", m, p, p.worker)
	}
	module.checkWorker(m, p)
	r.take(module)
}

// checkInside notes a path that leads out of the plugin's directory; "" is none.
func (r *reader) checkInside(at fieldPath, dir, path string) {
	if path == "" {
		return
	}
	if err := inside(dir, path); err != nil {
		r.add(at, "%v", err)
	}
}

// isBuilt tells whether a file of the package is there, and notes when it is not,
// with the command that makes it.
func (r *reader) isBuilt(at fieldPath, m *Manifest, p packageFile, path string) bool {
	file := filepath.Join(m.Dir, path)
	err := isFile(file, path)
	_, gone := os.Stat(file)
	switch {
	case err == nil:
		return true
	case p.builds && errors.Is(gone, fs.ErrNotExist):
		r.add(at, `%s does not exist: run "npm run build" in %s`, quote(path), printable(filepath.Dir(r.file)))
	default:
		r.add(at, "%v", err)
	}
	return false
}

// evaluate has the module evaluated and reads what it says.
func (r *reader) evaluate(module *reader, m *Manifest, p packageFile) {
	if r.opts.Evaluate == nil {
		r.name = Problem{File: r.file, Field: "name"}
		if m.Name = p.name; m.PluginName() == "" {
			m.Name = filepath.Base(m.Dir)
		}
		r.notes = append(r.notes, Note{module.file, "not checked: it is code that was not to be run"})
		return
	}
	data, err := r.opts.Evaluate(context.Background(), m.Paperclip.Module)
	switch limit := r.opts.maxBytes(); {
	case err != nil:
		module.add("", "%v", err)
	case int64(len(data)) > limit:
		module.add("", "expected at most %d bytes, found %d: move what is long into a file of its own", limit, len(data))
	default:
		module.evaluated(data, m)
		r.notes = append(r.notes, module.notes...)
	}
}

// evaluated reads what a manifest module says.
func (r *reader) evaluated(data []byte, m *Manifest) {
	root, err := decode(data, func(at fieldPath, _ int) { r.add(at, "appears twice: keep one of them") })
	if err != nil {
		r.add("", "%v", err)
		return
	}
	if !r.expect("", root, object, "an object, the manifest") {
		return
	}
	files := *m.Paperclip
	m.Paperclip.Raw, m.Paperclip.Worker, m.Paperclip.UI = root.raw, "", ""
	paperclipShape.read(r, "", root, m)
	if m.Paperclip.UI == "" {
		m.Paperclip.UI = files.UI
	}
	m.APIVersion = APIVersionPaperclip
	if !r.blames("id") {
		m.Name = m.Paperclip.ID
	}
}

// checkWorker notes where the manifest's own paths lead elsewhere, and that what
// would run is not there, unless package.json was blamed for the same file.
func (r *reader) checkWorker(m *Manifest, p packageFile) {
	if m.Paperclip.Raw == nil {
		return
	}
	r.checkInside("entrypoints.worker", m.Dir, m.Paperclip.Worker)
	r.checkInside("entrypoints.ui", m.Dir, m.Paperclip.UI)
	named := p.worker != "" && filepath.Clean(p.worker) == filepath.Clean(m.Paperclip.Worker)
	if named && len(m.Host.Command) == 0 || r.blames("entrypoints") || r.blames("airi-host.command") {
		return
	}
	if _, problem := m.entry(r.opts.Runtime); problem != nil {
		r.add(fieldPath(problem.Field), "%s", problem.Message)
	}
}

// checkDependencies notes the dependencies that Node would not find, which are looked
// for as Node does: in node_modules here and above, links followed.
func (r *reader) checkDependencies(m *Manifest, p packageFile) {
	dir, err := filepath.EvalSymlinks(m.Dir)
	if err != nil {
		return
	}
	absent := slices.DeleteFunc(p.dependencies, func(name string) bool { return isInstalled(dir, name) })
	if len(absent) == 0 {
		return
	}
	what := quote(absent[0])
	if len(absent) > 1 {
		what = fmt.Sprintf("%s and %d more", what, len(absent)-1)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		what = "there is no node_modules: " + what
	}
	r.add("dependencies", `%s cannot be found: run "npm install" in %s`, what, printable(filepath.Dir(r.file)))
}

// isInstalled tells whether a package is in the node_modules of a directory or of one
// above it. Of a name that leads elsewhere it says yes: npm knows better.
func isInstalled(dir, name string) bool {
	if !filepath.IsLocal(name) {
		return true
	}
	for {
		if info, err := os.Stat(filepath.Join(dir, "node_modules", name)); err == nil && info.IsDir() {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}
