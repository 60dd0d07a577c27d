package store

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// place knows the files of an open database. One that was removed, or has another one in
// its place, can be written as before, and whoever opens the database next does not find
// what was; and who reads opens it by its name. So they are looked for before either. Any
// goroutine may use it.
type place struct {
	file string

	mu sync.Mutex
	// main and log are the files, nil for those that were not seen yet.
	main, log os.FileInfo
}

// errMisplaced marks a database whose files are not where it was opened.
var errMisplaced = errors.New("what is written there nobody would find again")

// check fails if the files are not where they were, or the database is shorter: it does
// not shrink.
func (p *place) check() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	main, err := found(p.file, p.main)
	if err == nil && p.main != nil && main.Size() < p.main.Size() {
		err = fmt.Errorf("%s was cut from %d bytes to %d", p.file, p.main.Size(), main.Size())
	}
	if err == nil {
		p.main = main
		p.log, err = found(p.file+"-wal", p.log)
	}
	if err != nil {
		return &Error{p.file, fmt.Errorf("%w: %w", errMisplaced, err)}
	}
	return nil
}

// found is a file as it is now, if it is the one that was seen before.
func found(path string, before os.FileInfo) (os.FileInfo, error) {
	now, err := os.Lstat(path)
	switch {
	case before == nil && errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return before, err
	case before != nil && !os.SameFile(before, now):
		return before, fmt.Errorf("%s is another file", path)
	}
	return now, nil
}
