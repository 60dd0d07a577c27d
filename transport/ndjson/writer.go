package ndjson

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/airi-host/airi-host/transport"
)

const (
	// DefaultQueueRecords is how many records wait at most when an option says
	// nothing.
	DefaultQueueRecords = 4096
	// DefaultQueueBytes is how many bytes wait, beside one record, when an option
	// says nothing.
	DefaultQueueBytes = 16 << 20
)

// ErrNewline tells that a record was refused because it holds a raw line end,
// which would make two records of it.
var ErrNewline = errors.New("a record holds a raw newline: encode it on one line")

// TryWriter is a destination that can be asked to take only what fits.
type TryWriter interface {
	io.Writer

	// TryWrite writes as much of p as the destination takes without making the
	// caller wait, which may be nothing, and returns how much that was. An error
	// means that the destination is gone. It is never called while Write runs.
	TryWrite(p []byte) (int, error)
}

// WriterOptions sets the limits of a [Writer]. The zero value works.
type WriterOptions struct {
	// MaxRecord is the largest record in bytes, its line end not counted. Zero
	// or less means [transport.DefaultMaxRecord].
	MaxRecord int

	// QueueRecords is how many records wait at most for a slow destination. Zero
	// or less means [DefaultQueueRecords].
	QueueRecords int

	// QueueBytes bounds the bytes that wait: a record is taken as long as fewer
	// wait, so that the most is QueueBytes and one record. Zero or less means
	// [DefaultQueueBytes].
	QueueBytes int

	// OnFail, if set, is called once with the error of a failed write, from the
	// goroutine that met it: a sender's or the writer's own. It must not block
	// and may call the Writer. After [Writer.Fail] it is not called any more.
	OnFail func(error)
}

// Stats counts what a [Writer] did.
type Stats struct {
	// Records and Bytes count what was accepted, line ends included.
	Records, Bytes uint64
	// Refused counts the records that were not accepted, for whatever reason.
	Refused uint64
	// QueuedRecords and QueuedBytes are what is accepted and not yet written.
	QueuedRecords, QueuedBytes int
}

// Writer puts records, a line each, on a destination that may be slow. It never
// makes a sender wait for the destination. Any number of goroutines may use it.
//
// Whoever holds the turn writes: a sender that finds nobody at it, as far as the
// destination takes it at once, or the goroutine, until the queue is empty.
type Writer struct {
	dst     io.Writer
	try     TryWriter // dst, or nil when it cannot be asked
	max     int
	records int
	bytes   int
	onFail  func(error)

	line []byte // one short record and its end; belongs to the sender that has the turn

	mu     sync.Mutex
	turn   bool
	queue  queue
	closed bool          // no more records are taken
	err    error         // why the writer has ended
	idle   chan struct{} // closed when nothing is left to write; made when asked for
	stats  Stats
}

// NewWriter returns a Writer to dst. If dst is a [TryWriter], a lone record is
// written by its sender.
func NewWriter(dst io.Writer, opts WriterOptions) *Writer {
	w := &Writer{
		dst:     dst,
		max:     maxRecord(opts.MaxRecord),
		records: opts.QueueRecords,
		bytes:   opts.QueueBytes,
		onFail:  opts.OnFail,
	}
	w.try, _ = dst.(TryWriter)
	if w.records <= 0 {
		w.records = DefaultQueueRecords
	}
	if w.bytes <= 0 {
		w.bytes = DefaultQueueBytes
	}
	return w
}

// Send writes or queues one record and its line end. It keeps no reference to
// record. Records of one goroutine keep their order.
//
// It refuses with a *transport.TooLongError, with ErrNewline or, when the queue
// is full, with transport.ErrFull, and the writer goes on. After Close it fails
// with transport.ErrClosed, and once the writer has ended with the reason.
func (w *Writer) Send(record []byte) error {
	if err := w.enter(record); err != nil {
		return err
	}
	hadTurn := w.turn
	w.turn = true
	if !hadTurn && w.try != nil && w.queue.empty() {
		w.mu.Unlock()
		return w.sendNow(record)
	}
	w.queue.push(record)
	w.mu.Unlock()
	if !hadTurn {
		w.write()
	}
	return nil
}

// enter lets one record in, and returns with the lock, or tells why not, without it.
func (w *Writer) enter(record []byte) error {
	err := w.check(record)
	w.mu.Lock()
	if err == nil {
		err = w.admit(len(record) + 1)
	}
	if err != nil {
		w.stats.Refused++
		w.mu.Unlock()
	}
	return err
}

// check tells whether record may be sent at all.
func (w *Writer) check(record []byte) error {
	switch {
	case len(record) > w.max:
		return &transport.TooLongError{Limit: w.max}
	case bytes.IndexByte(record, '\n') >= 0:
		return ErrNewline
	}
	return nil
}

