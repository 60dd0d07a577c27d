package eliza

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// inParts tells that a result is to come as a stream.
func (r Result) inParts() bool {
	return r.StreamID != nil && string(r.StreamID) != "null" && r.Payload == nil
}

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
		return d.streamLeft(m, out)
	case !isAbsent(m.Error):
		return d.completed(n, c, nil, remoteError(m.Error), out)
	case m.Value == nil:
		return d.completed(n, c, isNull, nil, out)
	}
	return d.completed(n, c, m.Value, nil, out)
}

// streamLeft takes the end of an answer of the host's that comes in parts: the worker does
// not take more of it. The call counts until its service has ended.
func (d *driver) streamLeft(m StreamEnd, out []protocol.Effect) []protocol.Effect {
	id := protocol.RequestID(streamNumber(m.StreamID, hostStreams))
	r, waits := d.requests.Get(id)
	if !waits || r.stream == nil || r.left {
		return append(out, protocol.Drop(DroppedLate, typeStreamEnd+" "+excerpt(m.StreamID)))
	}
	r.left = true
	d.requests.Update(id, r)
	return append(out, protocol.Abandon{ID: id})
}

// What the ids of streams begin with, by who sends them.
const (
	hostStreams   = "host-stream:"
	workerStreams = "stream:"
)

// streamID is the id of the stream in which a request is answered.
func streamID[N ~uint64](of string, n N) json.RawMessage {
	return quote(of + strconv.FormatUint(uint64(n), 10))
}

// streamNumber is the request that a stream answers, or 0 for none.
func streamNumber(id json.RawMessage, of string) uint64 {
	name, _ := text(id)
	digits, ok := strings.CutPrefix(name, of)
	n, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil {
		return 0
	}
	return n
}

// late takes an answer to a call that is over. Of one that begins a stream the sender is
// told that nobody takes it.
func (r Result) late(n uint64, out []protocol.Effect) []protocol.Effect {
	out = append(out, protocol.Drop(DroppedLate, string(number(n))))
	if string(r.OK) == "true" && r.inParts() && len(r.StreamID) <= protocol.MaxExcerpt {
		out = append(out, noMore(r.StreamID))
	}
	return out
}

// noMore tells whoever sends a stream that nobody takes it any more.
func noMore(id json.RawMessage) protocol.Effect {
	return protocol.Send{Message: StreamEnd{StreamID: id, Error: refusal(nameAbort, "nobody takes this stream any more", codeAbort)}}
}
