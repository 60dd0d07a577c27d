package gateway

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol/airi"
	"github.com/airi-host/airi-host/protocol/airi/server"
	"github.com/airi-host/airi-host/transport"
)

// What goes between the sessions of the host and the peers of their modules.

// heardOfLife tells a session what was said of its life.
func (g *Gateway) heardOfLife(e server.Life) {
	m := g.members[e.Session]
	if e.Own && e.Type == statusEvent {
		m.unwell = saysFailed(e.Data)
	}
	if m.link == nil {
		return
	}
	verb := airi.NoteAsked
	if e.Own {
		if !e.Answers || !isResponse(e.Type) {
			verb = airi.NoteLife
		}
	} else if m.link.behind() != nil { // who asks cannot be made to wait for it
		g.drop(g.conns[e.Conn], droppedBehind)
		return
	}
	m.link.push(airi.AppendNote(nil, airi.Note{Verb: verb, Rest: e.Type, Data: e.Data}))
}

// isResponse tells whether an event answers a question, which may be a Configurator's.
func isResponse(kind string) bool { return strings.HasSuffix(kind, ":response") }

// saysFailed tells whether a module's status is that it has failed.
func saysFailed(data json.RawMessage) bool {
	var status struct {
		Phase lifecycle.State `json:"phase"`
	}
	_ = json.Unmarshal(data, &status) // what is no status says nothing
	return status.Phase == lifecycle.Failed
}

// droppedBehind counts what others say about a module whose session is behind.
const droppedBehind = "behind"

// routed passes an event that went to other peers on to plugins of the host that hear it,
// and to whoever watches.
func (g *Gateway) routed(e server.Routed) {
	c := g.conns[e.Conn]
	if c == nil || len(c.members) == 0 {
		return
	}
	if !g.o.Host.Wants(actors.KindChannel) && !g.o.Host.Hears("event:"+e.Frame.Type, Circle) {
		return
	}
	if m := c.find(anyMember); m != nil {
		m.link.push(airi.AppendNote(nil, airi.Note{Verb: airi.NoteSaid, Rest: e.Frame.Type, Data: e.Frame.Plain()}))
	}
}

// eventa hands a frame of Eventa's to the session whose call it answers; a call, to that of the
// connection's module that announced what is called, else to that of its first module.
func (g *Gateway) eventa(e server.EventaFrame) {
	c := g.conns[e.Conn]
	m := g.meant(c, e.Record)
	if m == nil {
		g.drop(c, droppedEventa)
		return
	}
	m.link.push(e.Record)
}

// droppedEventa counts frames of Eventa from a connection without a session.
const droppedEventa = "eventa"

func (g *Gateway) meant(c *conn, record []byte) *member {
	if len(c.members) > 1 {
		if session, ok := airi.RemoteTarget(record); ok {
			if m := c.find(func(m *member) bool { return uint64(m.id) == session }); m != nil {
				return m
			}
		}
	}
	if key, ok := airi.RemoteCalled(record); ok { // its own, which it knows
		if m := c.find(func(m *member) bool { return slices.Contains(m.module.PossibleEvents, key) }); m != nil {
			return m
		}
	}
	return c.find(anyMember)
}

func anyMember(*member) bool { return true }

// find returns the first module of a connection that has a session and is meant; nil for
// none.
func (c *conn) find(meant func(*member) bool) *member {
	i := slices.IndexFunc(c.members, func(m *member) bool { return m.link != nil && meant(m) })
	if i < 0 {
		return nil
	}
	return c.members[i]
}

// behind returns what closes when the first session that is behind is not, or when few come
// because of the connection; nil where there is nothing to wait for. Gateway.mu is held.
func (c *conn) behind() <-chan struct{} {
	if c.busy > maxBusy {
		if c.calm == nil {
			c.calm = make(chan struct{})
		}
		return c.calm
	}
	for _, m := range c.members {
		if m.link != nil {
			if behind := m.link.behind(); behind != nil {
				return behind
			}
		}
	}
	return nil
}

// await waits until the sessions of a connection's modules are not behind.
func (g *Gateway) await(c *conn, behind <-chan struct{}) {
	for behind != nil {
		<-behind
		g.mu.Lock()
		behind = c.behind()
		g.mu.Unlock()
	}
}

// noted does what a session says in a note.
func (g *Gateway) noted(m *member, n airi.Note) {
	switch n.Verb {
	case airi.NoteTell, airi.NoteEveryone:
		g.step(server.Tell{Session: m.id, Type: n.Rest, Data: n.Data, Everyone: n.Verb == airi.NoteEveryone})
	case airi.NoteDeliver:
		g.step(server.Tell{Session: m.id, Type: n.Rest, Data: n.Data, Bare: true})
	case airi.NoteConfigure:
		g.step(server.Configure{Session: m.id, Config: n.Data})
	}
}

// deliver sends a frame of Eventa to a module's peer. One that is away, or whose end is
// about to be told, gets nothing: the session is told of that. Nor does one get what was meant
// for another connection, and is about to be given up.
func (g *Gateway) deliver(l *link, record []byte) error {
	socket := l.m.socket.Load()
	if socket == nil || l.isLate() {
		return nil
	}
	err := socket.Send(record)
	if tooLong, ok := errors.AsType[*transport.TooLongError](err); ok {
		return tooLong
	}
	if errors.Is(err, transport.ErrFull) {
		return transport.ErrFull
	}
	return nil
}

// maxRecord is the longest frame of a websocket.
func (g *Gateway) maxRecord() int { return g.o.maxRecord() }
