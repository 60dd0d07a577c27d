package server

import (
	"fmt"
	"math"

	"github.com/airi-host/airi-host/protocol"
)

// announceModule serves module:announce. The order of the checks is the reference
// server's; a bad announcement changes nothing.
func (s *Server) announceModule(c *conn, f Frame) {
	data := f.Plain()
	p := readAnnouncement(data)
	index, indexOK := readIndex(p.index)
	id, idOK := readModuleIdentity(p.identity)
	name, _ := text(p.name)
	problem := ""
	switch {
	case name == "":
		problem = "the field 'name' must be a non-empty string for event 'module:announce'"
	case !indexOK:
		problem = "the field 'index' must be a non-negative integer for event 'module:announce'"
	case !idOK:
		problem = "module identity must include kind=plugin and a plugin id for event 'module:announce'"
	case !c.authenticated:
		problem = "must authenticate before announcing"
	}
	if problem != "" {
		s.refuse(c, problem, nil)
		return
	}
	s.takeSource(c, f.source)
	m := p.module(Modules, name, id)
	m.Index = index
	s.announce(c, f, m)
}

const badExtension = "extension module identity must include an extension id for event 'extension:module:announce'"

// announceExtension serves extension:announce, which has no part in the registry.
func (s *Server) announceExtension(c *conn, f Frame) {
	if !c.authenticated {
		s.refuse(c, "must authenticate before announcing", nil)
		return
	}
	id, ok := readExtension(members(f.Plain(), "identity")[0])
	if !ok {
		s.refuse(c, badExtension, nil)
		return
	}
	problem := ""
	switch l := s.o.Limits; {
	case len(f.Data) > l.Announcement:
		problem = s.tooMuch(f)
	case len(id.Raw) > l.Identity:
		problem = s.tooLong("identity", l.Identity, f.Type)
	}
	if problem != "" {
		s.refuse(c, problem, nil)
		s.drop(c, DroppedLimit)
		return
	}
	s.takeSource(c, f.source)
	c.generation, c.extension, c.known = Extensions, &id, nil
	s.tellAnnounced(c, "extension:announced", f)
	s.add(Authenticated{Conn: c.id, Credential: c.credential, Extension: &id})
}

// announceExtensionModule serves extension:module:announce.
func (s *Server) announceExtensionModule(c *conn, f Frame) {
	if !c.authenticated {
		s.refuse(c, "must authenticate before announcing", nil)
		return
	}
	p := readAnnouncement(f.Plain())
	name, _ := text(p.name)
	if name == "" {
		s.refuse(c, "the field 'name' must be a non-empty string for event 'extension:module:announce'", nil)
		return
	}
	id, ok := readExtensionModule(p.identity)
	if !ok || c.extension != nil && c.extension.Plugin != id.Plugin {
		s.refuse(c, badExtension, nil)
		return
	}
	s.takeSource(c, f.source)
	s.announce(c, f, p.module(Extensions, name, id))
}

// tellAnnounced repeats the data of an announcement: to who made it, then to the others.
func (s *Server) tellAnnounced(c *conn, kind string, f Frame) {
	meta := metaOfData(f)
	s.sendTo([]Conn{c.id}, s.make(kind, f.Data, f.id, meta))
	s.broadcast(c, kind, f.Data, f.id, meta)
}

// announcement is the data of one, as it was written.
type announcement struct {
	name, index, identity, events, schema, dependencies, permissions []byte
}

func readAnnouncement(data []byte) (p announcement) {
	protocol.EachMember(data, func(key, value []byte) {
		switch string(key) {
		case "name":
			p.name = value
		case "index":
			p.index = value
		case "identity":
			p.identity = value
		case "possibleEvents":
			p.events = value
		case "configSchema":
			p.schema = value
		case "dependencies":
			p.dependencies = value
		case "permissions":
			p.permissions = value
		}
	})
	return p
}

func (p announcement) module(g Generation, name string, id Identity) Module {
	return Module{
		Generation: g, Name: name, Identity: id, PossibleEvents: texts(p.events),
		ConfigSchema: present(p.schema), Dependencies: present(p.dependencies), Permissions: present(p.permissions),
	}
}

// present is a value that is there, and no null.
func present(value []byte) []byte {
	if value == nil || isNull(value) {
		return nil
	}
	return value
}

