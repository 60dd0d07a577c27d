package server

import (
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// LifeTypes are the events about a module's life that a host follows: steps 7 to 17 of the
// reference's procedure, as the module says them, and as a Configurator asks for them.
var LifeTypes = []string{
	"module:prepared",
	"module:status",
	"module:status:change",
	"module:configuration:needed",
	"module:configuration:validate:request",
	"module:configuration:validate:response",
	"module:configuration:validate:status",
	"module:configuration:plan:request",
	"module:configuration:plan:response",
	"module:configuration:plan:status",
	"module:configuration:commit",
	"module:configuration:commit:status",
	"module:configuration:configured",
	"module:contribute:capability:offer",
	"module:contribute:capability:activated",
	"module:contribute:capability:configuration:needed",
	"module:contribute:capability:configuration:validate:request",
	"module:contribute:capability:configuration:validate:response",
	"module:contribute:capability:configuration:validate:status",
	"module:contribute:capability:configuration:plan:request",
	"module:contribute:capability:configuration:plan:response",
	"module:contribute:capability:configuration:plan:status",
	"module:contribute:capability:configuration:commit",
	"module:contribute:capability:configuration:commit:status",
	"module:contribute:capability:configuration:configured",
}

// life tells the host of an event about a session's life, which others got as well.
func (s *Server) life(c *conn, f Frame) {
	if !slices.Contains(LifeTypes, f.Type) {
		return
	}
	m := s.subject(c, members(f.Plain(), "identity")[0])
	if m == nil {
		s.drop(c, DroppedUnknown)
		return
	}
	s.add(Life{Session: m.session, Conn: c.id, Own: m.conn == c, Answers: s.answersOthers(f), Type: f.Type, Data: f.Plain()})
}

// answersOthers tells whether an event has a parent that is none of the server's own.
func (s *Server) answersOthers(f Frame) bool {
	parent, ok := text(members(members(f.metadata, "event")[0], "parentId")[0])
	return ok && s.o.NewID == nil && !strings.HasPrefix(parent, s.o.Instance+"-")
}

// subject is the session that an identity names, or the only one of a connection that
// names none.
func (s *Server) subject(c *conn, identity []byte) *module {
	if present(identity) == nil {
		if len(c.modules) == 1 {
			return c.modules[0]
		}
		return nil
	}
	id, ok := readSource(identity)
	if !ok {
		return nil
	}
	for _, m := range c.modules { // also one that has no instance id
		if m.Identity.Plugin == id.Plugin && m.Identity.Instance == id.Instance {
			return m
		}
	}
	if key := id.key(); key != "" {
		return s.seats[key]
	}
	return nil
}

// negotiate answers a request for compatibility, which others do not get.
func (s *Server) negotiate(c *conn, f Frame) {
	if len(f.Data) > s.o.Limits.Announcement {
		s.refuse(c, s.tooMuch(f), f.id)
		s.drop(c, DroppedLimit)
		return
	}
	parts := members(f.Plain(), "protocolVersion", "apiVersion", "supportedProtocolVersions", "supportedApiVersions")
	p := Proposal{SupportedProtocol: texts(parts[2]), SupportedAPI: texts(parts[3])}
	p.Protocol, _ = text(parts[0])
	p.API, _ = text(parts[1])
	a := s.o.Negotiate(p)
	c.negotiates = true
	data := protocol.AppendText([]byte(`{"protocolVersion":`), a.Protocol)
	data = protocol.AppendText(append(data, `,"apiVersion":`...), a.API)
	data = protocol.AppendText(append(data, `,"mode":`...), a.Mode)
	if a.Reason != "" {
		data = protocol.AppendText(append(data, `,"reason":`...), a.Reason)
	}
	s.send(c, "module:compatibility:result", append(data, '}'), f.id)
	s.add(Negotiated{Conn: c.id, Proposal: p, Agreement: a, Source: c.source})
}
