package otlp

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Counts tell what became of what was given to a Sender.
type Counts struct {
	// Sent were taken by the collector, Failed were not, Dropped found no room.
	Sent, Failed, Dropped uint64
}

// queue gathers items and sends them in batches, on a goroutine of its own.
type queue[T any] struct {
	what    string
	deliver func(context.Context, []T) error
	batch   int
	every   time.Duration
	timeout time.Duration
	log     *slog.Logger

	items chan T
	// ending closes when no more is gathered; alive ends when nothing is sent any more.
	ending, done chan struct{}
	once         sync.Once
	alive        context.Context
	end          context.CancelFunc
	// broken tells that the last batch was not taken; only the sending goroutine has it.
	broken                bool
	sent, failed, dropped atomic.Uint64
}

func newQueue[T any](what string, o Options, deliver func(context.Context, []T) error) *queue[T] {
	q := &queue[T]{
		what: what, deliver: deliver, batch: o.Batch, every: o.Interval, timeout: o.Timeout, log: o.Log,
		items: make(chan T, o.Queue), ending: make(chan struct{}), done: make(chan struct{}),
	}
	q.alive, q.end = context.WithCancel(context.Background())
	go q.run()
	return q
}

// put never waits.
func (q *queue[T]) put(item T) {
	select {
	case <-q.ending:
		q.dropped.Add(1)
		return
	default:
	}
	select {
	case q.items <- item:
	default:
		if n := q.dropped.Add(1); isPowerOfTen(n) {
			q.log.Warn("telemetry is dropped: it comes faster than the collector takes it", "what", q.what, "count", n)
		}
	}
}

func (q *queue[T]) counts() Counts {
	return Counts{Sent: q.sent.Load(), Failed: q.failed.Load(), Dropped: q.dropped.Load()}
}

// close sends what is left, until ctx ends; what is left then has failed, and
// what is put from now on is dropped. It may be called again.
func (q *queue[T]) close(ctx context.Context) {
	defer q.end()
	defer context.AfterFunc(ctx, q.end)()
	q.once.Do(func() { close(q.ending) })
	<-q.done
}

func (q *queue[T]) run() {
	defer close(q.done)
	tick := time.NewTicker(q.every)
	defer tick.Stop()
	batch := make([]T, 0, q.batch)
	for {
		select {
		case item := <-q.items:
			if batch = append(batch, item); len(batch) < q.batch {
				continue
			}
		case <-tick.C:
		case <-q.ending:
			q.drain(batch)
			return
		}
		batch = q.flush(batch)
	}
}

// drain sends a batch that has begun, and what is in the queue, as long as it may.
func (q *queue[T]) drain(batch []T) {
	for {
		select {
		case item := <-q.items:
			if batch = append(batch, item); len(batch) == q.batch {
				batch = q.flush(batch)
			}
		default:
			q.flush(batch)
			return
		}
	}
}

// flush sends a batch and returns an empty one.
func (q *queue[T]) flush(batch []T) []T {
	if len(batch) == 0 {
		return batch
	}
	ctx, cancel := context.WithTimeout(q.alive, q.timeout)
	defer cancel()
	err := ctx.Err()
	if err == nil {
		err = q.deliver(ctx, batch)
	}
	q.tell(err, len(batch))
	clear(batch)
	return batch[:0]
}

// tell counts a batch, and logs when the collector goes and when it is back.
func (q *queue[T]) tell(err error, n int) {
	if err == nil {
		q.sent.Add(uint64(n))
		if q.broken {
			q.log.Info("the telemetry collector is back", "what", q.what)
		}
	} else {
		q.failed.Add(uint64(n))
		if !q.broken {
			q.log.Warn("the telemetry collector does not take what is sent; it is tried on", "what", q.what, "count", n, "error", err)
		}
	}
	q.broken = err != nil
}

func isPowerOfTen(n uint64) bool {
	for n%10 == 0 && n > 0 {
		n /= 10
	}
	return n == 1
}
