package actors

import (
	"context"
	"sync"
	"time"
)

// serving is one call that a peer makes of the host, and the context in which it is
// served: it ends when the peer gives the call up, or goes. Most services answer
// before they ask for anything of a context, so that little of it is made at first.
type serving struct {
	key string
	// by is who makes it.
	by *handle
	// flow is what it has if the peer follows or feeds it, else nil.
	flow *flow
	// turn is its place among what the peer publishes events by, else nil.
	turn *turn

	mu  sync.Mutex
	err error
	// done is made when somebody asks for it.
	done chan struct{}
	// then are what runs at the end, by number.
	then map[int]func()
	last int
}

var _ context.Context = (*serving)(nil)

// Deadline is none: a service has limits of its own.
func (s *serving) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value is none, but for who calls, and the turn of what publishes.
func (s *serving) Value(key any) any {
	switch {
	case key == servedFor{}:
		return s.by
	case key == publishing{} && s.turn != nil:
		return s.turn
	}
	return nil
}

// Err is nil until the end.
func (s *serving) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Done closes at the end.
func (s *serving) Done() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == nil {
		s.done = make(chan struct{})
		if s.err != nil {
			close(s.done)
		}
	}
	return s.done
}

// AfterFunc is what package context looks for, so that contexts made of this one cost
// no goroutine: f runs on its own at the end, unless stop comes first.
func (s *serving) AfterFunc(f func()) (stop func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		go f()
		return func() bool { return false }
	}
	if s.then == nil {
		s.then = map[int]func(){}
	}
	s.last++
	n := s.last
	s.then[n] = f
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		_, waits := s.then[n]
		delete(s.then, n)
		return waits
	}
}

// stop ends it, once.
func (s *serving) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.err = context.Canceled
	if s.done != nil {
		close(s.done)
	}
	for _, f := range s.then {
		go f()
	}
	s.then = nil
}
