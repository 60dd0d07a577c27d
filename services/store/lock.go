package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// LockName is the file in a state directory that its host holds.
const LockName = "airi-host.lock"

// maxHolder is how much of a lock's file is read, in bytes.
const maxHolder = 1 << 10

// Lock is one host's right to a state directory. It ends with the process that holds
// it, however that ends: a file that is left behind means nothing.
type Lock struct{ file *os.File }

// Holder is the process that holds a lock.
type Holder struct {
	PID int `json:"pid"`
	// Since is when it took the lock.
	Since time.Time `json:"since"`
}

// LockedError tells that another host uses a state directory.
type LockedError struct {
	File string
	// Holder is whose it is; its PID is 0 if the file does not tell.
	Holder Holder
}

// Error says who holds the lock and what to do.
func (e *LockedError) Error() string {
	who := "another host"
	if e.Holder.PID != 0 {
		who = fmt.Sprintf("the host with process id %d since %s", e.Holder.PID, e.Holder.Since.Format(time.RFC3339))
	}
	return fmt.Sprintf("%s: held by %s; one host uses a directory: stop that one, or name another directory", e.File, who)
}

// afterlife is how long Acquire waits for the lock of a process that has ended: what that
// one was just starting has its files until it is another program.
const (
	afterlife     = time.Second
	afterlifeStep = 5 * time.Millisecond
)

// Acquire takes the lock of a state directory, which is made if it is not there, and
// does not wait for who holds it. The error is a *[LockedError] if another host does.
func Acquire(dir string) (*Lock, error) {
	path := filepath.Join(dir, LockName)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("state directory: %w: name one that may be made", err)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: expected the lock of the state directory, found what is no regular file: move it away", path)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("state directory: %w: the host has to write there: change its permissions, or name another directory", err)
	}
	held, err := flock(file)
	holder := readHolder(file)
	for waited := time.Duration(0); err == nil && held && ended(holder) && waited < afterlife; waited += afterlifeStep {
		time.Sleep(afterlifeStep)
		held, err = flock(file)
		holder = readHolder(file)
	}
	if err == nil && !held {
		err = writeHolder(file)
	}
	if err == nil && !held {
		return &Lock{file}, nil
	}
	_ = file.Close() // nothing was written
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return nil, &LockedError{File: path, Holder: holder}
}

// Release gives the lock back. The file stays: to remove it would let two hosts hold
// two files of one name.
func (l *Lock) Release() error {
	_ = l.file.Truncate(0) // whom it names is past
	return l.file.Close()
}

// Dir is the directory that is locked.
func (l *Lock) Dir() string { return filepath.Dir(l.file.Name()) }

func writeHolder(file *os.File) error {
	text, err := json.Marshal(Holder{PID: os.Getpid(), Since: time.Now().Truncate(time.Second)})
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = file.WriteAt(append(text, '\n'), 0)
	}
	return err
}

// readHolder returns whom a file names; nobody if it is just being written.
func readHolder(file *os.File) (h Holder) {
	text := make([]byte, maxHolder)
	n, _ := file.ReadAt(text, 0) // the end of a short file is no failure
	_ = json.Unmarshal(text[:n], &h)
	return h
}
