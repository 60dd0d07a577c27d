package actors

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// lane lets through one at a time, in the order in which they came. A session has one
// for the events that it hears, a peer one for those that it publishes.
type lane struct {
	mu sync.Mutex
	// queue are those who wait; the first one's turn it is.
	queue []*turn
	bytes int
	// waited is for how long those who found no room were held up, less what was made
	// good for; room has a value when one has left.
	waited time.Duration
	room   chan struct{}
}

// turn is a place in a lane. A nil one waits for nobody.
type turn struct {
	lane *lane
	size int
	// come closes when it is its turn; nil where it was at once.
	come chan struct{}
}

// enter takes the last place, or says why there is none: who finds no room is held up for
// a moment, as by a backlog, so that a burst is not too much for who is quick. Who comes
// alone finds room, whatever its size is.
func (l *lane) enter(size int, most Limits) (*turn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		full := l.full(size, most)
		if full == nil {
			return l.add(size), nil
		}
		if l.waited >= mostPatience {
			return nil, full
		}
		l.giveWay()
	}
}

func (l *lane) full(size int, most Limits) error {
	waiting := len(l.queue) - 1
	switch {
	case waiting >= most.Events:
		return fmt.Errorf("%d events wait for it, the limit (events)", waiting)
	case waiting >= 0 && l.bytes+size > most.EventBytes:
		return fmt.Errorf("%d bytes of events wait for it, the limit is %d (eventBytes)", l.bytes, most.EventBytes)
	}
	return nil
}

// giveWay waits until somebody leaves, without the lock.
func (l *lane) giveWay() {
	if l.room == nil {
		l.room = make(chan struct{}, 1)
	}
	bell := time.NewTimer(mostPatience - l.waited)
	defer bell.Stop()
	began := time.Now()
	l.mu.Unlock()
	select {
	case <-l.room:
	case <-bell.C:
	}
	l.mu.Lock()
	l.waited += time.Since(began)
}

// follow takes the last place of a lane whose length is bounded by what comes to it.
func (l *lane) follow() *turn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.add(0)
}

func (l *lane) add(size int) *turn {
	t := &turn{lane: l, size: size}
	if len(l.queue) > 0 {
		t.come = make(chan struct{})
	}
	l.queue = append(l.queue, t)
	l.bytes += size
	return t
}

// await returns when it is its turn; when ctx ends, or at a moment that is not zero, it
// returns all the same.
func (t *turn) await(ctx context.Context, until time.Time) {
	if t == nil || t.come == nil {
		return
	}
	if !until.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, until)
		defer cancel()
	}
	select {
	case <-t.come:
	case <-ctx.Done():
	}
}

// leave lets the next one through. It may be called again.
func (t *turn) leave() {
	if t == nil {
		return
	}
	l := t.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.Index(l.queue, t)
	if at < 0 {
		return
	}
	l.queue = slices.Delete(l.queue, at, at+1)
	l.bytes -= t.size
	if l.room != nil {
		l.waited = max(l.waited-itemPatience, 0)
		signal(l.room)
	}
	switch {
	case len(l.queue) == 0:
		l.queue = nil
	case at == 0:
		close(l.queue[0].come)
	}
}
