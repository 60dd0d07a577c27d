package logs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Query says which records are wanted.
type Query struct {
	// N is how many of the last ones; 0 or less means all.
	N int
	// Since leaves out what is older, Before what is not; zero is no limit.
	Since, Before time.Time
}

// Read returns the last records of a plugin that a directory has, the oldest first; ""
// stands for all plugins. A directory that is not there is an error (fs.ErrNotExist), a
// plugin that has said nothing is none.
func Read(dir, plugin string, q Query) ([]Record, error) {
	if plugin != "" {
		records, _, err := ReadEnd(dir, plugin, q, 0)
		return records, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []Record
	for _, e := range entries {
		if name := aFile.FindStringSubmatch(e.Name()); name == nil || name[2] != "" {
			continue
		}
		some, _, err := read(filepath.Join(dir, e.Name()), &reading{Query: q})
		if err != nil {
			return nil, err
		}
		all = q.last(append(all, some...))
	}
	return all, nil
}

// ReadEnd is Read of one plugin that holds no more than so many bytes of lines, beside one,
// 0 being no limit: left is how many records before those it returns were asked for.
func ReadEnd(dir, plugin string, q Query, most int) (records []Record, left int, err error) {
	return read(filepath.Join(dir, baseName(plugin)+ending), &reading{Query: q, most: most})
}

// last sorts records by time and leaves the last ones.
func (q Query) last(all []Record) []Record {
	slices.SortStableFunc(all, func(a, b Record) int { return a.Time.Compare(b.Time) })
	if q.N > 0 && len(all) > q.N {
		all = slices.Clone(all[len(all)-q.N:])
	}
	return all
}

// reading is what was read of the files of one plugin.
type reading struct {
	Query
	// most is how many bytes of lines are held, beside one, 0 being no limit; bytes is how
	// many are.
	most, bytes int
	// held are the newest records, the newest first; left is how many more were asked for.
	held []Record
	left int
}

// take takes the next older record, whose line has so many bytes; more tells that older ones
// are wanted.
func (g *reading) take(r Record, bytes int) (more bool) {
	if g.most > 0 && g.bytes >= g.most {
		g.left++
	} else {
		g.held = append(g.held, r)
		g.bytes += bytes
	}
	return g.N <= 0 || len(g.held)+g.left < g.N
}

// read reads the files of one plugin, the newest first.
func read(path string, into *reading) (all []Record, left int, err error) {
	files, err := openAll(path)
	defer func() {
		for _, f := range files {
			_ = f.Close() // it was only read
		}
	}()
	if err != nil {
		return nil, 0, fmt.Errorf("reading a log: %w", err)
	}
	for _, f := range files {
		more, err := into.readFile(f)
		if err != nil {
			return nil, 0, fmt.Errorf("reading a log: %w", err)
		}
		if !more {
			break
		}
	}
	slices.Reverse(into.held)
	return into.held, into.left, nil
}

// tries is how often files are opened anew that were rotated meanwhile.
const tries = 10

// openAll opens the files of one plugin, the newest first, as they stood at one moment.
func openAll(path string) (files []*os.File, err error) {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		files, err = openOnce(path)
		if err != nil || try == tries || still(path, files) {
			return files, err
		}
		for _, f := range files {
			_ = f.Close()
		}
	}
}

// openOnce opens the files in the order of their numbers. They may be moved meanwhile, the
// oldest first, each to the next number: so one may be missing while there is a next, and one
// that was opened may come again.
func openOnce(path string) (files []*os.File, err error) {
	var opened []os.FileInfo
	for i := 0; ; i++ {
		f, err := os.Open(numberedName(path, i))
		switch {
		case err == nil:
			info, err := f.Stat()
			if err != nil || slices.ContainsFunc(opened, func(one os.FileInfo) bool { return os.SameFile(one, info) }) {
				_ = f.Close()
				break
			}
			files, opened = append(files, f), append(opened, info)
		case errors.Is(err, fs.ErrNotExist) && (i == 0 || isThere(numberedName(path, i+1))): // it is being moved
		case errors.Is(err, fs.ErrNotExist):
			return files, nil
		default:
			return files, err
		}
	}
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// still tells whether the first of the files is still the newest.
func still(path string, files []*os.File) bool {
	now, err := os.Stat(path)
	if err != nil || len(files) == 0 {
		return err != nil && len(files) == 0
	}
	was, err := files[0].Stat()
	return err == nil && os.SameFile(now, was)
}

// readFile adds the records of a file, the newest first; more tells that older ones are
// wanted.
func (g *reading) readFile(f *os.File) (more bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	more = true
	err = backward(f, info.Size(), func(line []byte) bool {
		var r Record
		if json.Unmarshal(line, &r) != nil || r.Plugin == "" || !g.Before.IsZero() && !r.Time.Before(g.Before) {
			return true
		}
		if r.Time.Before(g.Since) {
			more = false
			return false
		}
		more = g.take(r, len(line))
		return more
	})
	return more, err
}

const (
	// block is how much is read at once.
	block = 64 << 10
	// longestLine is what a record may have; more is no record.
	longestLine = 1 << 20
)

// backward gives the lines of a file to take, the last one first, until that has enough.
func backward(f io.ReaderAt, size int64, take func(line []byte) bool) error {
	var rest []byte // the end of a line whose beginning was not read yet
	for at := size; at > 0; {
		n := min(block, at)
		at -= n
		text := make([]byte, n, int(n)+len(rest))
		if _, err := f.ReadAt(text, at); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		text = append(text, rest...)
		for {
			i := bytes.LastIndexByte(text, '\n')
			if i < 0 {
				break
			}
			if line := text[i+1:]; len(line) > 0 && !take(line) {
				return nil
			}
			text = text[:i]
		}
		if rest = text; len(rest) > longestLine {
			rest = nil
		}
	}
	if len(rest) > 0 {
		take(rest)
	}
	return nil
}
