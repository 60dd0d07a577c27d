package server

import (
	"slices"
	"strconv"

	"github.com/airi-host/airi-host/protocol"
)

// How many checks in a row a peer of the module generation may miss.
const (
	missesLate = 5
	missesGone = 10
)

// heartbeat answers a ping; anything else is a sign of life and no more. It may come
// before authentication.
func (s *Server) heartbeat(c *conn, f Frame) {
	s.takeSource(c, f.source)
	if kind, _ := text(members(f.Plain(), "kind")[0]); kind != "ping" {
		return
	}
	data := protocol.AppendText([]byte(`{"kind":"pong","message":`), s.o.Pong)
	data = strconv.AppendInt(append(data, `,"at":`...), s.now.UnixMilli(), 10)
	s.send(c, "transport:connection:heartbeat", append(data, '}'), f.id)
}

// alive notes a sign of life; a peer that was late is healthy again, and all are told.
func (s *Server) alive(c *conn, f Frame) {
	c.seen, c.missed = s.now, 0
	if !c.late {
		return
	}
	c.late = false
	for _, m := range c.modules {
		s.broadcast(nil, "registry:modules:health:healthy", m.entry, f.id, nil)
		s.add(Health{m.session, true})
	}
}

func (s *Server) checkBeats() {
	if s.beating = len(s.order) > 0; !s.beating {
		return
	}
	s.set(Timer{Kind: TimerBeat}, s.o.check())
	for _, c := range slices.Clone(s.order) {
		if s.conns[c.id] == c {
			s.checkBeat(c)
		}
	}
}

func (s *Server) checkBeat(c *conn) {
	late, gone := s.silence(c)
	switch {
	case gone:
		s.add(Close{c.id, CodeNone, "heartbeat expired"})
		s.ended(c, "heartbeat expired")
	case late && !c.late:
		c.late = true
		for _, m := range c.modules {
			data := append(m.entry[:len(m.entry)-1:len(m.entry)-1], `,"reason":"heartbeat late"}`...)
			s.broadcast(nil, "registry:modules:health:unhealthy", data, nil, nil)
			s.add(Health{m.session, false})
		}
	}
}

// silence judges a peer by the rule of its generation.
func (s *Server) silence(c *conn) (late, gone bool) {
	silent := s.now.Sub(c.seen)
	if c.generation == Extensions {
		return silent >= s.o.Beat, silent >= 2*s.o.Beat
	}
	if silent <= s.o.check() {
		c.missed = 0
		return false, false
	}
	c.missed++
	return c.missed >= missesLate, c.missed >= missesGone
}
