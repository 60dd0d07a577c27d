package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/internal/regular"
)

// Found is what Discover found.
type Found struct {
	// Manifests are the good ones, in the order of the paths, then of the files'
	// names. No two have one PluginName.
	Manifests []*Manifest
	// Problems are those of all other manifests and of the paths themselves.
	Problems Problems
	// Notes say what was passed over, and what of the good ones is not checked.
	Notes []Note
}

// Note is what whoever looks for a manifest has to know, and is no problem.
type Note struct {
	// File is the path, starting with the one that was given.
	File string
	// Message is what is to be known: that the file was passed over, and why, or what
	// of it is not checked.
	Message string
}

// String returns one line, "FILE: the message".
func (n Note) String() string { return printable(n.File) + ": " + n.Message }

// Discover finds and reads the manifests at and below the paths. A path is
//
//   - a file: that manifest;
//   - a directory that holds manifests: all of them, one plugin each;
//   - any other directory: the manifests that its direct sub-directories hold, in
//     the order of their names. Hidden ones and node_modules are passed over, links
//     are followed, and no manifest is read twice.
//
// A manifest is a file *.json whose kind is [KindAIRI], or means to be, a package.json
// with a member "paperclipPlugin", or a plugin.json that has two of the members mode,
// permissions, view, worker and remoteUIs. Other JSON files get a note, but for
// those beside such a package.json; one called plugin.json or manifest.json is a
// problem when it cannot be read. A path that does not exist or holds no plugin is a problem.
//
// Of two plugins with one name the first stays and the second is a problem, whether
// or not the first one is good: a name is an identity, so it does not move on.
func Discover(paths []string, opts Options) Found {
	f := &finder{opts: opts, read: map[string]bool{}, files: map[string]string{}}
	for _, p := range paths {
		f.path(p)
	}
	return f.found
}

// finder is the state of one Discover.
type finder struct {
	opts  Options
	found Found
	// read has the real path of each manifest that was read.
	read map[string]bool
	// files has the file of each plugin's name.
	files map[string]string
	// skipped are the files of the current directory that are no manifests.
	skipped []Note
	// left is how many entries may still be looked at below the current path;
	// below 0 when there were more.
	left int
}

func (f *finder) problem(file, message string) {
	f.found.Problems = append(f.found.Problems, Problem{File: file, Message: message})
}

func (f *finder) note(file, message string) {
	f.found.Notes = append(f.found.Notes, Note{File: file, Message: passedOver + message})
}

// passedOver begins the notes about files that are not taken.
const passedOver = "passed over: "

func (f *finder) skip(file, message string) {
	f.skipped = append(f.skipped, Note{File: file, Message: passedOver + message})
}

// path finds what one path leads to.
func (f *finder) path(p string) {
	info, err := os.Stat(p)
	switch {
	case err != nil:
		f.problem(p, cause(err)+": expected a manifest, or a directory of plugins")
	case info.IsDir():
		f.left = f.opts.maxFiles()
		f.directory(p)
	case f.again(p):
	default:
		r := &reader{file: p, opts: f.opts}
		root, err := r.open()
		f.take(r, root, err)
	}
}

// directory finds the manifests in a directory, or else in its sub-directories.
func (f *finder) directory(dir string) {
	problems, notes := len(f.found.Problems), len(f.found.Notes)
	subs, held := f.manifests(dir)
	if held {
		return
	}
	for _, sub := range subs {
		if _, ok := f.manifests(sub); ok {
			held = true
		}
	}
	switch {
	case held, len(f.found.Problems) > problems: // what is to be said is said
	case len(f.found.Notes) > notes:
		f.problem(dir, noPlugin+"; "+f.found.Notes[notes].String())
		f.found.Notes = slices.Delete(f.found.Notes, notes, notes+1) // it is said once
	default:
		f.problem(dir, noPlugin)
	}
}

// noPlugin is the problem of a directory without any.
const noPlugin = `holds no plugin: expected a file *.json with "kind": "` + KindAIRI + `", a package.json with "paperclipPlugin", or elizaOS's plugin.json, in it or in one of its direct sub-directories`

