package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// write is one change on its way to the disk.
type write struct {
	size int // in bytes, about
	// run makes the change. A refusal, which is any error but an *[Error], is returned
	// before anything is changed.
	run func(*tx) error
	// committed is called by the writer before anybody is told; it may be nil.
	committed func()

	err  error
	done chan struct{}
	// taken tells that the writer has begun; the writer's mutex guards it.
	taken bool
}

// writer is the one who writes. Those that wait while a commit runs share the next one,
// so that a sync of the disk is paid once for all of them:
//
//	do → queue → loop: BEGIN, run, run, …, COMMIT → committed, done
//	                   └ if one fails: ROLLBACK, then each in a transaction of its own
type writer struct {
	file   string
	limits Options
	counts *counts
	db     *sql.DB
	tx     *tx
	place  *place
	ended  chan struct{} // closed when the loop has ended
	wake   chan struct{} // holds one: look at the queue

	mu     sync.Mutex
	queue  []*write
	bytes  int // of the queue
	closed bool
}

func newWriter(ctx context.Context, file string, o Options, c *counts, steps []string) (*writer, error) {
	db, conn, err := openWriter(ctx, file, o, steps)
	if err != nil {
		return nil, err
	}
	w := &writer{
		file: file, limits: o, counts: c, db: db,
		tx:    &tx{file: file, conn: conn, prepared: map[string]*sql.Stmt{}},
		place: &place{file: file},
		ended: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	if err := w.place.check(); err != nil {
		return nil, errors.Join(err, w.closeFile())
	}
	go w.loop()
	return w, nil
}

// do makes a change and returns when it is on the disk. If ctx ends first, a change that
// has not begun is not made, and of one that has the outcome is unknown.
func (w *writer) do(ctx context.Context, one *write) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	one.done = make(chan struct{})
	if err := w.enqueue(one); err != nil {
		return err
	}
	select {
	case <-one.done:
		return one.err
	case <-ctx.Done():
	}
	if w.withdraw(one) {
		return ctx.Err()
	}
	select {
	case <-one.done:
		return one.err
	default:
		return &protocol.Error{
			Code: protocol.CodeOutcomeUnknown, Err: ctx.Err(),
			Message: "the store was writing when the call ended: read the value to see whether it was kept",
		}
	}
}

func (w *writer) enqueue(one *write) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return ErrClosed
	case len(w.queue) >= w.limits.QueueWrites:
		return w.overloaded("%d writes", w.limits.QueueWrites)
	case w.bytes+one.size > w.limits.QueueBytes && len(w.queue) > 0:
		return w.overloaded("%d bytes", w.limits.QueueBytes)
	}
	w.queue, w.bytes = append(w.queue, one), w.bytes+one.size
	w.signal()
	return nil
}

func (w *writer) overloaded(format string, limit int) error {
	w.counts.refused.Add(1)
	return &protocol.Error{
		Code:    protocol.CodeOverloaded,
		Message: "the store is behind: " + fmt.Sprintf(format, limit) + " wait to be written: try again later",
	}
}

// withdraw takes a write out of the queue; false if it was taken already.
func (w *writer) withdraw(one *write) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one.taken {
		return false
	}
	for i, other := range w.queue {
		if other == one {
			w.queue = append(w.queue[:i], w.queue[i+1:]...)
			w.bytes -= one.size
			break
		}
	}
	return true
}

func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default: // it is awake
	}
}

// take returns the writes of the next commit; more tells whether others may come.
func (w *writer) take() (batch []*write, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.queue), w.limits.BatchWrites)
	batch = append(batch, w.queue[:n]...)
	for _, one := range batch {
		one.taken = true
		w.bytes -= one.size
	}
	rest := copy(w.queue, w.queue[n:])
	clear(w.queue[rest:])
	w.queue = w.queue[:rest]
	return batch, !w.closed
}

