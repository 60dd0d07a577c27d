package services

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/airi-host/airi-host/protocol"
)

const (
	defaultEntries = 1000
	maxEntries     = 5000
)

// folderEntry is one file or directory of a listing.
type folderEntry struct {
	Path       string `json:"path"`
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	Size       *int64 `json:"size"` // null of a directory
	ModifiedAt string `json:"modifiedAt"`
}

// folderListing is what localFolders.list answers with.
type folderListing struct {
	FolderKey    string        `json:"folderKey"`
	RelativePath *string       `json:"relativePath"`
	Entries      []folderEntry `json:"entries"`
	Truncated    bool          `json:"truncated"`

	max int
}

// list serves localFolders.list: {companyId, folderKey, relativePath?, recursive?,
// maxEntries?} → the files and directories by name, each directory before what is in
// it. Links and what is neither a file nor a directory are left out.
func (s *folderService) list(ctx context.Context, a *asked) (json.RawMessage, error) {
	l := folderListing{FolderKey: a.key, Entries: []folderEntry{}, max: defaultEntries}
	from := "."
	if p := a.nullable("relativePath"); p != nil && !blank(*p) {
		from = a.relative("relativePath")
		l.RelativePath = &from
	}
	if n, err := strconv.ParseFloat(string(a.raw("maxEntries")), 64); err == nil {
		l.max = int(min(max(n, 1), maxEntries))
	}
	deep := string(a.raw("recursive")) == "true"
	if a.err != nil {
		return nil, a.err
	}
	err := s.within(a, func(root *os.Root) error {
		if err := a.plain(root, from); err != nil {
			return err
		}
		err := l.visit(ctx, root, from, deep)
		if err != nil && ctx.Err() != nil {
			return ended(ctx, a.call, "while the folder was listed")
		}
		if err != nil {
			return a.failed("directory", from, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return encode(l), nil
}

// visit adds what is in a directory.
func (l *folderListing) visit(ctx context.Context, root *os.Root, dir string, deep bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	names, more, err := namesIn(root, dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		file := path.Join(dir, name)
		info, err := root.Lstat(filepath.FromSlash(file))
		if err != nil || !info.IsDir() && !info.Mode().IsRegular() || strings.HasPrefix(name, unfinished) {
			continue
		}
		if len(l.Entries) >= l.max {
			l.Truncated = true
			return nil
		}
		entry := folderEntry{Path: file, Name: name, Kind: "directory", ModifiedAt: isoTime(info.ModTime())}
		if !info.IsDir() {
			size := info.Size()
			entry.Kind, entry.Size = "file", &size
		}
		l.Entries = append(l.Entries, entry)
		if deep && info.IsDir() {
			// One that cannot be read, or went meanwhile, is listed without what is in it.
			if err := l.visit(ctx, root, file, deep); ctx.Err() != nil {
				return err
			}
		}
		if l.Truncated {
			return nil
		}
	}
	l.Truncated = more
	return nil
}

// namesIn are those in a directory, sorted; of many, as many as a listing may have.
func namesIn(root *os.Root, dir string) (names []string, more bool, err error) {
	d, err := root.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = d.Close() }() // it is only read
	names, err = d.Readdirnames(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	if more = len(names) > maxEntries; more {
		names = names[:maxEntries]
	}
	slices.Sort(names)
	return names, more, nil
}

// readText serves localFolders.readText: {companyId, folderKey, relativePath} → the
// file's text. What is not UTF-8 in it is replaced.
func (s *folderService) readText(_ context.Context, a *asked) (json.RawMessage, error) {
	name := a.relative("relativePath")
	if a.err != nil {
		return nil, a.err
	}
	var text []byte
	err := s.within(a, func(root *os.Root) (err error) {
		info, err := a.target(root, name)
		if info == nil && err == nil {
			err = a.faultf(protocol.CodeNotFound, "%q is not there", cutBytes(name, maxNamed))
		}
		if err != nil {
			return err
		}
		text, err = a.content(root, name, s.limits.FileBytes)
		return err
	})
	if err != nil {
		return nil, err
	}
	return encode(string(text)), nil
}

// content reads a file. It may have become something else since it was looked at: it is
// opened without waiting, which a pipe would make it, and looked at again.
func (a *asked) content(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, a.failed("file", name, err)
	}
	defer func() { _ = f.Close() }() // it is only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, a.failed("file", name, err)
	case !info.Mode().IsRegular():
		return nil, a.faultf(protocol.CodeInvalid, "%q is no file", cutBytes(name, maxNamed))
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, a.failed("file", name, err)
	}
	if int64(len(text)) > limit {
		return nil, a.tooLong(name, limit)
	}
	return text, nil
}

// writeText serves localFolders.writeTextAtomic: {companyId, folderKey, relativePath,
// contents} → the status. Directories above the file are made. Whoever reads the file
// sees what was there or what is written, whole, and so it is after a power failure.
func (s *folderService) writeText(_ context.Context, a *asked) (json.RawMessage, error) {
	name := a.relative("relativePath")
	text, ok := stringOf(a.raw("contents"))
	if !ok {
		a.expected("contents", "a string")
	}
	if a.err == nil && int64(len(text)) > s.limits.FileBytes {
		return nil, a.tooLong(name, s.limits.FileBytes)
	}
	if a.err != nil {
		return nil, a.err
	}
	err := s.writable(a, func(root *os.Root) error {
		before, err := a.target(root, name)
		if err != nil {
			return err
		}
		if err := s.fits(a, root, before, int64(len(text))); err != nil {
			return err
		}
		if dir := path.Dir(name); dir != "." {
			if err := a.makeDir(root, dir); err != nil {
				return err
			}
		}
		if err := replaceFile(root, name, text, before); err != nil {
			return a.failed("file", name, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return encode(a.inspect()), nil
}

// deleteFile serves localFolders.deleteFile: {companyId, folderKey, relativePath} → the
// status. That there is none is no error.
func (s *folderService) deleteFile(_ context.Context, a *asked) (json.RawMessage, error) {
	name := a.relative("relativePath")
	if a.err != nil {
		return nil, a.err
	}
	err := s.writable(a, func(root *os.Root) error {
		if info, err := a.target(root, name); info == nil {
			return err
		}
		err := root.Remove(filepath.FromSlash(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return a.failed("file", name, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return encode(a.inspect()), nil
}

// target is a file that is to be changed, nil if there is none.
func (a *asked) target(root *os.Root, name string) (fs.FileInfo, error) {
	if err := a.plain(root, name); err != nil {
		return nil, err
	}
	info, err := root.Lstat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, a.failed("file", name, err)
	case !info.Mode().IsRegular():
		return nil, a.faultf(protocol.CodeInvalid, "%q is no file", cutBytes(name, maxNamed))
	}
	return info, nil
}

// fits tells whether a folder may hold size bytes in the place of a file, or with it.
func (s *folderService) fits(a *asked, root *os.Root, before fs.FileInfo, size int64) error {
	u := usage{files: 1, bytes: size, maxFiles: s.limits.Files, maxBytes: s.limits.Bytes}
	if before != nil {
		u.files, u.bytes = 0, size-before.Size()
	}
	for u.dirs = []string{"."}; len(u.dirs) > 0 && !u.full(); {
		dir := u.dirs[len(u.dirs)-1]
		u.dirs = u.dirs[:len(u.dirs)-1]
		u.add(root, dir)
	}
	if u.full() {
		return a.faultf(protocol.CodeOverloaded, "folder %q is full: it may hold %d files and %d bytes: delete some", a.key, s.limits.Files, s.limits.Bytes)
	}
	return nil
}

// usage is what a folder holds, as far as it was looked at.
type usage struct {
	dirs            []string // not looked at yet
	files, maxFiles int
	bytes, maxBytes int64
}

func (u *usage) full() bool { return u.files > u.maxFiles || u.bytes > u.maxBytes }

// add counts what is in a directory; one that cannot be read counts for nothing.
func (u *usage) add(root *os.Root, dir string) {
	d, err := root.Open(dir)
	if err != nil {
		return
	}
	defer func() { _ = d.Close() }() // it is only read
	for !u.full() {
		names, err := d.Readdirnames(256)
		for _, name := range names {
			u.count(root, filepath.Join(dir, name))
		}
		if err != nil || len(names) == 0 {
			return
		}
	}
}

// count counts one, and removes what a host has left that was killed while it wrote.
func (u *usage) count(root *os.Root, name string) {
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return
	case strings.HasPrefix(filepath.Base(name), unfinished):
		// It is a try whether the folder can be written to, or what a killed host has left.
		if time.Since(info.ModTime()) <= abandoned || root.Remove(name) != nil {
			u.bytes += info.Size()
		}
		return
	case info.IsDir():
		u.dirs = append(u.dirs, name)
	case info.Mode().IsRegular():
		u.bytes += info.Size()
	}
	u.files++
}

func (a *asked) tooLong(name string, limit int64) error {
	return a.faultf(protocol.CodeInvalid, "%q is too long: a file may have %d bytes: keep it in parts", cutBytes(name, maxNamed), limit)
}

const (
	// unfinished begins the names of files that are being written.
	unfinished = ".airi-host-"
	// abandoned is how old one is that nobody writes any more.
	abandoned = time.Hour
)

// replaceFile puts a file in the place of another by one rename.
func replaceFile(root *os.Root, name, text string, before fs.FileInfo) (err error) {
	mode := fs.FileMode(0o644)
	if before != nil {
		mode = before.Mode().Perm()
	}
	temporary := filepath.FromSlash(path.Join(path.Dir(name), unfinished+uuid.NewString()))
	f, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, strings.NewReader(text))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = root.Rename(temporary, filepath.FromSlash(name))
	}
	if err != nil {
		return errors.Join(err, root.Remove(temporary))
	}
	return syncDir(root, path.Dir(name))
}

// syncDir has the disk keep the names in a directory, where the system can.
func syncDir(root *os.Root, dir string) error {
	d, err := root.Open(filepath.FromSlash(dir))
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // it is only read
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
