package gateway

import (
	"bytes"
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
	"github.com/airi-host/airi-host/protocol"
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
	// link leads to the host's session; nil where there is none, or one on its way out.
	link *link
	// session is that one's id, reason why there is none.
	session, reason string
	// unwell tells that it has said that it failed; again, that it was announced anew
	// since, and is to have another session where this one fails of that.
	unwell, again bool
}

// announced takes a module, new or known. What it depends on is settled when its session
// begins: with other dependencies it has another one.
func (g *Gateway) announced(e server.Announced) {
	m := g.members[e.Session]
	if m == nil {
		m = &member{id: e.Session}
		g.members[e.Session] = m
		g.tally.add(1, 1)
	}
	if e.How == server.Swapped {
		g.swapped(e.Module.Identity)
	}
	if m.link != nil && e.How == server.Swapped { // before anything can go to the newer one
		m.link.push(airi.AppendNote(nil, airi.Note{Verb: airi.NoteSwapped}))
	}
	defer m.lighten()
	g.move(m, g.conns[e.Conn])
	needs := m.module.Dependencies
	m.module, m.negotiates, m.again = e.Module, e.Negotiates, m.unwell
	if isRejected(m.conn.compatibility) {
		g.reject(m)
		return
	}
	if m.link != nil && !bytes.Equal(needs, m.module.Dependencies) {
		m.link.end(leaving("it is announced with other dependencies"))
		g.part(m)
	}
	if m.link == nil {
		g.join(m)
		return
	}
	if e.How == server.Returned {
		m.link.push(airi.AppendNote(nil, airi.Note{Verb: airi.NoteBack}))
	}
	m.link.push(announcement(m.module))
}

// swapped counts takeovers: two programs of one identity that come back by themselves take
// the session from each other for ever.
func (g *Gateway) swapped(id server.Identity) {
	if g.swaps++; isPowerOfTen(g.swaps) {
		g.o.Log.Warn("a newer connection has taken a module over: if both are to stay, give each an instance of its own",
			"plugin", id.Plugin, "instance", id.Instance, "so_far", g.swaps)
	}
}

// lighten lets go of what the session has been told by now, which may hold a whole record,
// unless another one may have to be told. The names of its events do not, and tell whose is
// what its peer calls.
func (m *member) lighten() {
	if m.again {
		return
	}
	m.module.ConfigSchema, m.module.Permissions = nil, nil
	m.module.Dependencies = bytes.Clone(m.module.Dependencies)
}

// part leaves a session alone that is on its way out.
func (g *Gateway) part(m *member) {
	g.leaving[m.link.guest] = m.link
	m.link, m.session = nil, ""
}

