package eliza

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/airi-host/airi-host/protocol"
)

// The types of messages that mean something here.
const (
	typeAnnounce     = "worker-announce-plugin"
	typeDynamic      = "worker-announce-dynamic"
	typeInitComplete = "init-complete"
	typeInit         = "init"
	typeRPC          = "worker-rpc"
	typeRPCResult    = "worker-rpc-result"
	typeCallback     = "worker-action-callback"
	typeHostRPC      = "host-rpc"
	typeHostResult   = "host-rpc-result"
	typeEvent        = "event"
	typeStreamChunk  = "stream-chunk"
	typeStreamEnd    = "stream-end"
)

func announceType(dynamic bool) string {
	if dynamic {
		return typeDynamic
	}
	return typeAnnounce
}

func resultType(fromHost bool) string {
	if fromHost {
		return typeHostResult
	}
	return typeRPCResult
}

// maxMembers bounds how many members a frame may have, so that looking for duplicates
// stays cheap. The peers write at most seven.
const maxMembers = 64

// frame is the outer object of a line: its members, in order, as parts of the line.
type frame struct {
	data    []byte
	usual   [8]part
	members []part
	// high tells that the line may hold more than ASCII.
	high bool
}

// part is where a member's name and its value stand in the data.
type part struct{ key, keyEnd, from, to int }

// read reads the object that data begins with, and returns where it ends.
func (f *frame) read(data []byte) (end int, why string) {
	f.data, f.members = data, f.usual[:0]
	s := protocol.Scanner{Data: data}
	defer func() { f.high = s.High }()
	if !s.Skip('{') {
		return 0, "expected an object"
	}
	s.Space()
	for n := 0; !s.Skip('}'); n++ {
		if n > 0 && !s.Skip(',') || n == maxMembers {
			return s.Pos, fmt.Sprintf("expected JSON, an object of at most %d members", maxMembers)
		}
		s.Space()
		p, ok := nextPart(&s)
		if !ok {
			return s.Pos, "expected JSON"
		}
		if key := f.key(p); f.has(key) {
			return s.Pos, "expected every member once, got twice: " + protocol.Clip(string(key))
		}
		f.members = append(f.members, p)
		s.Space()
	}
	if !f.isTyped() {
		return s.Pos, `expected a "type", a string`
	}
	return s.Pos, ""
}

// nextPart reads a name, a colon and a value.
func nextPart(s *protocol.Scanner) (part, bool) {
	p := part{key: s.Pos}
	if !s.Key() {
		return p, false
	}
	p.keyEnd = p.key + bytes.LastIndexByte(s.Data[p.key:s.Pos], '"') + 1
	s.Space()
	p.from = s.Pos
	if !s.Value() {
		return p, false
	}
	p.to = s.Pos
	return p, true
}

func (f *frame) key(p part) []byte { return protocol.TextOf(f.data[p.key:p.keyEnd]) }

func (f *frame) has(key []byte) bool {
	for _, p := range f.members {
		if bytes.Equal(f.key(p), key) {
			return true
		}
	}
	return false
}

// get returns a member's value, or nil.
func (f *frame) get(name string) json.RawMessage {
	for _, p := range f.members {
		if string(f.key(p)) == name {
			return f.data[p.from:p.to:p.to]
		}
	}
	return nil
}

func (f *frame) isTyped() bool {
	t := f.get("type")
	return len(t) > 0 && t[0] == '"'
}

// move has the members stand in a copy of the data.
func (f *frame) move(data []byte) { f.data = data }

// message is what the frame says.
func (f *frame) message() protocol.Message {
	switch t := string(protocol.TextOf(f.get("type"))); t {
	case typeAnnounce, typeDynamic:
		return Announce{Dynamic: t == typeDynamic, Descriptor: f.get("descriptor")}
	case typeInitComplete:
		return InitComplete{}
	case typeInit:
		return Init{Manifest: f.get("manifest"), Context: f.get("context")}
	case typeRPC:
		return RPC{
			RequestID: f.get("requestId"), Surface: f.get("surface"), Target: f.get("target"), Args: f.get("args"),
			StreamReply: string(f.get("streamReply")) == "true", MAC: f.get("mac"),
		}
	case typeHostRPC:
		return HostRPC{
			RequestID: f.get("requestId"), API: f.get("api"), Method: f.get("method"), Args: f.get("args"),
			StreamReply: string(f.get("streamReply")) == "true", Within: f.get("within"),
		}
	case typeRPCResult, typeHostResult:
		return Result{
			FromHost: t == typeHostResult, RequestID: f.get("requestId"), OK: f.get("ok"),
			Payload: f.get("payload"), Error: f.get("error"), StreamID: f.get("streamId"),
		}
	case typeCallback:
		return Callback{ID: f.get("callbackId"), Payload: f.get("payload")}
	case typeEvent:
		return Event{Name: f.get("name"), Payload: f.get("payload")}
	case typeStreamChunk:
		return StreamChunk{StreamID: f.get("streamId"), Chunk: f.get("chunk")}
	case typeStreamEnd:
		return StreamEnd{StreamID: f.get("streamId"), Value: f.get("value"), Error: f.get("error")}
	default:
		return Other{Type: protocol.Clip(t), Text: excerpt(f.data)}
	}
}

// excerpt is the beginning of a peer's text, fit to be shown.
func excerpt(text []byte) string {
	return protocol.Clip(string(text[:min(len(text), protocol.MaxExcerpt)]))
}
