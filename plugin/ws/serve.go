package ws

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi/client"
	"github.com/airi-host/airi-host/transport/websocket"
)

// ErrToken tells that the server does not take the token, which is not tried again.
var ErrToken = client.ErrToken

// Serve is a plugin's life as a module on a websocket. Package documentation tells how its
// parts appear there.
//
// It returns nil when ctx has ended: then OnStop has run, handlers were waited for, and the
// server has been told goodbye. Otherwise it returns what cannot get better by itself:
// [ErrToken], a host that rejects the module, a hook that fails at the start (the server is
// told so), or more than Options.Tries connections in a row that came to nothing.
func Serve(ctx context.Context, d *plugin.Definition, o Options) error {
	o, err := o.resolved(d)
	if err != nil {
		return err
	}
	m := newModule(ctx, d, o)
	dialling, hangUp := context.WithCancel(m.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.connect(dialling)
	}()
	go m.watchHealth(dialling)
	select {
	case <-ctx.Done():
		m.stop()
	case <-m.over:
	}
	m.cancel()
	m.wait(o.Grace)
	m.drain()
	hangUp()
	m.hang(nil)
	<-done
	m.wait(o.Grace)
	m.close()
	return m.failure()
}

// connect makes connections until it is told to stop.
func (m *module) connect(ctx context.Context) {
	for failed := 0; ctx.Err() == nil && !m.isOver(); {
		announced, err := m.connection(ctx)
		if failed++; announced {
			failed = 1
		}
		switch {
		case ctx.Err() != nil || m.isOver():
			return
		case isFinal(err):
			m.finish(err)
			return
		case m.o.Tries > 0 && failed >= m.o.Tries:
			m.finish(fmt.Errorf("%d connections came to nothing, the limit: %w", failed, err))
			return
		}
		pause := m.o.pause(failed, func(d time.Duration) time.Duration { return rand.N(d + 1) })
		m.log.WarnContext(ctx, "there is no connection", "url", m.o.URL, "error", err, "again_in", pause)
		again := time.NewTimer(pause)
		select {
		case <-again.C:
		case <-ctx.Done():
		case <-m.over:
		}
		again.Stop()
	}
}

// isFinal tells of what will be the same next time: a refusal of a token or of who may come,
// or an address that is none.
func isFinal(err error) bool {
	if errors.Is(err, websocket.ErrAddress) {
		return true
	}
	var refused *websocket.RefusedError
	return errors.As(err, &refused) && (refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden)
}

// connection is one, from its beginning to its end, which it returns, and whether the module
// was announced on it.
func (m *module) connection(ctx context.Context) (announced bool, err error) {
	conn, err := websocket.Dial(ctx, m.o.URL, m.o.dial())
	if err != nil {
		return false, err
	}
	m.begin(conn)
	for {
		record, err := conn.Recv()
		if err != nil {
			announced, err = m.lost(err)
			_ = conn.Close()
			<-conn.Done()
			return announced, err
		}
		_ = m.step(client.Arrived{Record: append([]byte(nil), record...)})
	}
}

// begin has the module go on by a connection.
func (m *module) begin(conn *websocket.Conn) {
	m.mu.Lock()
	m.conn, m.hung, m.announced = conn, nil, false
	m.mu.Unlock()
	_ = m.step(client.Opened{})
}

// lost ends a connection for the module.
func (m *module) lost(err error) (announced bool, why error) {
	m.mu.Lock()
	m.conn = nil
	if m.hung != nil {
		err = m.hung
	}
	announced = m.announced
	m.mu.Unlock()
	_ = m.step(client.Lost{Err: err})
	return announced, err
}

// hang ends the connection, for a reason, or because everything is over.
func (m *module) hang(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hangLocked(err)
}

func (m *module) hangLocked(err error) {
	if m.conn == nil {
		return
	}
	if m.hung == nil {
		m.hung = err
	}
	_ = m.conn.Close()
}

// drain waits until the server has read what was written, as long as it may take.
func (m *module) drain() {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	m.await(ctx, func(s websocket.Stats) bool { return s.QueuedRecords == 0 })
}

// room waits while too much waits for the server.
func (m *module) room(ctx context.Context) {
	m.await(ctx, func(s websocket.Stats) bool {
		return s.QueuedBytes < m.o.QueueBytes/2 && s.QueuedRecords < m.o.queueRecords()/2
	})
}

// lookEvery is how often it is looked whether the server has read something, which nobody
// tells.
const lookEvery = 2 * time.Millisecond

func (m *module) await(ctx context.Context, holds func(websocket.Stats) bool) {
	if m.holds(holds) {
		return
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for !m.holds(holds) {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

func (m *module) holds(what func(websocket.Stats) bool) bool {
	m.mu.Lock()
	conn := m.conn
	m.mu.Unlock()
	return conn == nil || what(conn.Stats())
}

// stop runs OnStop, where the plugin was ever set up.
func (m *module) stop() {
	m.mu.Lock()
	is := m.setUp
	m.mu.Unlock()
	if !is || !m.session.Has(protocol.StepStop) {
		return
	}
	if err := m.hook(protocol.StepStop); err != nil {
		m.log.ErrorContext(m.ctx, "the plugin did not stop well", "error", err)
	}
}
