package admin

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// feed holds the lines that wait for one follower, within bounds. Whoever puts them in
// never waits: what does not fit is counted, and told in its place.
type feed struct {
	mostLines, mostBytes int
	// wake has a value when there is something to look for.
	wake chan struct{}

	mu      sync.Mutex
	waiting []feedLine
	bytes   int
	// missed is how many lines were left out behind the last one that waits; total, in
	// all.
	missed, total uint64
	ended         bool
}

// feedLine is a line, and how many were left out before it.
type feedLine struct {
	missed uint64
	text   []byte
}

func newFeed(l Limits) *feed {
	return &feed{mostLines: l.FollowLines, mostBytes: l.FollowBytes, wake: make(chan struct{}, 1)}
}

// put adds a line, or counts it as missed; a line for which there is no room is not
// asked for. It tells whether it woke the follower.
func (f *feed) put(text func() []byte) (woke bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.ended:
		return false
	case len(f.waiting) >= f.mostLines || f.bytes >= f.mostBytes:
		f.miss(1)
		return false
	}
	line := text()
	f.waiting = append(f.waiting, feedLine{f.missed, line})
	f.missed = 0
	f.bytes += len(line)
	return f.signal()
}

// lose counts lines that were missed before they came here; it tells whether it woke the
// follower.
func (f *feed) lose(n uint64) (woke bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.miss(n)
	return f.signal()
}

func (f *feed) miss(n uint64) {
	f.missed += n
	f.total += n
}

// end tells that nothing more comes; what waits can still be taken.
func (f *feed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.signal()
}

func (f *feed) signal() bool {
	select {
	case f.wake <- struct{}{}:
		return true
	default:
		return false
	}
}

// take takes all that waits, gaps among it.
func (f *feed) take() (text []byte, ended bool) {
	f.mu.Lock()
	waiting, missed := f.waiting, f.missed
	f.waiting, f.bytes, f.missed = nil, 0, 0
	ended = f.ended
	f.mu.Unlock()
	var b bytes.Buffer
	for _, line := range waiting {
		gap(&b, line.missed)
		b.Write(line.text)
		b.WriteByte('\n')
	}
	gap(&b, missed)
	return b.Bytes(), ended
}

// depth is how many lines wait, and how many were missed so far.
func (f *feed) depth() (waiting int, missed uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.waiting), f.total
}

// gap writes the line of a gap, if there is one.
func gap(b *bytes.Buffer, missed uint64) {
	if missed > 0 {
		b.WriteString(`{"event":"gap","missed":` + strconv.FormatUint(missed, 10) + "}\n")
	}
}

// follow writes what comes through a feed until it ends, its reader goes, or is expelled.
func (s *Server) follow(w http.ResponseWriter, r *http.Request, f *feed) error {
	// A follower may read as late as it likes: what waits for it is bounded.
	to := http.NewResponseController(w)
	_ = to.SetWriteDeadline(time.Time{}) // in tests there may be no connection
	if err := to.Flush(); err != nil {   // the head: it listens by now
		return err
	}
	admits := admitted(r)
	for admits.Err() == nil {
		text, ended := f.take()
		if len(text) > 0 {
			if _, err := w.Write(text); err != nil {
				return err
			}
			if err := to.Flush(); err != nil {
				return err
			}
			continue
		}
		if ended {
			return nil
		}
		select {
		case <-f.wake:
		case <-admits.Done():
		case <-r.Context().Done():
			return context.Cause(r.Context())
		}
	}
	return nil
}

// followers are the feeds of those who follow.
type followers struct {
	limits Limits

	mu    sync.Mutex
	feeds map[*feed]bool
	// gone is how many lines those have missed that do not follow any more.
	gone  uint64
	ended bool
}

// admit lets one more in.
func (f *followers) admit() (*feed, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.feeds) >= f.limits.Followers {
		return nil, &protocol.Error{
			Code: codeOverloaded, Message: fmt.Sprintf("there are %d followers, the limit: try again later", f.limits.Followers),
		}
	}
	one := newFeed(f.limits)
	f.feeds[one] = true
	if f.ended {
		one.end()
	}
	return one, nil
}

func (f *followers) leave(one *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.feeds, one)
	_, missed := one.depth()
	f.gone += missed
}

// end tells all, and those to come, that it is over.
func (f *followers) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	for one := range f.feeds {
		one.end()
	}
}

// depth is how many there are, how many lines wait for them, and how many they and
// others before them have missed.
func (f *followers) depth() (n, waiting int, missed uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	missed = f.gone
	for one := range f.feeds {
		w, m := one.depth()
		waiting += w
		missed += m
	}
	return len(f.feeds), waiting, missed
}

// writeLines writes values as lines.
func writeLines(w http.ResponseWriter, list [][]byte) error {
	soon(w)
	for _, line := range list {
		if _, err := w.Write(append(line[:len(line):len(line)], '\n')); err != nil {
			return err
		}
	}
	return nil
}
