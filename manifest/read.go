package manifest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/internal/regular"
)

// The limits when [Options] say nothing.
const (
	// DefaultMaxBytes is the largest file that is read as a manifest.
	DefaultMaxBytes = 1 << 20
	// DefaultMaxFiles is how many directory entries are looked at below one path.
	DefaultMaxFiles = 10_000
)

// Options say how manifests are read. The zero value works.
type Options struct {
	// Runtime is the one whose entrypoint must be there; "" is Node.
	Runtime Runtime
	// Lookup returns a variable of the host's environment, for ${VAR} in
	// "airi-host".env; nil is os.LookupEnv. One that is set and empty is set.
	Lookup func(name string) (value string, set bool)
	// MaxBytes is the largest file in bytes; 0 or less is DefaultMaxBytes.
	MaxBytes int64
	// Evaluate returns what a manifest that is code says, as JSON: what the module
	// at the absolute path exports. It is code of the plugin that is run, so the
	// evaluator decides how, and bounds the time that it takes; package evaluate has
	// one. Nil is for nothing to be run: then what such a manifest says is not known,
	// which a note tells.
	Evaluate func(ctx context.Context, module string) ([]byte, error)
	// Builtins are the names of the plugins that are compiled into the host; nil is
	// for not knowing, and takes every name.
	Builtins []string
	// MaxFiles is how many directory entries Discover looks at below one path; 0
	// or less is DefaultMaxFiles.
	MaxFiles int
}

func (o Options) lookup() func(string) (string, bool) {
	if o.Lookup == nil {
		return os.LookupEnv
	}
	return o.Lookup
}

func (o Options) maxBytes() int64 {
	if o.MaxBytes <= 0 {
		return DefaultMaxBytes
	}
	return o.MaxBytes
}

func (o Options) maxFiles() int {
	if o.MaxFiles <= 0 {
		return DefaultMaxFiles
	}
	return o.MaxFiles
}

// Read reads one manifest: an AIRI manifest, the package.json of a Paperclip plugin, or
// the plugin.json of an elizaOS one. It reports every problem at once, also that a file which an entrypoint
// names is not there; the manifest is nil exactly when there is a problem. Nothing of
// the plugin is run, unless by [Options.Evaluate].
func Read(file string, opts Options) (*Manifest, Problems) {
	r := &reader{file: file, opts: opts}
	root, err := r.open()
	if err != nil {
		r.add("", "%v", err)
		return nil, r.all()
	}
	m := r.manifest(root)
	if problems := r.all(); len(problems) > 0 {
		return nil, problems
	}
	return m, nil
}

// open returns what the file holds, or why it cannot be read as JSON at all.
func (r *reader) open() (value, error) {
	data, err := load(r.file, r.opts.maxBytes())
	if err != nil {
		return value{}, err
	}
	return decode(data, func(at fieldPath, _ int) {
		r.add(at, "appears twice: keep one of them")
	})
}

// load returns a file's bytes.
func load(file string, limit int64) ([]byte, error) {
	data, info, err := regular.Read(file, limit)
	switch {
	case errors.Is(err, regular.ErrIrregular) && info != nil && info.IsDir():
		return nil, fmt.Errorf("is a directory: expected a manifest file, e.g. %s", filepath.Join(file, "plugin.json"))
	case errors.Is(err, regular.ErrIrregular):
		return nil, fmt.Errorf("%w: expected a manifest file", err)
	case errors.Is(err, regular.ErrTooLong):
		return nil, fmt.Errorf("expected at most %d bytes, found more: move what is long into a file of its own", limit)
	case err != nil:
		return nil, fmt.Errorf("%s: expected a manifest file", cause(err))
	}
	return data, nil
}

// manifest reads the whole manifest, of which only a part is filled where r has
// problems.
func (r *reader) manifest(root value) *Manifest {
	m := &Manifest{Dialect: DialectAIRI}
	r.locate(m)
	if claimsPaperclip(r.file, root) {
		m.Dialect = DialectPaperclip
		r.packageFile(root, m)
		return m
	}
	if claimsEliza(r.file, root) {
		m.Dialect = DialectEliza
		r.elizaManifest(root, m)
		return m
	}
	r.name = Problem{File: r.file, Field: "name"}
	airiShape.read(r, "", root, m)
	if root.kind == object {
		r.checkEntries(m)
	}
	return m
}

// locate fills in where the manifest is.
func (r *reader) locate(m *Manifest) {
	if abs, err := filepath.Abs(r.file); err != nil {
		r.add("", "the working directory is gone: %v", err)
	} else {
		m.File, m.Dir = abs, filepath.Dir(abs)
	}
}

// checkEntries looks at where the entrypoints lead: all of them must stay inside
// the plugin's directory, and the one that this host would run must be there.
func (r *reader) checkEntries(m *Manifest) {
	unclear := r.blames("entrypoints") || r.blames("airi-host.command")
	for _, e := range m.Entrypoints.paths() {
		if e.path == "" {
			continue // it ends the search, and is not looked for
		}
		if err := inside(m.Dir, e.path); err != nil {
			r.add(e.field, "%v", err)
		}
	}
	if unclear {
		return // what would be run is not known, or would be named twice
	}
	entry, problem := m.entry(r.opts.Runtime)
	if problem == nil {
		problem = r.unknownBuiltin(entry)
	}
	if problem != nil && !slices.ContainsFunc(r.problems, func(p Problem) bool { return p.Field == problem.Field }) {
		r.add(fieldPath(problem.Field), "%s", problem.Message)
	}
}

// unknownBuiltin is the problem of an entry that this host has not got.
func (r *reader) unknownBuiltin(e Entry) *Problem {
	if e.Builtin == "" || r.opts.Builtins == nil || slices.Contains(r.opts.Builtins, e.Builtin) {
		return nil
	}
	there := "none is"
	if len(r.opts.Builtins) > 0 {
		there = "expected one of " + strings.Join(r.opts.Builtins, ", ")
	}
	return &Problem{
		Field:   "entrypoints.go",
		Message: fmt.Sprintf("no plugin %s is compiled into this host: %s", quote(e.Builtin), there),
	}
}
