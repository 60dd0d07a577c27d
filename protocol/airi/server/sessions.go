package server

import (
	"maps"
	"slices"
)

// sit finds the session of an announcement, or makes one, and puts the connection under
// it. Whoever has the identity has the session: see [How].
func (s *Server) sit(c *conn, m Module) (seat *module, how How, from Conn) {
	seat = s.seated(c, m)
	if seat != nil && seat.Name != m.Name {
		s.renamed(c, seat)
		seat = nil
	}
	if seat == nil {
		s.lastSession++
		seat = &module{session: s.lastSession}
		s.sessions[seat.session] = seat
		how = First
	} else {
		how, from = s.takeOver(c, seat)
	}
	s.entered++
	// What only the host needs is told once, and not kept.
	m.PossibleEvents, m.ConfigSchema, m.Dependencies, m.Permissions = nil, nil, nil, nil
	seat.Module, seat.credential, seat.announced = m, c.credential, s.entered
	if key := m.Identity.key(); key != "" {
		s.seats[key] = seat
	}
	if seat.conn == nil {
		seat.conn = c
		c.modules = append(c.modules, seat)
	}
	c.known = nil
	s.entry(seat)
	return seat, how, from
}

// seated is the session that an announcement is of, if it is there. Without an instance id
// only the same connection can mean it.
func (s *Server) seated(c *conn, m Module) *module {
	if key := m.Identity.key(); key != "" {
		return s.seats[key]
	}
	for _, old := range c.modules {
		if old.same(m) {
			return old
		}
	}
	return nil
}

// same tells whether an announcement is one of the same module.
func (m *module) same(other Module) bool {
	return m.Name == other.Name && m.Identity.Plugin == other.Identity.Plugin && m.Identity.Instance == other.Identity.Instance
}

// renamed ends a session whose identity has another name now, wherever it is.
func (s *Server) renamed(c *conn, m *module) {
	old := m.conn
	if old != nil {
		s.deannounce(m, reannounced(m))
	}
	s.end(m, reannounced(m))
	if old != nil && old != c {
		s.replaced(old)
	}
}

// replaced closes a connection that lost its last module to another one.
func (s *Server) replaced(old *conn) {
	if len(old.modules) == 0 {
		s.forget(old)
		s.add(Close{old.id, CodeReplaced, "replaced by a newer connection of the same identity"})
	}
}

// takeOver takes a session away from whoever has it.
func (s *Server) takeOver(c *conn, seat *module) (how How, from Conn) {
	old := seat.conn
	switch old {
	case nil:
		s.away--
		s.stop(Timer{Kind: TimerGrace, Session: seat.session})
		return Returned, 0
	case c:
		return Again, 0
	}
	s.leave(old, seat)
	seat.conn = nil
	s.replaced(old)
	return Swapped, old.id
}

// leave takes a module off a connection and off the list.
func (s *Server) leave(c *conn, m *module) {
	c.modules = slices.DeleteFunc(c.modules, func(other *module) bool { return other == m })
	c.known = nil
	s.unlist(m)
}

// end ends a session. Nothing is said of it on the wire.
func (s *Server) end(m *module, reason string) {
	if m.conn != nil {
		s.leave(m.conn, m)
		m.conn = nil
	} else {
		s.away--
		s.stop(Timer{Kind: TimerGrace, Session: m.session})
	}
	s.strike(m)
	s.add(Gone{m.session, reason})
}

func (s *Server) strike(m *module) {
	delete(s.sessions, m.session)
	if key := m.Identity.key(); s.seats[key] == m {
		delete(s.seats, key)
	}
}

// ended is the end of a connection: its modules are de-announced at once, and their
// sessions wait for it to come back.
func (s *Server) ended(c *conn, reason string) {
	s.forget(c)
	for _, m := range slices.Clone(c.modules) {
		s.deannounce(m, reason)
		s.leave(c, m)
		m.conn = nil
		if m.Identity.key() == "" || s.away >= s.o.Limits.Away {
			s.strike(m)
			s.add(Gone{m.session, reason})
			continue
		}
		s.away++
		s.add(Away{m.session, c.id, reason})
		s.set(Timer{Kind: TimerGrace, Session: m.session}, s.o.Grace)
	}
	s.publish(nil)
}

func (s *Server) graceOver(m *module) {
	if m == nil || m.conn != nil {
		return
	}
	s.away--
	s.strike(m)
	s.add(Gone{m.session, "its peer did not come back within " + s.o.Grace.String()})
}

// dismiss ends a session for the host.
func (s *Server) dismiss(in Dismiss) {
	m := s.sessions[in.Session]
	if m == nil {
		return
	}
	c := m.conn
	if c == nil {
		s.end(m, in.Reason)
		return
	}
	s.deannounce(m, in.Reason)
	s.end(m, in.Reason)
	s.publish(nil)
	if len(c.modules) == 0 {
		s.forget(c)
		s.add(Close{c.id, CodePolicy, clipReason(in.Reason)})
	}
}

// clipReason makes a reason fit into a close frame.
func clipReason(reason string) string {
	const most = 123
	if len(reason) <= most {
		return reason
	}
	cut := most
	for cut > 0 && reason[cut]&0xC0 == 0x80 {
		cut--
	}
	return reason[:cut]
}

func sortedSessions(m map[Session]*module) []Session { return slices.Sorted(maps.Keys(m)) }
