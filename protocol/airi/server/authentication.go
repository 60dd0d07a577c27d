package server

import (
	"fmt"
	"slices"

	"github.com/airi-host/airi-host/protocol"
)

func (s *Server) authenticateModule(c *conn, f Frame) {
	if s.verify(c, f, members(f.Plain(), "token")[0]) {
		s.welcome(c, f, "module:authenticated", []byte(`{"authenticated":true}`))
	}
}

// authenticatePeer gives the peer the id of its own choice besides the one that it has. The
// newest to choose one has it; what is a connection's own id nobody else can choose.
func (s *Server) authenticatePeer(c *conn, f Frame) {
	parts := members(f.Plain(), "token", "peerId")
	if !s.verify(c, f, parts[0]) {
		return
	}
	c.generation = Extensions
	id, ok := text(parts[1])
	if !ok || id == "" {
		id = c.peer
	} else if problem := s.alias(c, id); problem != "" {
		s.refuse(c, problem, f.id)
		s.drop(c, DroppedLimit)
		id = c.peer
	}
	data := protocol.AppendText([]byte(`{"authenticated":true,"peerId":`), id)
	s.welcome(c, f, "peer:authenticated", append(data, '}'))
}

func (s *Server) authenticateExtension(c *conn, f Frame) {
	parts := members(f.Plain(), "token", "identity")
	if !s.verify(c, f, parts[0]) {
		return
	}
	c.generation = Extensions
	data := []byte("{")
	if parts[1] != nil && len(parts[1]) <= s.o.Limits.Identity {
		if id, ok := readExtension(parts[1]); ok {
			c.extension, c.known = &id, nil
		}
		data = append(append(append(data, `"identity":`...), parts[1]...), ',')
	}
	s.welcome(c, f, "extension:authenticated", append(data, `"authenticated":true}`...))
}

// verify holds a token against the host's. A wrong one changes nothing for a peer that is
// authenticated already.
func (s *Server) verify(c *conn, f Frame, token []byte) bool {
	if s.o.Verify == nil {
		c.authenticated = true
		return true
	}
	given, _ := text(token) // "" for none, which Verify may take, too
	credential, ok := s.o.Verify(given)
	if !ok {
		s.refuse(c, "invalid token", f.id)
		s.drop(c, DroppedUnauthenticated)
		return false
	}
	if !c.authenticated {
		s.stop(Timer{Kind: TimerAuthentication, Conn: c.id})
	}
	c.authenticated, c.credential = true, credential
	return true
}

// welcome answers, and tells who is there.
func (s *Server) welcome(c *conn, f Frame, kind string, data []byte) {
	s.takeSource(c, f.source)
	s.send(c, kind, data, f.id)
	s.sendList(c, f.id)
	s.add(Authenticated{Conn: c.id, Credential: c.credential, Extension: c.extension})
}

func (s *Server) authenticationDue(c *conn) {
	if c == nil || c.authenticated {
		return
	}
	s.forget(c)
	s.add(Close{c.id, CodePolicy, fmt.Sprintf("not authenticated within %v", s.o.Authentication)})
}

// alias gives a connection one more id; the text says why not.
func (s *Server) alias(c *conn, id string) string {
	if id == c.peer {
		return ""
	}
	if slices.Contains(c.aliases, id) {
		s.unalias(c, id)
		s.aliases[id] = append(s.aliases[id], c)
		return ""
	}
	if len(id) > s.o.Limits.Text {
		return fmt.Sprintf("the field 'peerId' has more than %d bytes for event 'peer:authenticate'", s.o.Limits.Text)
	}
	if len(c.aliases) >= s.o.Limits.Aliases {
		return fmt.Sprintf("this connection has %d peer ids, the limit: choose none", len(c.aliases))
	}
	c.aliases = append(c.aliases, id)
	s.aliases[id] = append(s.aliases[id], c)
	return ""
}

func (s *Server) unalias(c *conn, id string) {
	left := slices.DeleteFunc(s.aliases[id], func(other *conn) bool { return other == c })
	if len(left) == 0 {
		delete(s.aliases, id)
		return
	}
	s.aliases[id] = left
}

// is tells whether a connection is the one with an id: its own, or the newest that chose
// it, if no connection's own is that.
func (s *Server) is(c *conn, id string) bool {
	if c.peer == id {
		return true
	}
	chose := s.aliases[id]
	if len(chose) == 0 || chose[len(chose)-1] != c {
		return false
	}
	return s.peers[id] == nil
}
