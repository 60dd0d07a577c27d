package ws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
	"github.com/airi-host/airi-host/protocol/airi/client"
)

// home is what others on the websocket do for a session.
type home struct{ m *module }

var _ protocol.Home = home{}

// Module identifies the module as it is announced.
func (h home) Module() protocol.Module {
	return protocol.Module{Name: h.m.o.Name, ID: h.m.o.Instance, Plugin: h.m.o.Name}
}

// Config is the configuration in force.
func (h home) Config() json.RawMessage {
	if config := h.m.config.Load(); config != nil {
		return *config
	}
	return nil
}

// Log is the plugin's own log.
func (h home) Log() *slog.Logger { return h.m.log }

// Emit tells all others an event.
func (h home) Emit(e protocol.Event) error {
	data, err := e.JSON()
	if err != nil {
		return fmt.Errorf("the payload of %s: %w", e.Name, err)
	}
	return h.m.emit(h.m.ctx, e.Name, data)
}

func (m *module) emit(ctx context.Context, name string, data json.RawMessage) error {
	m.room(ctx)
	m.mu.Lock()
	is := m.conn != nil && m.announced
	m.mu.Unlock()
	if !is {
		return m.fault(protocol.CodeNotReady, "there is no connection to the host for now: tell "+name+" again later")
	}
	return m.step(client.Emit{Name: name, Data: data})
}

// publish tells all an event: others, and the plugin's own handlers, since nobody is brought
// what they have sent.
func (m *module) publish(ctx context.Context, name string, data json.RawMessage) error {
	if err := m.emit(ctx, name, data); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.heard(client.Heard{Name: name, Data: airi.DataOf(data)})
	return nil
}

func (m *module) fault(code protocol.Code, message string) *protocol.Error {
	return &protocol.Error{Code: code, Plugin: m.o.Name, Message: message}
}

// Offer makes a capability known, or changes it.
func (h home) Offer(o protocol.Offer) error {
	m := h.m
	m.mu.Lock()
	full := !m.offered[o.Key] && len(m.offered) >= airi.MaxOffers
	if !full {
		m.offered[o.Key] = true
	}
	m.mu.Unlock()
	if full {
		return m.fault(protocol.CodeOverloaded, fmt.Sprintf("%s: %d keys are offered, the limit: offer fewer", o.Key, airi.MaxOffers))
	}
	return m.step(client.Offer{Offer: o})
}

// Retract withdraws one.
func (h home) Retract(key string) error {
	h.m.mu.Lock()
	delete(h.m.offered, key)
	h.m.mu.Unlock()
	return h.m.step(client.Retract{Key: key})
}

// Wait asks the host for each key.
func (h home) Wait(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		h.m.mu.Lock()
		negotiates := h.m.negotiates
		h.m.mu.Unlock()
		if !negotiates {
			return &protocol.Error{Code: protocol.CodeNotFound, Plugin: h.m.o.Name, Message: "waiting for " + key, Err: plugin.ErrNotOffered}
		}
		input, err := json.Marshal(map[string]string{"key": key})
		if err != nil {
			return err
		}
		if _, err := h.Serve(ctx, protocol.Call{Key: airi.ServiceCapabilityWait, Input: input}); err != nil {
			return err
		}
	}
	return nil
}

// Serve calls what others offer, or tells them an event. What the plugin offers itself is its
// own to answer: the wire brings back to nobody what they have sent.
func (h home) Serve(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
	m := h.m
	if name, is := strings.CutPrefix(c.Key, "event:"); is {
		return json.RawMessage("null"), m.publish(ctx, name, c.Input)
	}
	if c.Plugin != "" && c.Plugin != m.o.Name {
		return nil, &protocol.Error{
			Code: protocol.CodeInvalid, Plugin: m.o.Name, Err: plugin.ErrNotOffered,
			Message: fmt.Sprintf("%s of plugin %s: this wire cannot name whose capability is called: call without plugin.Of", c.Key, c.Plugin),
		}
	}
	if c.Deadline.IsZero() {
		c.Deadline = time.Now().Add(m.o.CallTime)
		if d, ok := ctx.Deadline(); ok {
			c.Deadline = d
		}
	}
	ctx, cancel := context.WithDeadline(ctx, c.Deadline)
	defer cancel()
	if m.session.HasHandler(c.Key) {
		return m.session.Invoke(ctx, &c)
	}
	return m.call(ctx, c)
}