func (w *writer) loop() {
	defer close(w.ended)
	for {
		batch, more := w.take()
		switch {
		case len(batch) > 0:
			w.commit(batch)
		case !more:
			return
		default:
			<-w.wake
		}
	}
}

// commit writes a batch. What fails is told to its caller alone.
func (w *writer) commit(batch []*write) {
	err := w.try(batch)
	switch {
	case err == nil:
		return
	case len(batch) == 1 || errors.Is(err, errNotBegun):
		for _, one := range batch {
			w.finish(one, err)
		}
		return
	}
	for _, one := range batch {
		if err := w.try([]*write{one}); err != nil {
			w.finish(one, err)
		}
	}
}

// errNotBegun marks a failure that none of a batch has caused.
var errNotBegun = errors.New("no transaction")

// try writes a batch in one transaction and tells all its callers, or changes nothing
// and tells nobody.
func (w *writer) try(batch []*write) error {
	began := time.Now()
	if err := w.place.check(); err != nil {
		return errors.Join(err, errNotBegun)
	}
	if err := w.tx.exec(`BEGIN IMMEDIATE`); err != nil {
		return errors.Join(err, errNotBegun)
	}
	for _, one := range batch {
		one.err = one.run(w.tx)
		if _, failed := errors.AsType[*Error](one.err); failed {
			return w.rollback(one.err)
		}
	}
	if err := w.tx.exec(`COMMIT`); err != nil {
		return w.rollback(err)
	}
	w.counts.committed(len(batch), time.Since(began))
	for _, one := range batch {
		if one.err == nil && one.committed != nil {
			one.committed()
		}
		close(one.done)
	}
	return nil
}

// rollback undoes what was begun. SQLite may have done so itself, on a full disk.
func (w *writer) rollback(why error) error {
	_ = w.tx.exec(`ROLLBACK`) // it fails if there is nothing to undo
	return why
}

func (w *writer) finish(one *write, err error) {
	w.counts.failed.Add(1)
	one.err = err
	if failed, ok := errors.AsType[*Error](err); ok {
		one.err = failed // without our own mark
	}
	close(one.done)
}

// close refuses what comes and waits until all that came is written.
func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	w.signal()
	w.mu.Unlock()
	<-w.ended
}

// depth is what waits in the queue.
func (w *writer) depth() (writes, bytes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.queue), w.bytes
}

func (w *writer) isClosed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

// closeFile lets the file go. Statements of a connection that is held are not closed
// with it, and one that is open would keep the log beside the file.
func (w *writer) closeFile() error {
	var errs []error
	for _, s := range w.tx.prepared {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, w.tx.conn.Close(), w.db.Close())...)
}

// tx is the transaction that runs. It has no context: what has begun ends.
type tx struct {
	file     string
	conn     *sql.Conn
	prepared map[string]*sql.Stmt // by its text, which is a constant
}

func (t *tx) statement(query string) (*sql.Stmt, error) {
	if s := t.prepared[query]; s != nil {
		return s, nil
	}
	s, err := t.conn.PrepareContext(context.Background(), query)
	if err == nil {
		t.prepared[query] = s
	}
	return s, err
}

func (t *tx) exec(query string, args ...any) error {
	_, err := t.count(query, args...)
	return err
}

// count returns how many rows a statement has changed.
func (t *tx) count(query string, args ...any) (int64, error) {
	s, err := t.statement(query)
	if err != nil {
		return 0, &Error{t.file, err}
	}
	result, err := s.Exec(args...)
	if err != nil {
		return 0, &Error{t.file, err}
	}
	n, err := result.RowsAffected()
	if err != nil {
		return 0, &Error{t.file, err}
	}
	return n, nil
}

// get reads one row into what dest points to; false if there is none.
func (t *tx) get(query string, args []any, dest ...any) (found bool, err error) {
	s, err := t.statement(query)
	if err != nil {
		return false, &Error{t.file, err}
	}
	switch err := s.QueryRow(args...).Scan(dest...); {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, &Error{t.file, err}
	}
	return true, nil
}
