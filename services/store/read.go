package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// get reads one row into what dest points to; false if there is none.
func (db *DB) get(ctx context.Context, query string, args []any, dest ...any) (found bool, err error) {
	if err := db.writer.place.check(); err != nil {
		return false, db.readError(err)
	}
	err = db.read.QueryRowContext(ctx, query, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, db.readError(err)
}

// rowsOf reads all rows, each by what scan makes of it.
func rowsOf[T any](ctx context.Context, db *DB, scan func(scan func(...any) error) (T, error), query string, args ...any) ([]T, error) {
	if err := db.writer.place.check(); err != nil {
		return nil, db.readError(err)
	}
	rows, err := db.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, db.readError(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells
	all := []T{}
	for rows.Next() {
		one, err := scan(rows.Scan)
		if err != nil {
			return nil, db.readError(err)
		}
		all = append(all, one)
	}
	return all, db.readError(rows.Err())
}

// readError is what became of a read. That a caller gave up is no failure.
func (db *DB) readError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case protocol.CodeOf(err) != "":
		return err // a limit
	case db.writer.isClosed():
		return ErrClosed
	}
	db.counts.failedReads.Add(1)
	if failed, ok := errors.AsType[*Error](err); ok {
		return failed
	}
	return &Error{db.file, err}
}

// change makes a change of a plugin's data.
func (db *DB) change(ctx context.Context, size int, run func(*tx) error) error {
	return db.writer.do(ctx, &write{size: size, run: run})
}

// milliseconds is a time as a column has it, 0 for none.
func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// moment is a column as a time.
func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
