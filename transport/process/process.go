package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/ndjson"
)

// Process is a running worker, and the connection to it. One goroutine calls
// Recv; everything else may be called by any number.
type Process struct {
	spec    Spec
	pid     int // also that of its group
	tree    *tree
	started time.Time

	reader *ndjson.Reader // of wire; belongs to the goroutine in Recv
	writer *ndjson.Writer // to input
	wire   *wire
	input  *inputFile
	stdin  *os.File // Own: a pipe that carries nothing, else nil
	logs   []*logReader
	book   *logbook

	exited  chan struct{} // closed when exit is set
	exit    ExitStatus
	drained chan struct{} // closed when all log text is in the book
	step    atomic.Value  // the Step that Stop has reached

	inputLost atomic.Bool // the worker reads no more

	hurried context.Context // done when Stop shall go to its last step
	hurry   context.CancelFunc

	mu     sync.Mutex
	reason error         // why the connection has ended
	ended  chan struct{} // closed when reason is set
	stop   *stopping
	reaped bool // the leader is not even a zombie any more
	buried bool // the whole tree is gone, and what it held is given back
}

var _ transport.Conn = (*Process)(nil)

// Stats counts what went through a Process.
type Stats struct {
	// Sent is the writer's counters.
	Sent ndjson.Stats
	// LogLines is how many log lines the worker wrote, and LogDropped how many
	// of them Spec.Log did not get.
	LogLines, LogDropped uint64
}

// Send queues one record for the worker; see transport.Conn. Records that hold a
// newline are refused with ndjson.ErrNewline. After the worker closed its input,
// and before the connection's end is settled, it fails with syscall.EPIPE.
func (p *Process) Send(record []byte) error { return p.sent(p.writer.Send(record)) }

// sent puts the writer's errors in the owner's words.
func (p *Process) sent(err error) error {
	if err == nil || refused(err) {
		return err
	}
	if reason := p.endReason(); reason != nil {
		return reason
	}
	if errors.Is(err, transport.ErrClosed) {
		return err
	}
	return fmt.Errorf("plugin %s: the worker does not read its input any more: %w", p.spec.Plugin, err)
}

// refused tells whether an error of the writer concerns one record only.
func refused(err error) bool {
	var long *transport.TooLongError
	return errors.Is(err, transport.ErrFull) || errors.Is(err, ndjson.ErrNewline) || errors.As(err, &long)
}

// Recv returns the next record; see transport.Conn. A last line without an end is
// returned too. Then it fails with the reason of the end:
//
//   - io.EOF: the worker exited with code 0 after Stop was called
//   - *ExitError: it exited otherwise
//   - *LostError: it closed a pipe and runs on
//   - *transport.TooLongError, wrapped with the plugin's name: a record was above
//     the limit; the worker runs on
//   - transport.ErrClosed: Close was called
//
// The end gives back all descriptors but those of the logs, which end with the
// worker.
func (p *Process) Recv() ([]byte, error) {
	if reason := p.endReason(); reason != nil {
		return nil, reason
	}
	record, err := p.reader.Read()
	if err != nil {
		return nil, p.settle(p.reasonFor(err))
	}
	return record, nil
}

// Close ends the connection at once and kills the worker and its whole tree. It does
// not wait: Done tells the exit. It always returns nil.
func (p *Process) Close() error {
	_ = p.settle(transport.ErrClosed)
	p.hurry()
	p.beginStop(Ladder{})
	return nil
}

// Done is closed when the worker's process has exited, once, whatever holds its
// pipes.
func (p *Process) Done() <-chan struct{} { return p.exited }

// Exit says how the process ended. Before Done is closed there is nothing to say:
// Code is -1 and all else is zero.
func (p *Process) Exit() ExitStatus {
	select {
	case <-p.exited:
		return p.exit
	default:
		return ExitStatus{Code: -1}
	}
}

// Tail returns the worker's last log lines, the oldest first; at most TailLines.
func (p *Process) Tail() []string { return p.book.last() }

// Logged is closed when the worker has ended and Spec.Log has returned from its
// last line. A Log that is stuck, or a descendant that holds a pipe (for DrainMost),
// delays it.
func (p *Process) Logged() <-chan struct{} { return p.book.told }

// Started is when the process was started.
func (p *Process) Started() time.Time { return p.started }

// Pid is the number of the process, and of its group.
func (p *Process) Pid() int { return p.pid }

// Stats returns the counters.
func (p *Process) Stats() Stats {
	lines, dropped := p.book.counts()
	return Stats{Sent: p.writer.Stats(), LogLines: lines, LogDropped: dropped}
}
