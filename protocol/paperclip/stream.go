package paperclip

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/airi-host/airi-host/protocol"
)

// streams are the event streams that a worker has open: the company of each by its
// channel. There is one table for all companies, as in the reference.
type streams struct {
	limits StreamLimits
	open   map[string]string
}

// maxCompany is how long the name of a company may be that a stream is opened for, in bytes;
// the product's have 36.
const maxCompany = 256

func newStreams(l StreamLimits) streams {
	return streams{limits: l.filled(), open: make(map[string]string)}
}

// streamed takes a notification of an event stream. It is for the company of its
// invocation, or for any outside of all invocations.
func (d *driver) streamed(part protocol.StreamPart, n Notification, out []protocol.Effect) []protocol.Effect {
	s := protocol.Streamed{What: part}
	protocol.EachMember(n.Params, func(key, value []byte) {
		switch string(key) {
		case "channel":
			s.Channel = jsString(value)
		case "companyId":
			s.Scope = jsString(value)
		case "event":
			s.Item = value
		}
	})
	a := d.resolve(n.InvocationID, wantedBy(n.Method, n.Params))
	switch {
	case a.invalid:
		return append(out, protocol.Drop(DroppedStreamInvocation, n.Method+" on "+s.Channel))
	case a.company != "" && s.Scope != a.company:
		return append(out, protocol.Drop(DroppedStreamCompany, n.Method+" on "+s.Channel+" for "+s.Scope+", in scope of "+a.company))
	case s.Channel == "" || len(s.Channel) > d.streams.limits.Name || len(s.Scope) > maxCompany:
		return append(out, protocol.Drop(DroppedStreamName, n.Method+" on "+s.Channel))
	}
	return d.streams.take(s, out)
}

func (v *streams) take(s protocol.Streamed, out []protocol.Effect) []protocol.Effect {
	_, known := v.open[s.Channel]
	switch s.What {
	case protocol.StreamOpen:
		s.Item = nil
		if !known && len(v.open) >= v.limits.Open {
			return append(out, protocol.Drop(DroppedStreamLimit, s.Channel))
		}
		v.open[s.Channel] = s.Scope
	case protocol.StreamClose:
		s.Item = nil
		delete(v.open, s.Channel)
	case protocol.StreamItem:
	}
	return append(out, s)
}

// end closes those that are open, since the worker is gone.
func (v *streams) end(out []protocol.Effect) []protocol.Effect {
	for _, channel := range slices.Sorted(maps.Keys(v.open)) {
		out = append(out, protocol.Streamed{What: protocol.StreamClose, Channel: channel, Scope: v.open[channel], Lost: true})
	}
	clear(v.open)
	return out
}

// jsString is what String(value ?? "") makes of a value, but for objects: those are shown
// as they are.
func jsString(value json.RawMessage) string {
	if s, ok := text(value); ok {
		return s
	}
	if string(value) == "null" {
		return ""
	}
	return string(value)
}