// admit counts one record of n bytes in, or tells why not.
func (w *Writer) admit(n int) error {
	switch {
	case w.err != nil:
		return w.err
	case w.closed:
		return transport.ErrClosed
	case w.stats.QueuedRecords >= w.records, w.stats.QueuedBytes >= w.bytes:
		return transport.ErrFull
	}
	w.stats.Records++
	w.stats.Bytes += uint64(n)
	w.stats.QueuedRecords++
	w.stats.QueuedBytes += n
	return nil
}

// sendNow is the short way. The sender has the turn and does not hold the lock,
// so that others queue behind it instead of waiting for its system call.
func (w *Writer) sendNow(record []byte) error {
	n, err := w.tryLine(record)
	w.mu.Lock()
	switch {
	case err != nil:
		w.stats.Records--
		w.stats.Bytes -= uint64(len(record)) + 1
		w.stats.Refused++
	case w.err != nil: // ended by the owner meanwhile
	case n > len(record):
		w.settle(1, n)
	default:
		w.settle(0, n)
		w.queue.unshift(record[n:])
	}
	return w.next(err)
}

// next hands the turn on after a sender's write. It is called with the lock and
// returns without it; err is what the sender met, and what it gets.
func (w *Writer) next(err error) error {
	first := err != nil && w.end(err)
	more := !w.queue.empty()
	if !more {
		w.yield()
	}
	w.mu.Unlock()
	if more {
		go w.drain()
	}
	w.tell(first, err)
	return err
}

// tryLine offers record and its end to the destination and returns how many
// bytes of that were taken.
func (w *Writer) tryLine(record []byte) (int, error) {
	if len(record) < smallBuffer {
		w.line = append(append(w.line[:0], record...), '\n')
		return w.try.TryWrite(w.line)
	}
	n, err := w.try.TryWrite(record)
	if err != nil || n < len(record) {
		return n, err
	}
	end, err := w.try.TryWrite([]byte{'\n'})
	return n + end, err
}

// drain writes until nothing is queued. It has the turn.
func (w *Writer) drain() {
	for {
		head, more := w.take()
		if !more {
			return
		}
		n, err := w.dst.Write(head.data)
		if err == nil && n < len(head.data) {
			err = io.ErrShortWrite
		}
		w.wrote(head, err)
	}
}

// take takes the chunk to write out of the queue; where there is none it gives the turn
// back.
func (w *Writer) take() (head chunk, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queue.empty() {
		w.yield()
		return head, false
	}
	return w.queue.shift(), true
}

// wrote counts a chunk out, or ends the writer.
func (w *Writer) wrote(head chunk, err error) {
	w.mu.Lock()
	w.settle(head.records, len(head.data))
	w.queue.recycle(head)
	first := err != nil && w.end(err)
	w.mu.Unlock()
	w.tell(first, err)
}

// settle counts out what was written. After the end all is counted out already.
func (w *Writer) settle(records, n int) {
	if w.err == nil {
		w.stats.QueuedRecords -= records
		w.stats.QueuedBytes -= n
	}
}

// yield gives the turn back.
func (w *Writer) yield() {
	w.turn = false
	w.wake()
}

// wake frees those who wait in Flush.
func (w *Writer) wake() {
	if w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
}

// Fail ends the writer with reason, which every later Send returns. What was
// queued is dropped. A write that hangs goes on to hang until the owner closes
// the destination. The first reason stays.
func (w *Writer) Fail(reason error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end(reason)
}

// end drops what is queued and reports whether reason was the first.
func (w *Writer) end(reason error) bool {
	if w.err != nil {
		return false
	}
	w.err = reason
	w.queue = queue{}
	w.stats.QueuedRecords, w.stats.QueuedBytes = 0, 0
	w.wake()
	return true
}

// tell gives the owner the error that ended the writer.
func (w *Writer) tell(first bool, err error) {
	if first && w.onFail != nil {
		w.onFail(err)
	}
}

// Close lets no more records in; what is queued is still written. It does not
// wait (Flush does) and leaves the destination open.
func (w *Writer) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

// Flush waits until nothing is left to write. It returns nil, the writer's error
// if it ended, or that of ctx.
func (w *Writer) Flush(ctx context.Context) error {
	w.Push()
	w.mu.Lock()
	if w.err != nil || !w.turn {
		defer w.mu.Unlock()
		return w.err
	}
	if w.idle == nil {
		w.idle = make(chan struct{})
	}
	idle := w.idle
	w.mu.Unlock()

	select {
	case <-idle:
	case <-ctx.Done():
		return ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Stats returns the counters.
func (w *Writer) Stats() Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stats
}
