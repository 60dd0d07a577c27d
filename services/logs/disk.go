package logs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// disk is what is asked of the file system to write.
type disk interface {
	// open opens a file at its end, and makes it if it is not there.
	open(path string) (file, error)
}

// file is an open one.
type file interface {
	io.WriteCloser
	io.ReaderAt
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
}

type realDisk struct{}

func (realDisk) open(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
		}
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// append writes lines to a file, and begins a new one whenever that is full. It returns
// how many were written whole, and what they have added.
func (f *Files) append(path string, lines [][]byte) (n int, size int64, err error) {
	for n < len(lines) {
		some, added, err := f.fill(path, lines[n:])
		n, size = n+some, size+added
		if err != nil {
			return n, size, err
		}
	}
	return n, size, nil
}

// fill writes as many lines as the newest file has room for, at least one.
func (f *Files) fill(path string, lines [][]byte) (n int, size int64, err error) {
	out, err := f.o.disk.open(path)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = cmp.Or(err, out.Close()) }()
	info, err := out.Stat()
	if err != nil {
		return 0, 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, 0, fmt.Errorf("%s: expected a regular file: remove what is there", path)
	}
	had := info.Size()
	if had > 0 && had+int64(len(lines[0])) > f.o.MaxBytes {
		return 0, 0, f.rotate(path)
	}
	text := unended(out, had)
	for _, line := range lines {
		if n > 0 && had+int64(len(text)+len(line)) > f.o.MaxBytes {
			break
		}
		text = append(text, line...)
		n++
	}
	if _, err := out.Write(text); err != nil {
		_ = out.Truncate(had) // else the next write ends the line that was begun
		return 0, 0, err
	}
	return n, int64(len(text)), nil
}

// unended is what ends a last line that has no end.
func unended(f io.ReaderAt, size int64) []byte {
	var last [1]byte
	if size > 0 {
		if _, err := f.ReadAt(last[:], size-1); err == nil && last[0] != '\n' {
			return []byte{'\n'}
		}
	}
	return nil
}

// rotate makes room for a new file.
func (f *Files) rotate(path string) error {
	for i := f.o.Files - 1; i >= 0; i-- {
		var err error
		if i == f.o.Files-1 {
			err = os.Remove(numberedName(path, i))
		} else {
			err = os.Rename(numberedName(path, i), numberedName(path, i+1))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("beginning a new file: %w", err)
		}
	}
	return nil
}

// numberedName is the name of a plugin's file that i others are newer than.
func numberedName(path string, i int) string {
	if i == 0 {
		return path
	}
	return path + "." + strconv.Itoa(i)
}

// stored is a file that counts.
type stored struct {
	path  string
	size  int64
	time  int64
	newer bool // the newest of its plugin
}

// keepTotal removes the oldest files when all together have too much, or looks how much
// they have.
func (f *Files) keepTotal(look bool) {
	f.mu.Lock()
	over := f.stats.Bytes > f.o.Total
	f.mu.Unlock()
	if !over && !look {
		return
	}
	all, total := f.list()
	if total > f.o.Total {
		total = f.prune(all, total)
	}
	f.mu.Lock()
	f.stats.Bytes = total
	f.mu.Unlock()
}

// prune removes files until a tenth is free, those first that are not the newest of their
// plugin.
func (f *Files) prune(all []stored, total int64) int64 {
	slices.SortFunc(all, func(a, b stored) int {
		if a.newer != b.newer {
			if b.newer {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(b.path, a.path))
	})
	var removed int
	for _, one := range all {
		if total <= f.o.Total-f.o.Total/10 {
			break
		}
		if os.Remove(one.path) == nil {
			total -= one.size
			removed++
		}
	}
	f.o.Log.Info("the oldest logs of plugins were removed: all had more than they may", "files", removed, "bytes", f.o.Total)
	return total
}

// list lists the files that count.
func (f *Files) list() (all []stored, total int64) {
	entries, _ := os.ReadDir(f.dir) // what is wrong with it is told by the next write
	for _, e := range entries {
		name := aFile.FindStringSubmatch(e.Name())
		info, err := e.Info()
		if name == nil || err != nil || !info.Mode().IsRegular() {
			continue
		}
		all = append(all, stored{filepath.Join(f.dir, e.Name()), info.Size(), info.ModTime().UnixNano(), name[2] == ""})
		total += info.Size()
	}
	return all, total
}
