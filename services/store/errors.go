package store

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/airi-host/airi-host/protocol"
)

// Error is a failure of the database or of the disk below it, with the file and what
// to do. What was read before stays readable where memory has it.
type Error struct {
	File string
	// Err is what SQLite or the system says.
	Err error
}

// Error names the file, what is wrong and what to do.
func (e *Error) Error() string {
	what, cure := "failed", "look at the disk, and at the permissions of the file"
	if errors.Is(e.Err, errMisplaced) {
		what, cure = "is not where the host has opened it", "nothing is written or read until it is back; without it, stop the host and put a copy in its place"
	}
	switch e.code() {
	case sqlite3.SQLITE_FULL:
		what, cure = "is full", "make room on its disk, remove data, or allow it more bytes"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		what, cure = "cannot be written", "let the host write the file and its directory"
	case sqlite3.SQLITE_IOERR:
		what, cure = "cannot be read or written", "make room on its disk, and look for errors of the disk"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		what, cure = "is damaged", damaged
	case sqlite3.SQLITE_BUSY:
		what, cure = "is held by another program", "end what else has it open"
	}
	return fmt.Sprintf("%s: the database %s: %s (%v)", e.File, what, cure, e.Err)
}

const damaged = "move it and the files -wal and -shm beside it away, or put a copy in its place, and start again"

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// code is SQLite's primary result code, 0 for none.
func (e *Error) code() int { return codeOf(e.Err) }

func codeOf(err error) int {
	if s, ok := errors.AsType[*sqlite.Error](err); ok {
		return s.Code() & 0xff
	}
	return 0
}

// DamagedError tells that a database was not opened since its content is not sound.
// Nothing was changed.
type DamagedError struct {
	File string
	// Detail is the first thing that is wrong.
	Detail string
}

// Error names the file and what to do.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s: the database is damaged: %s; nothing was changed: %s", e.File, e.Detail, damaged)
}

// VersionError tells that a newer host has written a database. Nothing was changed.
type VersionError struct {
	File string
	// Version is the file's, Ours the newest that this host knows.
	Version, Ours int
}

// Error names the file, both versions and what to do.
func (e *VersionError) Error() string {
	return fmt.Sprintf("%s: written by a newer host: its version is %d, this host knows %d: run the newer host, or name another state directory",
		e.File, e.Version, e.Ours)
}

// ErrClosed is the answer to what comes after Close.
var ErrClosed = errors.New("the store is closed")

// refused is what a plugin may not, or a caller has not done right.
func refused(plugin string, code protocol.Code, format string, args ...any) error {
	return &protocol.Error{Code: code, Plugin: plugin, Message: fmt.Sprintf(format, args...)}
}

// tooLong is what exceeds a limit of a length.
func tooLong(plugin, what string, size, limit int) error {
	return refused(plugin, protocol.CodeInvalid, "%s is %d bytes long, and may have %d: make it shorter", what, size, limit)
}