// readIndex reads an index, which may be absent but not null.
func readIndex(value []byte) (index *int, ok bool) {
	if value == nil {
		return nil, true
	}
	n, ok := number(value)
	if !ok || n < 0 || n != math.Trunc(n) || n > 1<<53 {
		return nil, false
	}
	i := int(n)
	return &i, true
}

// announce takes what is well-formed: it finds the session, tells everybody, and lists it.
func (s *Server) announce(c *conn, f Frame, m Module) {
	if problem := s.announceable(c, &m, f); problem != "" {
		s.refuse(c, problem, nil)
		s.drop(c, DroppedLimit)
		return
	}
	c.generation = m.Generation
	before := s.prior(c, m)
	if before != nil {
		s.deannounce(before, reannounced(before))
	}
	if before != nil && !before.same(m) {
		s.end(before, reannounced(before))
	}
	seat, how, from := s.sit(c, m)
	s.publish(c)
	if m.Generation == Modules {
		s.broadcast(c, "module:announced", seat.entry, f.id, nil)
	} else {
		s.tellAnnounced(c, "extension:module:announced", f)
	}
	s.add(Announced{Session: seat.session, Conn: c.id, Module: m, How: how, From: from, Negotiates: c.negotiates})
}

// reannounced is why a module is de-announced that is announced anew, in the words of its
// generation.
func reannounced(m *module) string {
	if m.Generation == Modules {
		return "re-announcing"
	}
	return "reannounced"
}

// prior is the module of a connection that an announcement stands for anew and that
// others have to forget first; nil for none. A connection of the module generation has
// one module; of the other, a module that keeps its name is not de-announced.
func (s *Server) prior(c *conn, m Module) *module {
	for _, old := range c.modules {
		switch {
		case old.Generation != m.Generation:
		case m.Generation == Modules:
			return old
		case old.Identity.key() != "" && old.Identity.key() == m.Identity.key() && old.Name != m.Name:
			return old
		}
	}
	return nil
}

// entryForm is what an entry of the list has besides a name and an identity, at most.
const entryForm = len(`{"name":"","index":9007199254740992,"identity":},`)

// announceable says what keeps a module from being announced; "" for nothing.
func (s *Server) announceable(c *conn, m *Module, f Frame) string {
	l := s.o.Limits
	old, mine, bytes := s.standing(c, *m)
	switch {
	case len(f.Data) > l.Announcement:
		return s.tooMuch(f)
	case len(m.Name) > l.Text:
		return s.tooLong("name", l.Text, f.Type)
	case len(m.Identity.Raw) > l.Identity:
		return s.tooLong("identity", l.Identity, f.Type)
	case old != nil && old.credential != c.credential:
		return fmt.Sprintf("the identity %s is in use with another token: choose another id for event '%s'",
			m.Identity.Plugin+"/"+m.Identity.Instance, f.Type)
	case !mine && len(c.modules) >= l.Modules:
		return fmt.Sprintf("this connection has announced %d modules, the limit", len(c.modules))
	case !mine && old == nil && len(s.sessions) >= l.Sessions:
		return fmt.Sprintf("the host has %d sessions, its limit", len(s.sessions))
	case s.list.bytes-bytes+len(m.Identity.Raw)+len(m.Name)+entryForm > l.Registry:
		return fmt.Sprintf("the list of modules would have more than %d bytes, the limit", l.Registry)
	}
	return ""
}

// standing is the session that has an identity; whether the announcement replaces a module
// of the connection's own; and the bytes in the list of what it replaces.
func (s *Server) standing(c *conn, m Module) (old *module, mine bool, bytes int) {
	if key := m.Identity.key(); key != "" {
		old = s.seats[key]
	}
	if old != nil {
		mine, bytes = old.conn == c, len(old.entry)
	}
	if before := s.prior(c, m); before != nil && before != old {
		mine, bytes = true, bytes+len(before.entry)
	}
	return old, mine, bytes
}

func (s *Server) tooLong(field string, limit int, event string) string {
	return fmt.Sprintf("the field '%s' has more than %d bytes for event '%s'", field, limit, event)
}

func (s *Server) tooMuch(f Frame) string {
	return fmt.Sprintf("the data has more than %d bytes for event '%s'", s.o.Limits.Announcement, f.Type)
}
