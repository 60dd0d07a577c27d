package ws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi/client"
	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/websocket"
)

// module moves what a client decides: one goroutine connects and reads, every call of others'
// has one of its own, and so have events and hooks, one after the other.
type module struct {
	o       Options
	session *plugin.Session
	log     *slog.Logger
	config  atomic.Pointer[json.RawMessage]

	// ctx is the one of all handlers and hooks.
	ctx    context.Context
	cancel context.CancelFunc
	// over is closed when nothing more is to be done; err tells why.
	over chan struct{}

	// hooks is held by the hook that runs.
	hooks sync.Mutex

	mu     sync.Mutex
	client *client.Client
	// conn is nil while there is none; hung is why it was given up, announced tells that the
	// module was announced on it, negotiates that a host has settled the versions.
	conn                  *websocket.Conn
	hung                  error
	announced, negotiates bool
	// unsent is why the last record of a step was not sent.
	unsent  error
	effects []client.Effect
	timers  map[protocol.TimerID]*time.Timer
	// offered are the keys that others know, or are to know.
	offered map[string]bool
	setUp   bool
	ended   bool
	err     error

	calls    map[protocol.CallID]*waiting
	lastCall protocol.CallID
	served   map[protocol.RequestID]*served
	// events wait to be heard; hearing tells that somebody is at them.
	events  []client.Heard
	hearing bool
	// running counts hooks, handlers and who hears events; idle is closed when none runs, for
	// who waits for that.
	running int
	idle    chan struct{}
	// unused counts what of others' was not used.
	unused protocol.Strays
	count  uint64
	// remarks are for the log, once the lock is free.
	remarks []func()
}

func newModule(ctx context.Context, d *plugin.Definition, o Options) *module {
	m := &module{
		o: o, log: slog.New(o.Log), over: make(chan struct{}),
		client:  client.New(o.client(), d.Offers()),
		timers:  map[protocol.TimerID]*time.Timer{},
		offered: map[string]bool{},
		calls:   map[protocol.CallID]*waiting{}, served: map[protocol.RequestID]*served{},
	}
	for _, one := range d.Offers() {
		m.offered[one.Key] = true
	}
	m.ctx, m.cancel = context.WithCancel(context.WithoutCancel(ctx))
	m.session = d.Open(home{m}).(*plugin.Session)
	return m
}

// step gives the client what happened and does what comes of it.
func (m *module) step(in client.Input) (unsent error) {
	m.mu.Lock()
	unsent = m.stepLocked(in)
	remarks := m.remarks
	m.remarks = nil
	m.mu.Unlock()
	for _, tell := range remarks {
		tell()
	}
	return unsent
}

func (m *module) stepLocked(in client.Input) error {
	m.unsent = nil
	m.effects = m.client.Step(time.Now(), in, m.effects[:0])
	for i, e := range m.effects {
		m.effects[i] = nil
		m.carryOut(e)
	}
	return m.unsent
}

// carryOut does one thing. It holds the lock.
func (m *module) carryOut(e client.Effect) {
	switch e := e.(type) {
	case client.Send:
		m.send(e.Record)
	case client.Hangup:
		m.hangLocked(e.Err)
	case client.Announced:
		m.wasAnnounced(e)
	case client.Configured:
		config := e.Config
		m.config.Store(&config)
	case client.Run:
		m.task(func() { m.run(e.Step) })
	case client.Validate:
		m.task(func() { m.validate(e) })
	case client.Heard:
		m.heard(e)
	case protocol.Complete:
		m.complete(e)
	case protocol.Progress:
		if one := m.calls[e.ID]; one != nil && e.Item != nil {
			one.parts.add(e.Item)
		}
	case protocol.Serve:
		m.serve(e)
	case protocol.Fed:
		if one := m.served[e.ID]; one != nil {
			one.feed.add(e.Item)
		}
	case protocol.FedEnd:
		if one := m.served[e.ID]; one != nil {
			one.feed.end(e.Err)
		}
	case protocol.Abandon:
		if one := m.served[e.ID]; one != nil {
			one.leave()
		}
	default:
		m.bookkeep(e)
	}
}

