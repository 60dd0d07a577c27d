package server

import (
	"strconv"

	"github.com/airi-host/airi-host/protocol"
)

// The server's own events. A member that is not there is left out, where the reference
// server writes null and says in meta that it means undefined.

// send makes an event for one connection; parent is the id of the event that it answers,
// nil for none.
func (s *Server) send(c *conn, kind string, data, parent []byte) {
	s.sendTo([]Conn{c.id}, s.make(kind, data, parent, nil))
}

func (s *Server) sendTo(to []Conn, frame []byte) {
	if len(to) > 0 {
		s.add(Send{to, frame})
	}
}

// broadcast makes an event for all authenticated connections but one, which may be nil.
func (s *Server) broadcast(but *conn, kind string, data, parent, meta []byte) {
	var to []Conn
	for _, c := range s.order {
		if c.authenticated && c != but {
			to = append(to, c.id)
		}
	}
	if len(to) > 0 {
		s.sendTo(to, s.make(kind, data, parent, meta))
	}
}

// refuse tells a connection what is wrong.
func (s *Server) refuse(c *conn, message string, parent []byte) {
	data := protocol.AppendText([]byte(`{"message":`), message)
	s.send(c, "error", append(data, '}'), parent)
}

func (s *Server) make(kind string, data, parent, meta []byte) []byte {
	out := make([]byte, 0, len(data)+len(s.source)+len(parent)+len(meta)+len(kind)+96)
	out = append(out, `{"json":{"type":`...)
	out = protocol.AppendText(out, kind)
	out = append(out, `,"data":`...)
	out = append(out, data...)
	out = append(out, `,"metadata":{"event":{"id":`...)
	out = protocol.AppendText(out, s.newID())
	if parent != nil {
		out = append(append(out, `,"parentId":`...), parent...)
	}
	out = append(append(out, `},"source":`...), s.source...)
	out = append(out, `}}`...)
	return closeWrapper(out, meta)
}

func closeWrapper(out, meta []byte) []byte {
	if meta != nil {
		out = append(append(out, `,"meta":`...), meta...)
	}
	return append(out, '}')
}

func (s *Server) newID() string {
	if s.o.NewID != nil {
		return s.o.NewID()
	}
	s.lastID++
	return s.o.Instance + "-" + strconv.FormatUint(s.lastID, 36)
}
