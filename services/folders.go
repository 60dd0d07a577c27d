package services

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// Folders are the folders of this machine that plugins may use, and the limits on what
// they do there. The zero value declares none.
type Folders struct {
	// Declared returns the folder of a plugin's key for a company, and false where the
	// operator has declared none. It is asked at every call. Nil declares none.
	Declared func(plugin, company, key string) (Folder, bool)
	// FileBytes is how long a file may be that is read or written; 0 means 10 MiB.
	FileBytes int64
	// Files and Bytes are how many files a folder may hold that a plugin writes to,
	// directories included, and how long they may be together; 0 means 10,000 and 1 GiB.
	// Whoever else writes there is not held to it.
	Files int
	Bytes int64
	// AtOnce is how many calls of one plugin may run at a time; 0 means 16.
	AtOnce int
}

// Folder is a folder that an operator has declared.
type Folder struct {
	// Path is absolute. What it leads to is the folder, if it is a link.
	Path string
	// ReadOnly lets nothing be written or deleted.
	ReadOnly bool
	// Directories and Files are what the plugin says that it needs in there, with
	// slashes. The host makes the directories, when localFolders.configure asks and
	// before it writes.
	Directories, Files []string
}

// folderService serves localFolders.*. It works inside an [os.Root], which no path
// leaves, and follows no link inside.
type folderService struct {
	limits Folders
	slots  *slots
	// writing is held while a folder is written to: its limits are looked at before.
	writing *locks
}

func newFolderService(o Folders) *folderService {
	o.FileBytes, o.Bytes = orDefault(o.FileBytes, 10<<20), orDefault(o.Bytes, 1<<30)
	o.Files = orDefault(o.Files, 10_000)
	return &folderService{limits: o, slots: newSlots(orDefault(o.AtOnce, 16)), writing: &locks{held: map[string]*held{}}}
}

func (s *folderService) services() map[string]protocol.Service {
	return map[string]protocol.Service{
		"localFolders.configure":       s.method(s.configure),
		"localFolders.status":          s.method(s.status),
		"localFolders.list":            s.method(s.list),
		"localFolders.readText":        s.method(s.readText),
		"localFolders.writeTextAtomic": s.method(s.writeText),
		"localFolders.deleteFile":      s.method(s.deleteFile),
	}
}

// asked is one call about one folder.
type asked struct {
	*params
	key    string
	folder Folder
	// declared tells that there is such a folder.
	declared bool
}

// method reads what all methods have, {companyId, folderKey}, and counts the call.
func (s *folderService) method(serve func(context.Context, *asked) (json.RawMessage, error)) protocol.Service {
	return protocol.ServiceFunc(func(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
		a := &asked{params: read(call)}
		a.key = a.text("folderKey")
		company := a.company()
		if company == "" {
			a.failf("companyId: expected a company: a folder is of one")
		}
		if a.err != nil {
			return nil, a.err
		}
		if !s.slots.take(call.Caller) {
			return nil, faultf(call, protocol.CodeOverloaded, "%d calls about folders run: wait for one to end", s.slots.max)
		}
		defer s.slots.free(call.Caller)
		if s.limits.Declared != nil {
			a.folder, a.declared = s.limits.Declared(call.Caller, company, a.key)
		}
		return serve(ctx, a)
	})
}

// configure serves localFolders.configure: {companyId, folderKey, path, …} → the status.
// A plugin chooses no path: it may name the one that is declared, and the host makes the
// directories that it needs there. What else it says counts for nothing.
func (s *folderService) configure(_ context.Context, a *asked) (json.RawMessage, error) {
	path := a.text("path")
	switch {
	case a.err != nil:
		return nil, a.err
	case !a.declared:
		return nil, a.undeclared()
	case filepath.Clean(path) != filepath.Clean(a.folder.Path):
		return nil, a.faultf(protocol.CodeDenied, "path: which path folder %q has is the operator's to say: a plugin may name only that one", a.key)
	}
	if !a.folder.ReadOnly {
		err := s.within(a, func(root *os.Root) error { return a.prepare(root) })
		if err != nil {
			return nil, err
		}
	}
	return encode(a.inspect()), nil
}

// status serves localFolders.status: {companyId, folderKey} → the status, of a folder
// that is not declared, too.
func (s *folderService) status(_ context.Context, a *asked) (json.RawMessage, error) {
	return encode(a.inspect()), nil
}