func (m *module) bookkeep(e client.Effect) {
	switch e := e.(type) {
	case protocol.SetTimer:
		m.setTimer(e)
	case protocol.StopTimer:
		m.stopTimer(e.Timer)
	case protocol.Dropped:
		m.dropped(e)
	case protocol.Fail:
		m.finishLocked(e.Err)
	}
}

// send writes a record. A queue that is full has ended the connection.
func (m *module) send(record []byte) {
	if m.conn == nil {
		return
	}
	if err := m.conn.Send(record); err != nil {
		m.unsent = err
	}
}

func (m *module) wasAnnounced(e client.Announced) {
	m.announced, m.negotiates = true, e.Negotiates
	m.remark(slog.LevelInfo, "the module is announced", "url", m.o.URL, "name", m.o.Name, "instance", m.o.Instance,
		"negotiated", e.Negotiates, "again", e.Again, "unanswered", e.Unanswered)
}

func (m *module) remark(level slog.Level, text string, pairs ...any) {
	m.remarks = append(m.remarks, func() { m.log.Log(m.ctx, level, text, pairs...) }) //nolint:sloglint // whoever remarks something has a constant text
}

func (m *module) dropped(d protocol.Dropped) {
	m.passOver("something was not used", "what", d.What, "detail", d.Detail)
}

// passOver counts something of others' that is not used; the log shows the beginning.
func (m *module) passOver(text string, pairs ...any) {
	m.count++
	if m.unused.Show(time.Now()) {
		m.remark(slog.LevelWarn, text, append(pairs, "count", m.count)...)
	}
}

// setTimer has the client told, unless the timer is set anew or stopped before.
func (m *module) setTimer(e protocol.SetTimer) {
	m.stopTimer(e.Timer)
	var t *time.Timer
	t = time.AfterFunc(e.After, func() {
		m.mu.Lock()
		is := m.timers[e.Timer] == t
		m.mu.Unlock()
		if is {
			_ = m.step(protocol.Fired{Timer: e.Timer})
		}
	})
	m.timers[e.Timer] = t
}

func (m *module) stopTimer(id protocol.TimerID) {
	if t := m.timers[id]; t != nil {
		t.Stop()
		delete(m.timers, id)
	}
}

// finish tells, once, that everything is over.
func (m *module) finish(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.finishLocked(err)
}

func (m *module) finishLocked(err error) {
	if !m.ended {
		m.ended, m.err = true, err
		close(m.over)
	}
}

func (m *module) isOver() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ended
}

func (m *module) failure() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// close ends what is left: no timer fires any more.
func (m *module) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id := range m.timers {
		m.stopTimer(id)
	}
}

// task does something on a goroutine of its own. It holds the lock.
func (m *module) task(do func()) {
	m.running++
	go func() {
		defer m.settle()
		do()
	}()
}

func (m *module) settle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running--; m.running == 0 && m.idle != nil {
		close(m.idle)
		m.idle = nil
	}
}

// wait gives what runs some time.
func (m *module) wait(limit time.Duration) {
	m.mu.Lock()
	if m.running == 0 {
		m.mu.Unlock()
		return
	}
	if m.idle == nil {
		m.idle = make(chan struct{})
	}
	idle := m.idle
	m.mu.Unlock()
	grace := time.NewTimer(limit)
	defer grace.Stop()
	select {
	case <-idle:
	case <-grace.C:
	}
}

var errNotReturned = errors.New("not returned")

// contained runs what an author wrote: a panic becomes an error, and so does the end of its
// goroutine, after which then is called.
func (m *module) contained(what string, run func() error, then func(error)) {
	err := errNotReturned
	defer func() {
		if err == errNotReturned { //nolint:errorlint // this very value
			err = m.panicked(what, recover())
		}
		then(err)
	}()
	err = run()
}

func (m *module) panicked(what string, value any) error {
	if value == nil {
		return fmt.Errorf("plugin %s: %s ended its goroutine without an answer", m.o.Name, what)
	}
	m.log.ErrorContext(m.ctx, "a handler panicked", "what", what, "panic", fmt.Sprint(value), "stack", string(debug.Stack()))
	return fmt.Errorf("plugin %s: %s panicked: %v", m.o.Name, what, value)
}

// tooLong tells of a record that was not sent for its length.
func tooLong(err error) bool {
	var long *transport.TooLongError
	return errors.As(err, &long)
}
