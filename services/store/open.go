package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	_ "modernc.org/sqlite" // the driver, "sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// FileName is the database in a state directory. While it is open SQLite keeps two
// more files beside it, which end in -wal and -shm and belong to it.
const FileName = "airi-host.db"

// DB is an open store. All methods may run concurrently.
type DB struct {
	file   string
	limits Options
	lock   *Lock // nil if it is the caller's
	read   *sql.DB
	writer *writer
	state  *State
	counts counts

	closing sync.Once
	closed  error // of Close
}

// Open opens the store of a state directory, or makes one. It fails with a
// *[LockedError], a *[VersionError] or a *[DamagedError], and then has changed
// nothing. It reads the whole file once to see that it is sound.
func Open(ctx context.Context, dir string, o Options) (*DB, error) {
	steps, err := migrations()
	if err != nil {
		return nil, err
	}
	return open(ctx, dir, o.withDefaults(), steps)
}

func open(ctx context.Context, dir string, o Options, steps []string) (_ *DB, err error) {
	// SQLite reads a name with a colon or a question mark as an address.
	file, err := filepath.Abs(filepath.Join(dir, FileName))
	if err != nil {
		return nil, err
	}
	db := &DB{file: file, limits: o}
	if o.Lock == nil {
		if db.lock, err = Acquire(dir); err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil {
			_ = db.closeFiles() // what failed says more
		}
	}()
	if err := prepare(ctx, file, len(steps)); err != nil {
		return nil, err
	}
	if db.writer, err = newWriter(ctx, file, o, &db.counts, steps); err != nil {
		return nil, err
	}
	if db.read, err = openFile(file, "mode=rw&_query_only=1"); err != nil {
		return nil, err
	}
	db.read.SetMaxOpenConns(o.Readers)
	db.read.SetMaxIdleConns(o.Readers)
	db.state = newState(db)
	if err := db.begin(ctx); err != nil {
		return nil, err
	}
	return db, nil
}

// Close commits what waits, gives the lock back if it was taken by Open, and refuses
// all that comes later with [ErrClosed].
func (db *DB) Close() error {
	db.closing.Do(func() { db.closed = db.closeFiles() })
	return db.closed
}

// File is the database's path.
func (db *DB) File() string { return db.file }

// State is what plugins keep; for services.Options.Store.
func (db *DB) State() *State { return db.state }

func (db *DB) closeFiles() error {
	var errs []error
	if db.writer != nil {
		db.writer.close()
	}
	if db.read != nil {
		errs = append(errs, db.read.Close())
	}
	if db.writer != nil {
		errs = append(errs, db.writer.closeFile()) // the last one empties the log
	}
	if db.lock != nil {
		errs = append(errs, db.lock.Release())
	}
	return errors.Join(errs...)
}

// prepare looks at a file that is there and makes one that is not, readable for its
// owner alone. SQLite gives the files beside it the same permissions.
func prepare(ctx context.Context, file string, ours int) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		made, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return fmt.Errorf("%w: the host has to write there: change its permissions, or name another state directory", err)
		}
		return made.Close()
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: expected the host's database, found what is no regular file: move it away", file)
	case info.Size() == 0:
		return nil
	}
	db, err := openFile(file, "mode=ro")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // it was only read
	return inspect(ctx, db, file, ours)
}

func openFile(file string, parameters string) (*sql.DB, error) {
	name := url.URL{Scheme: "file", Path: filepath.ToSlash(file), RawQuery: "_busy_timeout=1000&" + parameters}
	return sql.Open("sqlite", name.String())
}

// openWriter opens the one connection that writes, and takes the steps that the file
// has not taken. WAL lets readers go on beside a writer, and makes a commit one append.
func openWriter(ctx context.Context, file string, o Options, steps []string) (_ *sql.DB, _ *sql.Conn, err error) {
	sync := "FULL"
	if o.Unsynced {
		sync = "NORMAL"
	}
	db, err := openFile(file, "_journal_mode=WAL&_txlock=immediate&_dqs=0&_synchronous="+sync)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			_ = db.Close() // what failed says more
		}
	}()
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, nil, opening(file, err)
	}
	for _, pragma := range []string{
		"busy_timeout = " + strconv.FormatInt(o.Busy.Milliseconds(), 10),
		"journal_size_limit = " + strconv.Itoa(maxWAL),
		"max_page_count = " + strconv.FormatInt(max(o.MaxBytes/pageSize, 1), 10),
	} {
		if _, err := conn.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return nil, nil, opening(file, err)
		}
	}
	if err := migrate(ctx, conn, steps); err != nil {
		return nil, nil, opening(file, err)
	}
	return db, conn, nil
}

const (
	// pageSize is SQLite's default, in bytes.
	pageSize = 4096
	// maxWAL is how long the log beside the file stays once it is empty, in bytes.
	maxWAL = 16 << 20
)

// opening is a failure before anything was written.
func opening(file string, err error) error {
	switch codeOf(err) {
	case 0:
		return fmt.Errorf("%s: %w", file, err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return &DamagedError{File: file, Detail: err.Error()}
	}
	return &Error{File: file, Err: err}
}
