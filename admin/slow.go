package admin

import (
	"context"
	"net/http"
	"time"
)

// Requests hold one of a limited number of places while their bodies come. Where all
// places are taken, the request whose body has been awaited for longest is broken off, so
// that whoever sends bodies slowly keeps nobody from being answered.

const (
	// slowBody is how long a body is awaited before its request may be broken off.
	slowBody = time.Second
	// roomTime is how long it may take until the place of one that was is free.
	roomTime = time.Second
)

// placed notes that a request holds a place of some sort.
func placed(r *http.Request, sort string) {
	if c, ok := r.Context().Value(connectionKey{}).(*connection); ok { // else in tests
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		c.place = sort
	}
}

// enter takes a place, if need be that of a request of these sorts whose body does not
// come. It tells whether it has one.
func (s *Server) enter(ctx context.Context, places chan struct{}, sorts func(string) bool) bool {
	select {
	case places <- struct{}{}:
		return true
	default:
	}
	if !s.breakOff(sorts) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, roomTime)
	defer cancel()
	select {
	case places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// breakOff ends the request of these sorts whose body has been awaited for longest, if any
// has for slowBody.
func (s *Server) breakOff(sorts func(string) bool) bool {
	s.mu.Lock()
	listeners := s.limited
	s.mu.Unlock()
	latest := time.Now().Add(-slowBody)
	var oldest *connection
	var since time.Time
	for _, l := range listeners {
		if c, at := l.slowest(sorts); c != nil && !at.After(latest) && (oldest == nil || at.Before(since)) {
			oldest, since = c, at
		}
	}
	if oldest == nil {
		return false
	}
	s.pushed.Add(1)
	_ = oldest.Close() // its request ends, however it closes
	return true
}

// slowest is the connection of the longest awaited body of these sorts.
func (l *limited) slowest(sorts func(string) bool) (c *connection, since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for e := l.idle.Front(); e != nil; e = e.Next() {
		if c, _ := e.Value.(*connection); c.place != "" && sorts(c.place) {
			return c, c.since
		}
	}
	return nil, time.Time{}
}