// within opens a folder for as long as use takes.
func (s *folderService) within(a *asked, use func(*os.Root) error) error {
	if !a.declared {
		return a.undeclared()
	}
	root, err := a.open()
	if err != nil {
		return a.faultf(protocol.CodeNotFound, "folder %q cannot be opened: %s: the operator has to look after it", a.key, reason(err))
	}
	defer func() { _ = root.Close() }() // a directory
	return use(root)
}

func (a *asked) open() (*os.Root, error) {
	if !filepath.IsAbs(a.folder.Path) {
		return nil, errors.New("its path is not absolute")
	}
	return os.OpenRoot(a.folder.Path)
}

// writable is within a folder that may be written to, one call at a time.
func (s *folderService) writable(a *asked, use func(*os.Root) error) error {
	if a.declared && a.folder.ReadOnly {
		return a.faultf(protocol.CodeDenied, "folder %q is for reading alone", a.key)
	}
	defer s.writing.lock(filepath.Clean(a.folder.Path))()
	return s.within(a, func(root *os.Root) error {
		if err := a.prepare(root); err != nil {
			return err
		}
		return use(root)
	})
}

// prepare makes the directories that a plugin needs.
func (a *asked) prepare(root *os.Root) error {
	for _, dir := range a.folder.Directories {
		if err := a.makeDir(root, dir); err != nil {
			return err
		}
	}
	return nil
}

func (a *asked) undeclared() error {
	return denial(faultf(a.call, protocol.CodeNotFound, "folder %q: the operator has declared none of that name for this plugin and company", a.key))
}

func (a *asked) faultf(code protocol.Code, format string, args ...any) error {
	return faultf(a.call, code, format, args...)
}

// failed is what the system says of a file, without its path on this machine.
func (a *asked) failed(what, name string, err error) error {
	code := protocol.CodeInvalid
	if errors.Is(err, fs.ErrNotExist) {
		code = protocol.CodeNotFound
	}
	return a.faultf(code, "%s %q: %s", what, cutBytes(name, maxNamed), reason(err))
}

// maxNamed is how much of a path an error quotes, in bytes.
const maxNamed = 200

func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// relative is a path below the folder: with slashes, no part of which is empty, "." or
// "..".
func (a *asked) relative(field string) string {
	path := a.text(field)
	switch {
	case a.err != nil:
	case !isRelative(path):
		a.failf(`%s: expected a path below the folder, with "/" between its parts and without "..", "." and "\"`, field)
	case strings.Contains("/"+path, "/"+unfinished):
		a.failf("%s: names that begin with %q are the host's", field, unfinished)
	}
	return path
}

func isRelative(path string) bool {
	return !strings.ContainsAny(path, "\\\x00") && filepath.IsLocal(filepath.FromSlash(path)) &&
		!slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool { return part == "" || part == "." || part == ".." })
}

// plain refuses a path that leads over a link; what is not there is none.
func (a *asked) plain(root *os.Root, path string) error {
	for end := range len(path) + 1 {
		if end < len(path) && path[end] != '/' {
			continue
		}
		info, err := root.Lstat(path[:end])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return a.failed("path", path, err)
		case info.Mode()&fs.ModeSymlink != 0:
			return a.faultf(protocol.CodeDenied, "%q is a link, and links are not followed", cutBytes(path[:end], maxNamed))
		}
	}
	return nil
}

// makeDir makes a directory and those above it.
func (a *asked) makeDir(root *os.Root, path string) error {
	if !isRelative(path) {
		return a.faultf(protocol.CodeInvalid, "directory %q: expected a path below the folder", cutBytes(path, maxNamed))
	}
	if err := a.plain(root, path); err != nil {
		return err
	}
	if err := root.MkdirAll(filepath.FromSlash(path), 0o755); err != nil {
		return a.failed("directory", path, err)
	}
	return nil
}

// locks are one for each name, for as long as somebody has it or waits.
type locks struct {
	mu   sync.Mutex
	held map[string]*held
}

type held struct {
	sync.Mutex
	users int
}

// lock takes a name's lock, and returns what gives it back.
func (l *locks) lock(name string) (unlock func()) {
	l.mu.Lock()
	one := l.held[name]
	if one == nil {
		one = &held{}
		l.held[name] = one
	}
	one.users++
	l.mu.Unlock()
	one.Lock()
	return func() {
		one.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if one.users--; one.users == 0 {
			delete(l.held, name)
		}
	}
}

// isoTime is a time as JavaScript's toISOString writes it.
func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