// move puts a member under another connection, or none.
func (g *Gateway) move(m *member, c *conn) {
	g.tally.add(0, away(c)-away(m.conn))
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

// away is how many members are away under a connection: those under none.
func away(c *conn) int {
	if c == nil {
		return 1
	}
	return 0
}

// announcement is the note of what a module says of itself.
func announcement(m server.Module) []byte {
	data, _ := json.Marshal(struct { // of texts
		PossibleEvents []string `json:"possibleEvents"`
	}{append([]string{}, m.PossibleEvents...)})
	return airi.AppendNote(nil, airi.Note{Verb: airi.NoteAnnounced, Data: data})
}

// join makes a session of the host's for a member, as soon as the former one of the same
// guest is gone.
func (g *Gateway) join(m *member) {
	if g.life.Err() != nil {
		return
	}
	m.session, m.reason, m.unwell, m.again = "", "", false, false
	guest, err := g.guest(m)
	if err != nil {
		g.stays(m, err)
		return
	}
	l := newLink(g, m, guest.Manifest.Name+"\x00"+guest.Instance)
	m.link, guest.Conn = l, l
	l.push(announcement(m.module))
	guest.Failed = func(err error) { g.with(func() { g.failed(m, l, err) }) }
	guest.Configured = func(c protocol.Config) { g.with(func() { g.keep(guest.Manifest.PluginName(), c) }) }
	former, by := g.leaving[l.guest], m.conn
	by.busy++
	g.joins.Go(func() {
		if former != nil {
			select {
			case <-former.gone:
			case <-g.life.Done():
			}
		}
		g.bring(m, l, by, guest)
	})
}

func (g *Gateway) bring(m *member, l *link, by *conn, guest actors.Guest) {
	session, err := g.enrol(guest)
	g.with(func() {
		by.calmer()
		switch {
		case m.link != l:
		case err == nil:
			m.session = session
		default:
			m.link = nil
			g.stays(m, err)
		}
	})
	if err != nil {
		_ = l.Close()
	}
}

// enrol makes a session for a guest, with what the host lays down for it.
func (g *Gateway) enrol(guest actors.Guest) (session string, err error) {
	if g.o.Prepare != nil {
		if err := g.o.Prepare(&guest); err != nil {
			return "", err
		}
	}
	session, _, err = g.o.Host.Join(g.life, guest)
	return session, err
}

// stays leaves a module without a session, which its peer is told. One that negotiates waits
// for something, and others may show why it waits in vain.
func (g *Gateway) stays(m *member, why error) {
	m.reason = why.Error()
	if n := g.drop(m.conn, droppedRefused); isPowerOfTen(n) { // they may be many
		g.o.Log.Warn("a module has no session", "plugin", m.module.Identity.Plugin, "instance", m.module.Identity.Instance, "error", why, "so_far", n)
	}
	switch {
	case m.negotiates:
		g.tellFailed(m, true)
	case m.conn != nil:
		g.tellFailed(m, false)
	}
}

// tellFailed tells the peer of a module why that has no session, or all peers.
func (g *Gateway) tellFailed(m *member, everyone bool) {
	data, _ := json.Marshal(map[string]any{"phase": lifecycle.Failed, "reason": m.reason}) // of texts
	g.also(server.Tell{Session: m.id, Type: statusEvent, Data: data, Everyone: everyone})
}

// droppedRefused counts announcements of modules that got no session.
const droppedRefused = "refused"

func isPowerOfTen(n uint64) bool {
	for n > 0 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}

// failed leaves the module of a session that fails connected: it may announce itself anew,
// or has done so. The session has told who negotiates.
func (g *Gateway) failed(m *member, l *link, why error) {
	if m.link != l {
		return
	}
	again := m.again
	g.part(m)
	m.reason = why.Error()
	switch {
	case m.conn == nil:
	case again:
		g.join(m)
	case !m.negotiates:
		g.tellFailed(m, false)
	}
}

// guest is how a member comes to the host.
func (g *Gateway) guest(m *member) (actors.Guest, error) {
	id := m.module.Identity
	name := strings.TrimSpace(id.Plugin)
	if name == "" || strings.ContainsFunc(name, unicode.IsControl) {
		return actors.Guest{}, fmt.Errorf("the plugin's id %q: expected a text that is not blank, without control characters", id.Plugin)
	}
	return actors.Guest{
		Manifest: &manifest.Manifest{
			Dialect: manifest.DialectAIRI, Name: name, File: "",
			Host: manifest.HostFields{Requires: requirements(m.module.Dependencies)},
		},
		Instance: m.instance(), Circle: Circle, Schema: airi.ConfigSchema(m.module.ConfigSchema),
		Dialect: airi.Remote{Session: uint64(m.id), Negotiates: m.negotiates, Collecting: g.o.Collecting},
	}, nil
}

// nameless begins the instances that the gateway gives itself.
const nameless = "connection-"

// instance is what the host calls it: what it calls itself, unless that says nothing. One
// that has no name cannot be recognised again, either.
func (m *member) instance() string {
	id := m.module.Identity.Instance
	if id == "" || strings.HasPrefix(id, nameless) || strings.ContainsFunc(id, unicode.IsControl) {
		return fmt.Sprint(nameless, m.id)
	}
	return id
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

// goesAway leaves a session to wait for its peer.
func (g *Gateway) goesAway(e server.Away) {
	m := g.members[e.Session]
	g.move(m, nil)
	if m.link != nil {
		m.link.push(airi.AppendNote(nil, airi.Note{Verb: airi.NoteAway, Rest: e.Reason}))
	}
}

// gone ends a member, and with it the host's session.
func (g *Gateway) gone(e server.Gone) {
	m := g.members[e.Session]
	g.move(m, nil)
	delete(g.members, e.Session)
	g.tally.add(-1, -1)
	if m.link != nil {
		m.link.end(leaving(e.Reason))
		g.part(m)
	}
}

// unlinked is told that a session has ended its link. The module of one that was stopped by
// the host is dismissed.
func (g *Gateway) unlinked(m *member, l *link) {
	go func() { // the session is at it, and must not wait for us
		g.mu.Lock()
		if g.leaving[l.guest] == l {
			delete(g.leaving, l.guest)
		}
		close(l.gone)
		stopped := m.link == l
		if stopped {
			m.link = nil
		}
		g.mu.Unlock()
		if stopped {
			g.step(server.Dismiss{Session: m.id, Reason: "stopped by the host"})
		}
	}()
}
