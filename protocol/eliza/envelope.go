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

// field is a member that means something on this wire.
type field uint8

const (
	inType field = iota
	inDescriptor
	inManifest
	inContext
	inRequestID
	inSurface
	inTarget
	inArgs
	inStreamReply
	inMAC
	inAPI
	inMethod
	inWithin
	inOK
	inPayload
	inError
	inStreamID
	inCallbackID
	inName
	inChunk
	inValue
	// inNone is any other member.
	inNone
)

// fieldOf finds a field by its name.
func fieldOf(name []byte) field {
	switch string(name) {
	case "type":
		return inType
	case "descriptor":
		return inDescriptor
	case "manifest":
		return inManifest
	case "context":
		return inContext
	case "requestId":
		return inRequestID
	case "surface":
		return inSurface
	case "target":
		return inTarget
	case "args":
		return inArgs
	case "streamReply":
		return inStreamReply
	case "mac":
		return inMAC
	case "api":
		return inAPI
	case "method":
		return inMethod
	case "within":
		return inWithin
	case "ok":
		return inOK
	case "payload":
		return inPayload
	case "error":
		return inError
	case "streamId":
		return inStreamID
	case "callbackId":
		return inCallbackID
	case "name":
		return inName
	case "chunk":
		return inChunk
	case "value":
		return inValue
	}
	return inNone
}

// frame is the outer object of a line, its values as parts of the line.
type frame struct {
	data []byte
	// fields are where the values stand; one that ends at 0 is not there.
	fields [inNone]span
	// others are the names of all other members.
	others [][]byte
	// high tells that the line may hold more than ASCII.
	high bool
	// isLong tells that the values are to be copied one by one.
	isLong bool
}

// span is where a value stands in the data.
type span struct{ from, to int }

// read reads the object that data begins with, and returns where it ends.
func (f *frame) read(data []byte) (end int, why string) {
	f.data = data
	s := protocol.Scanner{Data: data}
	why = f.members(&s)
	f.high = s.High
	if why == "" && !f.isTyped() {
		why = `expected a "type", a string`
	}
	return s.Pos, why
}

// members reads the members.
func (f *frame) members(s *protocol.Scanner) (why string) {
	if !s.Skip('{') {
		return "expected an object"
	}
	s.Space()
	for n := 0; !s.Skip('}'); n++ {
		if n > 0 && !s.Skip(',') || n == maxMembers {
			return fmt.Sprintf("expected JSON, an object of at most %d members", maxMembers)
		}
		s.Space()
		name, value, ok := nextMember(s)
		if !ok {
			return "expected JSON"
		}
		if !f.keep(name, value) {
			return "expected every member once, got twice: " + protocol.Clip(string(name))
		}
		s.Space()
	}
	return ""
}

// nextMember reads a name, a colon and a value.
func nextMember(s *protocol.Scanner) (name []byte, value span, ok bool) {
	from := s.Pos
	if s.Peek() != '"' || !s.Text() {
		return nil, value, false
	}
	name = protocol.TextOf(s.Data[from:s.Pos])
	s.Space()
	if !s.Skip(':') {
		return nil, value, false
	}
	s.Space()
	value.from = s.Pos
	ok = s.Value()
	value.to = s.Pos
	return name, value, ok
}

// keep notes a member, and tells whether it is the only one of its name.
func (f *frame) keep(name []byte, value span) bool {
	if of := fieldOf(name); of != inNone {
		first := f.fields[of].to == 0
		f.fields[of] = value
		return first
	}
	for _, other := range f.others {
		if bytes.Equal(other, name) {
			return false
		}
	}
	f.others = append(f.others, name)
	return true
}

// look returns a field's value in the line, or nil.
func (f *frame) look(of field) json.RawMessage {
	at := f.fields[of]
	if at.to == 0 {
		return nil
	}
	return f.data[at.from:at.to:at.to]
}

// get returns a field's value to be kept, or nil.
func (f *frame) get(of field) json.RawMessage {
	value := f.look(of)
	if f.isLong {
		return bytes.Clone(value)
	}
	return value
}

func (f *frame) isTyped() bool {
	t := f.look(inType)
	return len(t) > 0 && t[0] == '"'
}

// ofType is what the frame says that it is.
func (f *frame) ofType() []byte { return protocol.TextOf(f.look(inType)) }

func (f *frame) takesStream() bool { return string(f.look(inStreamReply)) == "true" }

// longLine is how long a line may be whose values share one copy of it. Each of them may
// keep all of that: what is longer would get around what is counted by the values' length.
const longLine = 4 << 10

// move has the values stand in memory of their own.
func (f *frame) move() {
	if f.isLong = len(f.data) > longLine; !f.isLong {
		f.data = bytes.Clone(f.data)
	}
}

// message is what the frame says.
func (f *frame) message() protocol.Message {
	if string(f.look(inType)) == `"`+typeRPCResult+`"` { // as almost all are
		return f.result(false)
	}
	t := f.ofType()
	switch string(t) {
	case typeAnnounce, typeDynamic:
		return Announce{Dynamic: string(t) == typeDynamic, Descriptor: f.get(inDescriptor)}
	case typeInitComplete:
		return InitComplete{}
	case typeInit:
		return Init{Manifest: f.get(inManifest), Context: f.get(inContext)}
	case typeRPC:
		return RPC{
			RequestID: f.get(inRequestID), Surface: f.get(inSurface), Target: f.get(inTarget), Args: f.get(inArgs),
			StreamReply: f.takesStream(), MAC: f.get(inMAC),
		}
	case typeHostRPC:
		return HostRPC{
			RequestID: f.get(inRequestID), API: f.get(inAPI), Method: f.get(inMethod), Args: f.get(inArgs),
			StreamReply: f.takesStream(), Within: f.get(inWithin),
		}
	case typeRPCResult, typeHostResult:
		return f.result(string(t) == typeHostResult)
	case typeCallback:
		return Callback{ID: f.get(inCallbackID), Payload: f.get(inPayload)}
	case typeEvent:
		return Event{Name: f.get(inName), Payload: f.get(inPayload)}
	case typeStreamChunk:
		return StreamChunk{StreamID: f.get(inStreamID), Chunk: f.get(inChunk)}
	case typeStreamEnd:
		return StreamEnd{StreamID: f.get(inStreamID), Value: f.get(inValue), Error: f.get(inError)}
	default:
		return Other{Type: protocol.Clip(string(t)), Text: excerpt(f.data)}
	}
}

func (f *frame) result(fromHost bool) Result {
	return Result{
		FromHost: fromHost, RequestID: f.get(inRequestID), OK: f.get(inOK),
		Payload: f.get(inPayload), Error: f.get(inError), StreamID: f.get(inStreamID),
	}
}

// excerpt is the beginning of a peer's text, fit to be shown.
func excerpt(text []byte) string {
	return protocol.Clip(string(text[:min(len(text), protocol.MaxExcerpt)]))
}
