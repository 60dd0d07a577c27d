package gateway

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol/airi"
	"github.com/airi-host/airi-host/protocol/airi/server"
	"github.com/airi-host/airi-host/transport/websocket"
)

// Circle names the websocket peers among the host's guests: what one of them sends the
// others hear by the wire.
const Circle = "websocket"

// member is a module that has been announced. All of it but socket belongs to Gateway.mu.
type member struct {
	// socket is conn's: what the session sends goes there past the server.
	socket atomic.Pointer[websocket.Conn]

	id     server.Session
	module server.Module
	// conn is nil while the peer is away.
	conn       *conn
	negotiates bool
	// link leads to the host's session; nil where there is none.
	link *link
	// session is that one's id, reason why there is none.
	session, reason string
}

// announced takes a module, new or known.
func (g *Gateway) announced(e server.Announced) {
	m := g.members[e.Session]
	if m == nil {
		m = &member{id: e.Session}
		g.members[e.Session] = m
	}
	if m.link != nil && e.How == server.Swapped { // before anything can go to the newer one
		m.link.push(airi.AppendNote(nil, airi.Note{Verb: airi.NoteSwapped}))
	}
	m.move(g.conns[e.Conn])
	m.module, m.negotiates = e.Module, e.Negotiates
	switch {
	case m.link == nil:
		g.join(m)
	case e.How == server.Returned:
		m.link.push(airi.AppendNote(nil, airi.Note{Verb: airi.NoteBack}))
	}
	if m.link != nil {
		m.link.push(announcement(m.module))
	}
	// The session has it, and it may hold a whole record.
	m.module.PossibleEvents, m.module.ConfigSchema, m.module.Dependencies, m.module.Permissions = nil, nil, nil, nil
}

// move puts a member under another connection, or none.
func (m *member) move(c *conn) {
	if m.conn != nil {
		m.conn.members = slices.DeleteFunc(m.conn.members, func(other *member) bool { return other == m })
	}
	m.conn = c
	if c == nil {
		m.socket.Store(nil)
		return
	}
	m.socket.Store(c.socket)
	c.members = append(c.members, m)
}

// announcement is the note of what a module says of itself.
func announcement(m server.Module) []byte {
	data, _ := json.Marshal(struct { // of texts
		PossibleEvents []string `json:"possibleEvents"`
	}{append([]string{}, m.PossibleEvents...)})
	return airi.AppendNote(nil, airi.Note{Verb: airi.NoteAnnounced, Data: data})
}

// join makes a session of the host's for a member.
func (g *Gateway) join(m *member) {
	m.session, m.reason = "", ""
	if m.conn.rejected != "" {
		m.reason = m.conn.rejected
		return
	}
	guest, err := g.guest(m)
	if err != nil {
		m.reason = err.Error()
		g.o.Log.Warn("a module has no session", "plugin", m.module.Identity.Plugin, "peer", m.conn.peer, "error", err)
		return
	}
	l := newLink(g, m)
	m.link, guest.Conn = l, l
	g.joins.Go(func() {
		if g.o.Prepare != nil {
			if err := g.o.Prepare(&guest); err != nil {
				g.joined(m, l, "", err)
				return
			}
		}
		session, settled, err := g.o.Host.Join(g.life, guest)
		g.joined(m, l, session, err)
		if err != nil {
			return
		}
		select {
		case err = <-settled:
		case <-g.life.Done():
			return
		}
		if err != nil {
			g.joined(m, l, session, err)
		}
	})
}

// joined notes what became of a join.
func (g *Gateway) joined(m *member, l *link, session string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m.link != l {
		return
	}
	m.session = session
	if err == nil {
		return
	}
	m.reason = err.Error()
	if session == "" {
		m.link = nil
		l.end(leaving(m.reason))
		g.o.Log.Warn("a module has no session", "plugin", m.module.Identity.Plugin, "error", err)
	}
}

// guest is how a member comes to the host.
func (g *Gateway) guest(m *member) (actors.Guest, error) {
	id := m.module.Identity
	name := strings.TrimSpace(id.Plugin)
	if name == "" || strings.ContainsFunc(name, unicode.IsControl) {
		return actors.Guest{}, fmt.Errorf("the plugin's id %q: expected a text that is not blank, without control characters", id.Plugin)
	}
	instance := id.Instance
	if instance == "" || strings.ContainsFunc(instance, unicode.IsControl) {
		instance = fmt.Sprintf("connection-%d", m.id) // it cannot be recognised again, either
	}
	return actors.Guest{
		Manifest: &manifest.Manifest{
			Dialect: manifest.DialectAIRI, Name: name, File: "",
			Host: manifest.HostFields{Requires: requirements(m.module.Dependencies)},
		},
		Instance: instance, Circle: Circle,
		Dialect: airi.Remote{Session: uint64(m.id), Negotiates: m.negotiates, Collecting: g.o.Collecting},
	}, nil
}

// requirements are the roles that a module says it depends on, as keys of capabilities.
// What is optional is not awaited.
func requirements(raw json.RawMessage) (needs capability.Requirements) {
	var all []struct {
		Role     string `json:"role"`
		Optional bool   `json:"optional"`
	}
	_ = json.Unmarshal(raw, &all) // what has another shape is no dependency
	for _, one := range all {
		if key := capability.Key(one.Role); !one.Optional && key.Validate() == nil {
			needs = append(needs, capability.Requirement{AnyOf: []capability.Key{key}})
		}
	}
	return needs
}

// away leaves a session to wait for its peer.
func (g *Gateway) away(e server.Away) {
	m := g.members[e.Session]
	m.move(nil)
	if m.link != nil {
		m.link.push(airi.AppendNote(nil, airi.Note{Verb: airi.NoteAway, Rest: e.Reason}))
	}
}

// gone ends a member, and with it the host's session.
func (g *Gateway) gone(e server.Gone) {
	m := g.members[e.Session]
	m.move(nil)
	delete(g.members, e.Session)
	if m.link != nil {
		m.link.end(leaving(e.Reason))
	}
}

// unlinked is told that the session has ended its link: one that failed leaves its module
// connected, which may announce itself anew; one that was stopped is dismissed.
func (g *Gateway) unlinked(m *member, l *link) {
	go func() { // the session is at it, and must not wait for us
		g.mu.Lock()
		session := m.session
		g.mu.Unlock()
		info, err := g.o.Host.Inspect(session)
		failed := err == nil && info.Phase == lifecycle.Failed
		g.mu.Lock()
		if m.link == l {
			m.link = nil
			if m.reason == "" {
				m.reason = info.Reason
			}
		}
		g.mu.Unlock()
		if !failed {
			g.step(server.Dismiss{Session: m.id, Reason: "stopped by the host"})
		}
	}()
}

// rejection is why a peer's versions are not spoken; "" where they are.
func rejection(a server.Agreement) string {
	if a.Mode != string(lifecycle.ModeRejected) {
		return ""
	}
	return a.Reason
}
