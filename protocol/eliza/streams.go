package eliza

import (
	"encoding/json"
	"fmt"

	"github.com/airi-host/airi-host/protocol"
)

// streamBegin takes the answer that says that more of it comes in parts.
func (d *driver) streamBegin(n uint64, c *call, id json.RawMessage, out []protocol.Effect) []protocol.Effect {
	name := string(id)
	if _, taken := d.streams[name]; taken || c.stream != "" || len(name) > protocol.MaxExcerpt {
		return d.completed(n, c, nil, d.settings.Fault(protocol.CodeWire, fmt.Sprintf(
			"%s was answered as the stream %s: expected a short id that is not in use", protocol.Clip(c.key), excerpt(id))), out)
	}
	c.stream = name
	d.streams[name] = n
	return append(out, protocol.Progress{ID: c.id})
}

// chunk takes a part of an answer. A caller who does not follow hears a sign of life.
func (d *driver) chunk(m StreamChunk, out []protocol.Effect) []protocol.Effect {
	c := d.calls[d.streams[string(m.StreamID)]]
	if c == nil {
		return append(out, protocol.Drop(DroppedLate, typeStreamChunk+" "+excerpt(m.StreamID)))
	}
	p := protocol.Progress{ID: c.id}
	if c.follows {
		p.Item = m.Chunk
		if p.Item == nil {
			p.Item = isNull
		}
	}
	return append(out, p)
}

// streamEnd takes the end of an answer that came in parts.
func (d *driver) streamEnd(m StreamEnd, out []protocol.Effect) []protocol.Effect {
	n := d.streams[string(m.StreamID)]
	c := d.calls[n]
	switch {
	case c == nil:
		return append(out, protocol.Drop(DroppedLate, typeStreamEnd+" "+excerpt(m.StreamID)))
	case !isAbsent(m.Error):
		return d.completed(n, c, nil, remoteError(m.Error), out)
	case m.Value == nil:
		return d.completed(n, c, isNull, nil, out)
	}
	return d.completed(n, c, m.Value, nil, out)
}
