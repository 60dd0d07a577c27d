package airi

import (
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// What is different where no bridge stands before a module: nobody says which frame opens
// a call, nor whether its caller takes one value or a stream.

// kinds are those of protocol, whose results are one value.
var kinds = protocol.Kinds()

// follows tells whether the caller of a request is given items. Of a module alone it is
// not known: what has one of our kinds is answered with one value, anything else as it
// comes.
func (d *driver) follows(s step) bool {
	if !d.far.alone {
		return s.opens == OpensStream
	}
	if d.isHosts(s.idText) {
		return true
	}
	kind, _, has := strings.Cut(s.tag, ":")
	return !has || !slices.Contains(kinds, kind)
}

// answerAlone answers a caller of either sort: one that takes a value hears the first
// frame that has one, one that takes a stream hears all of them and the end. A stream that
// had no items looks like the value null.
func (d *driver) answerAlone(r *request, in protocol.Reply, out []protocol.Effect) []protocol.Effect {
	if d.isHosts(r.caller.id) {
		return d.answerHost(r, in, out)
	}
	if in.Err != nil {
		return d.send(errorFrame(r.caller.tag, r.rawID, in.Err), out)
	}
	if !r.reported || !isNothing(in.Result) {
		out = d.send(resultFrame(r.caller.tag, r.rawID, in.Result), out)
	}
	return d.send(answerEndFrame(r.caller.tag, r.rawID), out)
}

// spent are requests that were over before their streams, so that what still comes of
// those opens no other. The zero value has none.
type spent struct {
	callers map[caller]struct{}
	// order is that in which they came.
	order []caller
}

// add takes a request whose stream goes on. Of more than most the oldest is forgotten.
func (s *spent) add(c caller, most int) {
	if s.callers == nil {
		s.callers = make(map[caller]struct{})
	}
	if _, is := s.callers[c]; is {
		return
	}
	if len(s.order) >= most {
		s.remove(0)
	}
	s.callers[c] = struct{}{}
	s.order = append(s.order, c)
}

// part tells whether a part belongs to one of them; its end is the last.
func (s *spent) part(c caller, ends bool) bool {
	_, is := s.callers[c]
	if is && ends {
		s.remove(slices.Index(s.order, c))
	}
	return is
}

func (s *spent) remove(i int) {
	delete(s.callers, s.order[i])
	s.order = slices.Delete(s.order, i, i+1)
}