// manifests reads the manifests that a directory holds directly and returns its
// sub-directories.
func (f *finder) manifests(dir string) (subs []string, held bool) {
	isPackage := false
	f.skipped = nil
	for _, entry := range f.list(dir) {
		full := filepath.Join(dir, entry.Name())
		switch {
		case isDirectory(full, entry):
			if !strings.HasPrefix(entry.Name(), ".") && entry.Name() != "node_modules" {
				subs = append(subs, full)
			}
		case filepath.Ext(entry.Name()) == ".json":
			if f.again(full) || f.examine(full) {
				held = true
				isPackage = isPackage || entry.Name() == "package.json"
			}
		}
	}
	if !isPackage { // else nobody takes its other files for manifests: a lock file, a compiler's settings
		f.found.Notes = append(f.found.Notes, f.skipped...)
	}
	return subs, held
}

// list returns a directory's entries by name, as far as the limit allows.
func (f *finder) list(dir string) []fs.DirEntry {
	if f.left < 0 {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		f.problem(dir, cause(err)+": expected a directory of plugins")
		return nil
	}
	defer func() { _ = d.Close() }() // it was only read
	var all []fs.DirEntry
	for err == nil && f.left >= 0 {
		var some []fs.DirEntry
		some, err = d.ReadDir(min(f.left+1, 1024))
		f.left -= len(some)
		all = append(all, some...)
	}
	switch {
	case f.left < 0:
		all = all[:len(all)-1] // the one that told
		f.problem(dir, "the limit of files to look at is reached here: not all plugins were found; name the plugins' own directories, or raise the limit")
	case !errors.Is(err, io.EOF):
		f.problem(dir, cause(err)+": expected a directory of plugins")
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all
}

// isDirectory tells whether an entry is a directory or a link to one.
func isDirectory(full string, entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return entry.IsDir()
	}
	info, err := os.Stat(full)
	return err == nil && info.IsDir()
}

// again tells whether a file is a manifest that was read before, perhaps under
// another name.
func (f *finder) again(file string) bool {
	again := f.read[realPath(file)]
	if again {
		f.note(file, "it was read before, by this or another name")
	}
	return again
}

// examine reads a JSON file of a directory and tells whether it is a manifest.
func (f *finder) examine(file string) bool {
	r := &reader{file: file, opts: f.opts}
	base := filepath.Base(file)
	wellKnown := base == "plugin.json" || base == "manifest.json"
	root, err := r.open()
	if err != nil && !wellKnown && !meansPaperclip(file) {
		f.skip(file, "it cannot be read as JSON: "+err.Error())
		return false
	}
	if claims, why := claimsAIRI(root, wellKnown); err == nil && !claims && !claimsPaperclip(file, root) && !claimsEliza(file, root) {
		if base == "package.json" {
			why = `it has no "paperclipPlugin"`
		}
		f.skip(file, "it is no manifest that this host reads: "+why)
		return false
	}
	f.take(r, root, err)
	return true
}

// meansPaperclip tells whether a package.json that cannot be read was meant to be a
// plugin's.
func meansPaperclip(file string) bool {
	if filepath.Base(file) != "package.json" {
		return false
	}
	f, _, err := regular.Open(file)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	text, _ := io.ReadAll(io.LimitReader(f, 1<<20))
	return bytes.Contains(text, []byte(`"paperclipPlugin"`))
}

// take takes a file that is, or ought to be, a manifest: what it holds, or why that
// cannot be read.
func (f *finder) take(r *reader, root value, err error) {
	f.read[realPath(r.file)] = true
	var m *Manifest
	if err != nil {
		r.add("", "%v", err)
	} else {
		m = r.manifest(root)
		f.claimName(r, m)
	}
	problems := r.all()
	f.found.Problems = append(f.found.Problems, problems...)
	f.found.Notes = append(f.found.Notes, r.notes...)
	if len(problems) == 0 {
		f.found.Manifests = append(f.found.Manifests, m)
	}
}

// claimName notes a problem when the plugin's name is taken.
func (f *finder) claimName(r *reader, m *Manifest) {
	name := m.PluginName()
	first, taken := f.files[name]
	switch {
	case name == "":
	case taken:
		taken := r.name
		taken.Message = fmt.Sprintf("the name %s is taken by %s: a name is unique in a host, change one of them", quote(name), printable(first))
		r.problems = append(r.problems, taken)
	default:
		f.files[name] = r.name.File
	}
}

// realPath returns a file's path with all links followed, or the path itself where
// that cannot be told.
func realPath(file string) string {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	if abs, err := filepath.Abs(file); err == nil {
		return abs
	}
	return file
}
