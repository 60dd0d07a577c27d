package audit

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services"
)

// Options bound a Trail. The zero value works: each zero means the default that stands
// there.
type Options struct {
	// Queue is how many records may wait to be written; 0 means 1024.
	Queue int
	// Kinds is how many kinds of denials of one plugin are told apart in one window; 0
	// means 16.
	Kinds int
	// Plugins is of how many plugins denials are counted at a time; those of others are
	// dropped; 0 means 1024.
	Plugins int
	// Window is for how long denials of one kind are one record, at first; MaxWindow is
	// what that grows to while they go on; 0 means a minute and an hour.
	Window, MaxWindow time.Duration
	// Write is how long writing one record may take; 0 means 10 s.
	Write time.Duration
	// Log is told when records cannot be kept; nil discards it.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	setDefault(&o.Queue, 1024)
	setDefault(&o.Kinds, 16)
	setDefault(&o.Plugins, 1024)
	setDefault(&o.Window, time.Minute)
	setDefault(&o.MaxWindow, time.Hour)
	setDefault(&o.Write, 10*time.Second)
	o.MaxWindow = max(o.MaxWindow, o.Window)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func setDefault[N int | time.Duration](limit *N, otherwise N) {
	if *limit <= 0 {
		*limit = otherwise
	}
}

// Counts are what became of records.
type Counts struct {
	// Written were kept. Folded are denials that another record counts.
	Written, Folded int64
	// Dropped found no room, Failed could not be written.
	Dropped, Failed int64
	// Waiting wait to be written.
	Waiting int
}

// entry is a record that waits or, without one, who waits until it is reached.
type entry struct {
	record  services.Record
	reached chan struct{}
}

// Trail keeps records in the background. Its Close must follow.
type Trail struct {
	auditor services.Auditor
	o       Options
	queue   chan entry
	// live ends when what is being written is given up; done is closed when the writer
	// has ended.
	live   context.Context
	giveUp context.CancelFunc
	done   chan struct{}

	written, folded, dropped, failed atomic.Int64

	mu     sync.Mutex
	bursts map[string]*burst // by plugin
	closed bool
}

// New begins a trail that an auditor keeps.
func New(auditor services.Auditor, o Options) *Trail {
	t := &Trail{auditor: auditor, o: o.withDefaults(), done: make(chan struct{}), bursts: map[string]*burst{}}
	t.queue = make(chan entry, t.o.Queue)
	t.live, t.giveUp = context.WithCancel(context.Background())
	go t.write()
	return t
}

// Add has a record kept. A nil trail keeps none.
func (t *Trail) Add(r services.Record) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.enqueue(r)
}

// enqueue is with mu held, since the queue is closed under it.
func (t *Trail) enqueue(r services.Record) {
	if !t.closed {
		select {
		case t.queue <- entry{record: r}:
			return
		default:
		}
	}
	if n := t.dropped.Add(1); isRound(n) {
		t.o.Log.Warn("audit records were dropped: too many wait to be written", "plugin", r.Plugin, "count", n)
	}
}

// isRound tells whether a count is worth a line: the 1st, 10th, 100th, ….
func isRound(n int64) bool {
	for n%10 == 0 {
		n /= 10
	}
	return n == 1
}

func (t *Trail) write() {
	defer close(t.done)
	for e := range t.queue {
		if e.reached != nil {
			close(e.reached)
			continue
		}
		r := e.record
		ctx, cancel := context.WithTimeout(t.live, t.o.Write)
		_, err := t.auditor.Audit(ctx, r)
		cancel()
		if err == nil {
			t.written.Add(1)
			continue
		}
		if n := t.failed.Add(1); isRound(n) {
			t.o.Log.Warn("audit records were not kept", "plugin", r.Plugin, "action", r.Action, "error", err, "count", n)
		}
	}
}

// Flush returns when what waits now is written, or has failed. It fails when ctx ends, and
// where more than fits waits already. A nil trail has nothing.
func (t *Trail) Flush(ctx context.Context) error {
	if t == nil {
		return nil
	}
	reached := make(chan struct{})
	t.mu.Lock()
	closed := t.closed
	if !closed {
		select {
		case t.queue <- entry{reached: reached}:
		default:
			t.mu.Unlock()
			return &protocol.Error{Code: protocol.CodeOverloaded, Message: "too many audit records wait to be written: try again later"}
		}
	}
	t.mu.Unlock()
	if closed {
		reached = t.done
	}
	select {
	case <-reached:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Counts returns the counts as they are; those of a nil trail are zero.
func (t *Trail) Counts() Counts {
	if t == nil {
		return Counts{}
	}
	return Counts{
		Written: t.written.Load(), Folded: t.folded.Load(), Dropped: t.dropped.Load(), Failed: t.failed.Load(),
		Waiting: len(t.queue),
	}
}

// Close has written what waits, the numbers of denials among it, and takes no more. What
// is left when ctx ends is given up. It may be called again, and on a nil trail.
func (t *Trail) Close(ctx context.Context) {
	if t == nil {
		return
	}
	t.mu.Lock()
	if !t.closed {
		for _, b := range t.bursts {
			t.tell(b)
			b.timer.Stop()
		}
		t.closed = true
		close(t.queue)
	}
	t.mu.Unlock()
	defer context.AfterFunc(ctx, t.giveUp)()
	<-t.done
	t.giveUp()
}
