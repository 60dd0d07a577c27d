package memory

import (
	"bytes"
	"io"

	"github.com/airi-host/airi-host/transport"
)

const (
	// DefaultQueueRecords is how many records wait at most in one direction when
	// an option says nothing.
	DefaultQueueRecords = 4096
	// DefaultQueueBytes is how many bytes wait in one direction, beside one
	// record, when an option says nothing.
	DefaultQueueBytes = 16 << 20
)

// Options sets the limits of both directions of a [Pipe]. The zero value works.
type Options struct {
	// MaxRecord is the largest record in bytes. Zero or less means
	// [transport.DefaultMaxRecord].
	MaxRecord int

	// QueueRecords is how many records wait at most for the other end. Zero or
	// less means [DefaultQueueRecords].
	QueueRecords int

	// QueueBytes bounds the bytes that wait: a record is taken as long as fewer
	// wait, so that the most is QueueBytes and one record. Zero or less means
	// [DefaultQueueBytes].
	QueueBytes int
}

// resolved puts the defaults in the place of unset limits.
func (o Options) resolved() Options {
	if o.MaxRecord <= 0 {
		o.MaxRecord = transport.DefaultMaxRecord
	}
	if o.QueueRecords <= 0 {
		o.QueueRecords = DefaultQueueRecords
	}
	if o.QueueBytes <= 0 {
		o.QueueBytes = DefaultQueueBytes
	}
	return o
}

// Conn is one end of a [Pipe].
type Conn struct {
	limit   int
	in, out *queue
}

var _ transport.Limited = (*Conn)(nil)

// MaxRecord is the largest record in bytes.
func (c *Conn) MaxRecord() int { return c.limit }

// Pipe returns two joined ends: what one sends the other receives.
func Pipe(opts Options) (a, b *Conn) {
	opts = opts.resolved()
	there, back := newQueue(opts), newQueue(opts)
	return &Conn{limit: opts.MaxRecord, in: back, out: there},
		&Conn{limit: opts.MaxRecord, in: there, out: back}
}

// Send queues a copy of record for the other end. It never blocks. It fails with
// a *transport.TooLongError or transport.ErrFull, after which the pipe goes on,
// with transport.ErrClosed once this end is closed, and with io.EOF once the
// other is.
func (c *Conn) Send(record []byte) error {
	if len(record) > c.limit {
		return &transport.TooLongError{Limit: c.limit}
	}
	return c.out.push(bytes.Clone(record))
}

// Recv returns the next record, which is the caller's to keep. It fails with
// transport.ErrClosed once this end is closed, and with io.EOF once the other end
// is closed and all that it had sent was returned.
func (c *Conn) Recv() ([]byte, error) { return c.in.pop() }

// Close ends both directions. The other end still receives what was sent to it;
// what was sent to this end is lost.
func (c *Conn) Close() error {
	c.in.endReader(transport.ErrClosed, io.EOF)
	c.out.endWriter(transport.ErrClosed, io.EOF)
	return nil
}
