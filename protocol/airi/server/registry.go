package server

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/airi-host/airi-host/protocol"
)

// listing is the list of modules as it is sent around.
type listing struct {
	// version counts its changes. due tells that somebody has not got the last one, and
	// waiting that the next one may not be sent yet.
	version      uint64
	due, waiting bool
	// turn is the last connection that got one because it was its turn.
	turn uint64
	// bytes is what all entries have; data is the list, nil when it has to be made anew.
	bytes int
	data  []byte
}

// entry puts what is to be said of a module into the list.
func (s *Server) entry(m *module) {
	s.unlist(m)
	out := protocol.AppendText([]byte(`{"name":`), m.Name)
	if m.Index != nil {
		out = append(out, `,"index":`...)
		out = strconv.AppendInt(out, int64(*m.Index), 10)
	}
	out = append(append(out, `,"identity":`...), m.Identity.Raw...)
	m.entry = append(out, '}')
	s.list.bytes += len(m.entry)
}

// unlist takes a module out of the list, if it is there.
func (s *Server) unlist(m *module) {
	s.list.bytes -= len(m.entry)
	m.entry = nil
	s.list.version++
	s.list.data = nil
}

// listed is the data of registry:modules:sync.
func (s *Server) listed() []byte {
	if s.list.data != nil {
		return s.list.data
	}
	out := append(make([]byte, 0, s.list.bytes+len(s.sessions)+16), `{"modules":[`...)
	first := true
	for _, c := range s.order {
		for _, m := range c.modules {
			if !first {
				out = append(out, ',')
			}
			first = false
			out = append(out, m.entry...)
		}
	}
	s.list.data = append(out, `]}`...)
	return s.list.data
}

// sendList tells one connection at once who is there.
func (s *Server) sendList(c *conn, parent []byte) {
	s.send(c, "registry:modules:sync", s.listed(), parent)
	c.listed = s.list.version
}

// publish tells of a change: the connection that made it at once, the others when the
// time has come. A list that waits is replaced by a newer one.
func (s *Server) publish(by *conn) {
	if by != nil {
		s.sendList(by, nil)
	}
	if s.list.waiting {
		s.list.due = true
		return
	}
	s.syncAll()
	s.list.waiting = true
	s.set(Timer{Kind: TimerSync}, s.o.SyncEvery)
}

// syncDue sends what has changed in the meantime, if anything has.
func (s *Server) syncDue() {
	s.list.waiting = false
	if s.list.due {
		s.publish(nil)
	}
}

// syncBytes is how many bytes of lists are sent at a time, beside one list. Thousands of
// peers with a module each would have gigabytes sent to them otherwise whenever one joins.
const syncBytes = 16 << 20

// syncAll sends the list to those who have not got it, in turn: to as many as may have it
// now. The others get the newest one when theirs comes.
func (s *Server) syncAll() {
	s.list.due = false
	most := max(1, s.syncBytes/max(1, s.list.bytes))
	first, _ := slices.BinarySearchFunc(s.order, s.list.turn+1, func(c *conn, turn uint64) int { return cmp.Compare(c.came, turn) })
	var to []Conn
	for i := range s.order {
		c := s.order[(first+i)%len(s.order)]
		if !c.authenticated || c.listed == s.list.version {
			continue
		}
		if len(to) == most {
			s.list.due = true
			break
		}
		to = append(to, c.id)
		c.listed, s.list.turn = s.list.version, c.came
	}
	if len(to) > 0 {
		s.sendTo(to, s.make("registry:modules:sync", s.listed(), nil, nil))
	}
}

// deannounce tells everybody that a module is no more, in the words of its generation.
func (s *Server) deannounce(m *module, reason string) {
	kind := "module:de-announced"
	data := m.entry[: len(m.entry)-1 : len(m.entry)-1]
	if m.Generation == Extensions {
		kind = "extension:module:de-announced"
		data = append(data, `,"possibleEvents":[]`...)
	}
	data = protocol.AppendText(append(data, `,"reason":`...), reason)
	s.broadcast(nil, kind, append(data, '}'), nil, nil)
}