// waiting is somebody who waits for the end of a call.
type waiting struct {
	done chan protocol.Complete
	// parts is what comes before the end; nil where nobody follows.
	parts *queue
}

func (m *module) complete(e protocol.Complete) {
	if one := m.calls[e.ID]; one != nil {
		delete(m.calls, e.ID)
		one.done <- e
	}
}

// aroundInput is how many bytes of a frame are not its input, beside the key, at most.
const aroundInput = 512

// call makes a call of Eventa's.
func (m *module) call(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
	if most := m.o.MaxRecord - aroundInput - 4*len(c.Key); len(c.Input) > most {
		return nil, m.fault(protocol.CodeInvalid, fmt.Sprintf("the input of %s has %d bytes, the limit is %d: send less, or in parts", c.Key, len(c.Input), most))
	}
	begun := time.Now()
	if m.room(ctx); ctx.Err() != nil {
		return nil, m.gaveUp(ctx, c.Key, begun)
	}
	one := &waiting{done: make(chan protocol.Complete, 1)}
	if c.Progress != nil {
		one.parts = newQueue()
	}
	m.mu.Lock()
	m.lastCall++
	id := m.lastCall
	m.calls[id] = one
	m.mu.Unlock()
	_ = m.step(protocol.Invoke{ID: id, Call: protocol.Call{Key: c.Key, Input: c.Input}, Follows: c.Progress != nil, Feeds: c.Feed != nil})
	if c.Feed != nil {
		fed, stop := context.WithCancel(ctx)
		defer stop()
		go m.feed(fed, id, c)
	}
	return m.awaitEnd(ctx, id, one, c, begun)
}

// feed sends a request stream until its end, or that of its call.
func (m *module) feed(ctx context.Context, id protocol.CallID, c protocol.Call) {
	m.contained("the request stream for "+c.Key, func() error {
		for item, err := range c.Feed {
			if err != nil {
				return err
			}
			if m.room(ctx); ctx.Err() != nil {
				return ctx.Err()
			}
			if err := m.step(protocol.Feed{ID: id, Item: item}); tooLong(err) {
				return err
			}
		}
		return nil
	}, func(err error) { _ = m.step(protocol.FeedEnd{ID: id, Err: err}) })
}

// awaitEnd waits for the end of a call, and hands on what comes before it.
func (m *module) awaitEnd(ctx context.Context, id protocol.CallID, one *waiting, c protocol.Call, begun time.Time) (json.RawMessage, error) {
	for {
		select {
		case end := <-one.done:
			if err := hand(one.parts, c.Progress); err != nil {
				return nil, err
			}
			return end.Result, end.Err
		case <-one.parts.signal():
			if err := hand(one.parts, c.Progress); err != nil {
				m.leave(id)
				return nil, err
			}
		case <-ctx.Done():
			m.leave(id)
			return nil, m.gaveUp(ctx, c.Key, begun)
		}
	}
}

func hand(parts *queue, take func(json.RawMessage) error) error {
	items, _, err := parts.take()
	for _, item := range items {
		if err := take(item); err != nil {
			return err
		}
	}
	return err
}

// leave gives up a call, of which the callee is told.
func (m *module) leave(id protocol.CallID) {
	_ = m.step(protocol.Cancel{ID: id})
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.calls, id)
}

// gaveUp says which limit ended a call.
func (m *module) gaveUp(ctx context.Context, key string, begun time.Time) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return m.fault(protocol.CodeTimeout, fmt.Sprintf("%s: nobody answered within the caller's limit of %s",
			key, time.Since(begun).Round(time.Millisecond)))
	}
	err := m.fault(protocol.CodeCancelled, "nobody waits for "+key+" any more")
	err.Err = ctx.Err()
	return err
}
