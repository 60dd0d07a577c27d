package gateway

import (
	"bytes"
	"errors"
	"slices"
	"sync"

	"github.com/airi-host/airi-host/protocol/airi"
	"github.com/airi-host/airi-host/transport"
)

// link is the connection between a session of the host and the gateway. What the session
// sends goes out at once; what comes for it waits until it is received.
type link struct {
	g *Gateway
	m *member
	// guest tells whose session it leads to, among all guests of the host.
	guest string
	// gone closes when that session has ended it.
	gone chan struct{}

	mu sync.Mutex
	// queue waits to be received, bytes is what it has together.
	queue [][]byte
	bytes int
	// losses are the notes of a connection's end of which the session has not said yet that
	// it knows. What it sends until then was for that connection.
	losses int
	// why is set by its end: of the member's or, with isClosed, by the session's own.
	why      error
	isClosed bool
	// ready is told, if armed, that there is something to receive; nobody waits for it, so
	// that a session that says nothing has no goroutine.
	ready func()
	armed bool
	// room closes for those who wait for some.
	room chan struct{}
}

var (
	_ transport.Notifier = (*link)(nil)
	_ transport.Limited  = (*link)(nil)
)

func newLink(g *Gateway, m *member, guest string) *link {
	return &link{g: g, m: m, guest: guest, gone: make(chan struct{})}
}

// MaxRecord is that of the websockets.
func (l *link) MaxRecord() int { return l.g.maxRecord() }

// Send sends a frame of Eventa to the module's peer, and does what a note says.
func (l *link) Send(record []byte) error {
	l.mu.Lock()
	why := l.why
	l.mu.Unlock()
	if why != nil {
		return why
	}
	switch note, ok := airi.ReadNote(record); {
	case ok && note.Verb == airi.NoteKnows:
		l.known()
		return nil
	case ok:
		l.g.noted(l.m, note)
		return nil
	}
	return l.g.deliver(l, record)
}

// known takes it that the session knows of one more connection that is over.
func (l *link) known() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.losses = max(l.losses-1, 0)
}

// isLate tells that the session does not know yet that a connection is over.
func (l *link) isLate() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.losses > 0
}

// isLoss tells the notes with which a connection is over: no frame begins so.
func isLoss(record []byte) bool {
	return bytes.HasPrefix(record, []byte(airi.NoteAway)) || bytes.HasPrefix(record, []byte(airi.NoteSwapped))
}

// isAnnouncement tells the notes of what a module says of itself.
func isAnnouncement(record []byte) bool { return bytes.HasPrefix(record, []byte(airi.NoteAnnounced)) }

// supersede takes an announcement that waits out of the queue, since a newer one says all
// that holds: connections that take one identity from each other do not fill it. mu is held.
func (l *link) supersede() {
	if i := slices.IndexFunc(l.queue, isAnnouncement); i >= 0 {
		l.bytes -= len(l.queue[i])
		l.queue = slices.Delete(l.queue, i, i+1)
	}
}

// push queues what the link owns from then on. It takes everything: whoever pushes waits
// for room afterwards.
func (l *link) push(record []byte) {
	l.mu.Lock()
	if l.why != nil {
		l.mu.Unlock()
		return
	}
	if isLoss(record) {
		l.losses++
	}
	if isAnnouncement(record) {
		l.supersede()
	}
	l.queue = append(l.queue, record)
	l.bytes += len(record)
	wake := l.wake()
	l.mu.Unlock()
	wake()
}

// wake returns what tells who receives that there is something; mu is held.
func (l *link) wake() func() {
	if !l.armed {
		return func() {}
	}
	l.armed = false
	return l.ready
}

// Notify has ready called when there is something to receive, at once if there is; see
// transport.Notifier.
func (l *link) Notify(ready func()) {
	l.mu.Lock()
	l.ready, l.armed = ready, len(l.queue) == 0 && l.why == nil
	now := !l.armed
	l.mu.Unlock()
	if now {
		ready()
	}
}

// isFull tells whether more waits than should; mu is held.
func (l *link) isFull() bool {
	return len(l.queue) >= l.g.o.LinkRecords || len(l.queue) > 1 && l.bytes >= l.g.o.LinkBytes
}

// behind returns what closes when there is room; nil where there is.
func (l *link) behind() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why != nil || !l.isFull() {
		return nil
	}
	if l.room == nil {
		l.room = make(chan struct{})
	}
	return l.room
}

// Recv returns the next record.
func (l *link) Recv() ([]byte, error) {
	come := make(chan struct{}, 1)
	l.Notify(func() { come <- struct{}{} })
	for {
		<-come
		if record, err := l.TryRecv(); !errors.Is(err, transport.ErrNotYet) {
			return record, err
		}
	}
}

// TryRecv returns the next record if there is one.
func (l *link) TryRecv() ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case len(l.queue) > 0 && !l.isClosed:
	case l.why != nil:
		return nil, l.why
	default:
		l.armed = true
		return nil, transport.ErrNotYet
	}
	record := l.queue[0]
	l.queue[0] = nil
	l.queue = l.queue[1:]
	l.bytes -= len(record)
	if len(l.queue) == 0 {
		l.queue = nil
	}
	if l.room != nil && !l.isFull() {
		close(l.room)
		l.room = nil
	}
	return record, nil
}

// end is the end from the module's side: what waits is received before it.
func (l *link) end(why error) { l.finish(why, false) }

// Close is the end from the session's side.
func (l *link) Close() error {
	if l.finish(transport.ErrClosed, true) {
		l.g.unlinked(l.m, l)
	}
	return nil
}

// finish tells whether a session's own end is its first.
func (l *link) finish(why error, closed bool) (first bool) {
	l.mu.Lock()
	if l.why == nil {
		l.why = why
	}
	if closed {
		first = !l.isClosed
		l.queue, l.bytes, l.isClosed = nil, 0, true
	}
	if l.room != nil {
		close(l.room)
		l.room = nil
	}
	wake := l.wake()
	l.mu.Unlock()
	wake()
	return first
}

// leaving is why a link ends whose module has gone.
type leaving string

func (r leaving) Error() string { return string(r) }
