package transport

import (
	"errors"
	"fmt"
	"time"
)

// Conn moves records to and from one peer.
type Conn interface {
	// Send queues one record. It never blocks and keeps no reference to record
	// after it returns. It fails with ErrFull when the peer is too slow (the
	// connection goes on), with a *TooLongError when the record is above the
	// limit (it goes on too), and with the end's reason once the connection has
	// ended. It may be called by any number of goroutines; records of one
	// goroutine keep their order.
	Send(record []byte) error

	// Recv returns the next record. The slice is valid until the next Recv. It
	// blocks until there is one, and fails with the reason once the connection
	// has ended and all that had arrived was returned: io.EOF for an end in good
	// order. One goroutine calls it.
	Recv() ([]byte, error)

	// Close ends the connection at once and frees a blocked Recv. What was
	// queued may be lost. It may be called at any time, more than once.
	Close() error
}

// Gatherer is a Conn that can write several records at once.
type Gatherer interface {
	Conn
	// Gather is Send for a record that others follow at once: it waits for the next
	// Send, or for Push, which the caller owes.
	Gather(record []byte) error
	// Push sends what was gathered. It never blocks.
	Push()
}

// Notifier is a Conn that tells when there is something to receive, so that nobody has to
// wait for it. What is said of Recv holds for TryRecv, and one goroutine at a time calls
// either.
type Notifier interface {
	Conn
	// Notify has ready called whenever there is a record, or the end, after TryRecv has
	// failed with ErrNotYet, once each time; and at once if there is something now. ready
	// does not block. It is called again to name another one.
	Notify(ready func())
	// TryRecv is Recv, and fails with ErrNotYet when there is nothing.
	TryRecv() ([]byte, error)
}

// Limited is a Conn that tells its limit, so that what cannot be sent need not be made.
type Limited interface {
	Conn
	// MaxRecord is the largest record in bytes.
	MaxRecord() int
}

// Waiter is a Conn that can be received from for a limited time. What is said of Recv
// holds for RecvWithin, and one goroutine at a time calls any of them.
type Waiter interface {
	Conn
	// RecvWithin is Recv, and fails with ErrNotYet when no record has come after d.
	RecvWithin(d time.Duration) ([]byte, error)
	// Ready tells whether Recv would return at once.
	Ready() bool
}

// ErrNotYet tells that no record came in time.
var ErrNotYet = errors.New("no record has come yet")

// ErrFull tells that a record was refused because the queue to the peer is full.
var ErrFull = errors.New("the peer reads too slowly: the send queue is full")

// ErrClosed tells that this side closed the connection.
var ErrClosed = errors.New("the connection is closed")

// DefaultMaxRecord is the largest record in bytes when an option says nothing.
const DefaultMaxRecord = 64 << 20

// TooLongError tells that a record is above the limit.
type TooLongError struct {
	// Limit is the largest record, in bytes.
	Limit int
}

// Error names the limit.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("a frame is longer than the limit of %d bytes", e.Limit)
}
