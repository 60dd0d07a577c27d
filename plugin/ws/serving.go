package ws

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi/client"
)

// served is a call of others' that a handler works on.
type served struct {
	leave context.CancelFunc
	// feed is its request stream, nil for none.
	feed *queue
}

// serve begins a handler. It holds the lock.
func (m *module) serve(e protocol.Serve) {
	ctx, leave := context.WithCancel(m.ctx)
	one := &served{leave: leave}
	call := e.Call
	if e.Feeds {
		one.feed = newQueue()
		call.Feed = one.feed.each(ctx)
	}
	if e.Follows {
		call.Progress = func(item json.RawMessage) error { return m.report(ctx, e.ID, item) }
	}
	m.served[e.ID] = one
	m.task(func() {
		defer leave()
		var result json.RawMessage
		m.contained("the handler of "+call.Key, func() (err error) {
			result, err = m.session.Invoke(ctx, &call)
			return err
		}, func(err error) { m.reply(protocol.Reply{ID: e.ID, Result: result, Err: err}) })
	})
}

// report tells who follows a call what there is so far, and waits while they are behind.
func (m *module) report(ctx context.Context, id protocol.RequestID, item json.RawMessage) error {
	if m.room(ctx); ctx.Err() != nil {
		return ctx.Err()
	}
	return m.step(protocol.Report{ID: id, Item: item})
}

// reply answers a call. An answer that is too long becomes an error.
func (m *module) reply(r protocol.Reply) {
	m.room(m.ctx)
	m.mu.Lock()
	delete(m.served, r.ID)
	m.mu.Unlock()
	if err := m.step(r); tooLong(err) {
		_ = m.step(protocol.Reply{ID: r.ID, Err: fmt.Errorf("plugin %s: the answer: %w: send less, or in parts", m.o.Name, err)})
	}
}

// heard takes an event of others'. It holds the lock.
func (m *module) heard(e client.Heard) {
	if !m.session.Listens() && (e.Control || len(m.session.Hearers(e.Name)) == 0) {
		return
	}
	if len(m.events) >= m.o.pending() {
		m.passOver("an event was not heard: too many wait for whoever hears them", "event", e.Name)
		return
	}
	m.events = append(m.events, e)
	if !m.hearing {
		m.hearing = true
		m.task(m.hear)
	}
}

// hear tells of the events that wait, in order.
func (m *module) hear() {
	for {
		m.mu.Lock()
		if len(m.events) == 0 {
			m.events, m.hearing = nil, false
			m.mu.Unlock()
			return
		}
		e := m.events[0]
		m.events = m.events[1:]
		m.mu.Unlock()
		m.tell(e)
	}
}

// tell hands an event to those who listen, and to the handlers that it is for.
func (m *module) tell(e client.Heard) {
	report := func(err error) {
		if err != nil {
			m.log.ErrorContext(m.ctx, "whoever hears an event failed", "event", e.Name, "error", err)
		}
	}
	m.apart("whoever listens", func() error {
		m.session.Emit(protocol.Event{Name: e.Name, Payload: e.Data})
		return nil
	}, report)
	if e.Control {
		return
	}
	for _, key := range m.session.Hearers(e.Name) {
		m.apart("the handler of "+key, func() error {
			ctx, cancel := context.WithCancel(m.ctx)
			defer cancel()
			_, err := m.session.Invoke(ctx, &protocol.Call{Key: key, Input: e.Data})
			return err
		}, report)
	}
}

// apart runs what an author wrote on a goroutine of its own, which it may end, and waits.
func (m *module) apart(what string, run func() error, then func(error)) {
	done := make(chan error, 1)
	go m.contained(what, run, func(err error) { done <- err })
	then(<-done)
}
