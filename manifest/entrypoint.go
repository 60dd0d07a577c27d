package manifest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
)

// Runtime says which of a plugin's entrypoints fits.
type Runtime string

// The runtimes that an AIRI manifest can name an entrypoint for.
const (
	// Node is this host's own, and the default.
	Node     Runtime = "node"
	Electron Runtime = "electron"
	Web      Runtime = "web"
)

// Entry is what to run for a plugin. Exactly one of its fields is set.
type Entry struct {
	// Builtin is the name of a plugin compiled into the host.
	Builtin string
	// Command is the program and its arguments. The program is an absolute path,
	// or a bare name to be looked for in PATH.
	Command []string
	// Path is the absolute path of a file for the ecosystem's runtime to load.
	Path string
}

// Entrypoint says what to run: the built-in that entrypoints.go names, else the
// command of "airi-host", else the file that entrypoints name for the runtime, for
// any ("default"), or for Electron, in this order ("" is Node). What it returns
// exists as a regular file, inside Dir unless a command says otherwise. Of a
// Paperclip or an elizaOS plugin it is the command or the worker's file, for every
// runtime.
//
// When no entrypoint can be chosen the error is in the reference host's words,
// since peers compare them; any other names file and field.
func (m *Manifest) Entrypoint(rt Runtime) (Entry, error) {
	entry, problem := m.entry(rt)
	switch {
	case problem == nil:
		return entry, nil
	case problem.Field == "entrypoints":
		return Entry{}, errors.New(problem.Message)
	case m.File == "":
		problem.File = fmt.Sprintf("plugin %s", m.PluginName())
	case m.Paperclip != nil && m.Paperclip.Raw != nil:
		problem.File = m.Paperclip.Module
	default:
		problem.File = m.File
	}
	return Entry{}, *problem
}

// entry is Entrypoint with a problem that does not name the file.
func (m *Manifest) entry(rt Runtime) (Entry, *Problem) {
	switch {
	case m.Entrypoints.Go != nil && len(m.Host.Command) > 0:
		return Entry{}, &Problem{Field: "airi-host.command", Message: "entrypoints.go says already what to run: keep one of them"}
	case m.Entrypoints.Go != nil:
		name, ok := strings.CutPrefix(*m.Entrypoints.Go, "builtin:")
		if !ok || strings.TrimSpace(name) == "" {
			return Entry{}, &Problem{Field: "entrypoints.go", Message: fmt.Sprintf(`expected "builtin:NAME", a plugin compiled into the host, found %s`, quote(*m.Entrypoints.Go))}
		}
		return Entry{Builtin: name}, nil
	case len(m.Host.Command) > 0:
		return m.command()
	case m.Paperclip != nil:
		return m.worker()
	case m.Eliza != nil:
		return m.path("worker.relativePath", m.Eliza.Worker)
	}
	return m.file(rt)
}

// command returns the program to run, which starts from Dir when it is a relative
// path. A bare name is left to whoever starts it, with the environment it gets.
func (m *Manifest) command() (Entry, *Problem) {
	const field = "airi-host.command[0]"
	program := m.Host.Command[0]
	if !strings.ContainsAny(program, `/\`) {
		return Entry{Command: slices.Clone(m.Host.Command)}, nil
	}
	if !filepath.IsAbs(program) {
		if err := inside(m.Dir, program); err != nil {
			return Entry{}, &Problem{Field: field, Message: err.Error()}
		}
		program = filepath.Join(m.Dir, program)
	}
	if err := isFile(program, m.Host.Command[0]); err != nil {
		return Entry{}, &Problem{Field: field, Message: err.Error()}
	}
	if info, err := os.Stat(program); err == nil && info.Mode()&0o111 == 0 && runtime.GOOS != "windows" {
		return Entry{}, &Problem{Field: field, Message: fmt.Sprintf("%s is not executable: chmod +x it", quote(m.Host.Command[0]))}
	}
	return Entry{Command: append([]string{program}, m.Host.Command[1:]...)}, nil
}

// file returns the file to load in a runtime.
func (m *Manifest) file(rt Runtime) (Entry, *Problem) {
	if rt == "" {
		rt = Node
	}
	field, entry := m.Entrypoints.choose(rt)
	if entry == "" {
		return Entry{}, &Problem{Field: "entrypoints", Message: fmt.Sprintf("Plugin entrypoint is required for runtime `%s`. "+
			"Define one of `entrypoints.<runtime>`, `entrypoints.default`, or `entrypoints.electron` in the plugin manifest.", rt)}
	}
	return m.path(field, entry)
}

// worker returns the file of a Paperclip plugin's worker.
func (m *Manifest) worker() (Entry, *Problem) {
	field := fieldPath("entrypoints.worker")
	if m.Paperclip.Raw == nil && m.Paperclip.Module != "" {
		field = "paperclipPlugin.worker"
	}
	if m.Paperclip.Worker == "" {
		return Entry{}, &Problem{Field: string(field), Message: "is missing: expected the path of the worker's file"}
	}
	return m.path(field, m.Paperclip.Worker)
}

// path returns the file that a field names.
func (m *Manifest) path(field fieldPath, name string) (Entry, *Problem) {
	if err := inside(m.Dir, name); err != nil {
		return Entry{}, &Problem{Field: string(field), Message: err.Error()}
	}
	file := filepath.Join(m.Dir, name)
	if err := isFile(file, name); err != nil {
		return Entry{}, &Problem{Field: string(field), Message: err.Error()}
	}
	return Entry{Path: file}, nil
}

// candidate is an entrypoint that is a path, and the field it stands in.
type candidate struct {
	field fieldPath
	path  string
}

// paths returns the entrypoints that are there and are paths.
func (e Entrypoints) paths() []candidate {
	var all []candidate
	for _, one := range []struct {
		name string
		path *string
	}{{"default", e.Default}, {"electron", e.Electron}, {"node", e.Node}, {"web", e.Web}} {
		if one.path != nil {
			all = append(all, candidate{fieldPath("entrypoints").member(one.name), *one.path})
		}
	}
	return all
}

// choose returns the entrypoint for a runtime. As in the reference host the first
// one that is there counts, even an empty one, which then means that none is.
func (e Entrypoints) choose(rt Runtime) (field fieldPath, entry string) {
	all := e.paths()
	for _, name := range []string{string(rt), "default", "electron"} {
		for _, c := range all {
			if c.field == fieldPath("entrypoints").member(name) {
				return c.field, c.path
			}
		}
	}
	return "", ""
}

// inside tells whether a path that a manifest names stays inside the manifest's
// directory, as written and, as far as it exists, with all links followed.
func inside(dir, name string) error {
	switch {
	case strings.Contains(name, "://"):
		return fmt.Errorf(`expected a path relative to the manifest, e.g. "./plugin.mjs", found the URL %s`, quote(name))
	case strings.ContainsRune(name, '\\'):
		return fmt.Errorf(`expected a path with "/" between its parts, found %s`, quote(name))
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("expected a path without control characters, found %s", quote(name))
	case !filepath.IsLocal(name):
		return fmt.Errorf("expected a path inside the manifest's directory, found %s: move the file there and write a relative path", quote(name))
	case !filepath.IsAbs(dir):
		return fmt.Errorf("no absolute directory to find %s in, found %s: set Dir", quote(name), quote(dir))
	}
	return linksInside(dir, name)
}

// linksInside is the part of inside that looks at the links. What does not exist is
// isFile's to report.
func linksInside(dir, name string) error {
	realDir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil
	}
	target, err := filepath.EvalSymlinks(filepath.Join(dir, name))
	if err != nil {
		return nil
	}
	if rel, err := filepath.Rel(realDir, target); err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("expected a path inside the manifest's directory, found %s, a link to %s: put the file itself there", quote(name), printable(target))
	}
	return nil
}

// isFile tells whether a file is there and regular. name is the path as the manifest
// has it.
func isFile(file, name string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return fmt.Errorf("%s %s: build the plugin or correct the path", quote(name), cause(err))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file: name the file that holds the plugin's code", quote(name))
	}
	return nil
}
