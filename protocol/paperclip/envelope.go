package paperclip

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/airi-host/airi-host/protocol"
)

// part names a member of the envelope.
type part uint8

const (
	partVersion part = iota
	partID
	partMethod
	partParams
	partResult
	partError
	partInvocation
	partInvocationID
	parts
	noPart = parts
)

func partOf(key []byte) part {
	switch string(key) {
	case "jsonrpc":
		return partVersion
	case "id":
		return partID
	case "method":
		return partMethod
	case "params":
		return partParams
	case "result":
		return partResult
	case "error":
		return partError
	case "paperclipInvocation":
		return partInvocation
	case "paperclipInvocationId":
		return partInvocationID
	}
	return noPart
}

// envelope is the outer object of a frame: where in data its members stand.
type envelope struct {
	data []byte
	at   [parts]span
	// own tells that every part that is given out is a copy of its own.
	own bool
	// high tells that data may hold more than ASCII.
	high bool
}

// span is a part of the data; the zero span is none.
type span struct{ from, to int }

func (s span) size() int { return s.to - s.from }

// maxMembers bounds how many members an envelope may have, so that looking for
// duplicates stays cheap. The peers write at most five.
const maxMembers = 64

// read reads the JSON value that data begins with and returns where it ends. A
// value that is an array is an envelope without members, as in JavaScript.
func (e *envelope) read(data []byte) (end int, why string) {
	e.data = data
	s := protocol.Scanner{Data: data}
	defer func() { e.high = s.High }()
	if s.Peek() != '{' {
		isArray := s.Peek() == '['
		switch {
		case !s.Value():
			return s.Pos, invalidJSON(data)
		case !isArray:
			return s.Pos, "Message must be a JSON object"
		}
		return s.Pos, ""
	}
	why = e.members(&s)
	return s.Pos, why
}

func (e *envelope) members(s *protocol.Scanner) (why string) {
	var others []string // keys that mean nothing here must be unique all the same
	s.Pos++
	s.Space()
	for n := 0; !s.Skip('}'); n++ {
		key, value, ok := nextMember(s, n == 0)
		if !ok {
			return invalidJSON(s.Data)
		}
		p := partOf(key)
		switch {
		case n == maxMembers:
			return fmt.Sprintf("Expected at most %d keys", maxMembers)
		case p != noPart && e.at[p].to > 0, p == noPart && contains(others, key):
			return "Expected every key once, got twice: " + clip(string(key))
		case p == noPart:
			others = append(others, string(key))
		default:
			e.at[p] = value
		}
	}
	return ""
}

func contains(keys []string, key []byte) bool {
	for _, k := range keys {
		if k == string(key) {
			return true
		}
	}
	return false
}

// nextMember reads a member and what is behind it, up to the next one or the
// closing brace.
func nextMember(s *protocol.Scanner, first bool) (key []byte, value span, ok bool) {
	if !first {
		if !s.Skip(',') {
			return nil, span{}, false
		}
		s.Space()
	}
	from := s.Pos
	if !s.Key() {
		return nil, span{}, false
	}
	key = keyBytes(s.Data[from:s.Pos])
	s.Space()
	value.from = s.Pos
	if !s.Value() {
		return nil, span{}, false
	}
	value.to = s.Pos
	s.Space()
	return key, value, true
}

// keyBytes reads the key out of its literal and what follows it up to the colon.
func keyBytes(literal []byte) []byte {
	literal = literal[:bytes.LastIndexByte(literal, '"')+1]
	if bytes.IndexByte(literal, '\\') < 0 {
		return literal[1 : len(literal)-1]
	}
	return []byte(unquote(literal))
}

func (e *envelope) get(p part) json.RawMessage {
	at := e.at[p]
	if at.to == 0 {
		return nil
	}
	value := e.data[at.from:at.to:at.to]
	if e.own {
		return bytes.Clone(value)
	}
	return value
}

// maxElse is how much of a frame may be kept with its payloads that is none, in bytes.
const maxElse = 4 << 10

// isMostlyElse tells that there is more than that: whoever keeps a payload must not keep
// what nobody counts.
func (e *envelope) isMostlyElse() bool {
	if e.isAnswer() {
		return len(e.data)-e.at[partResult].size()-e.at[partError].size() > maxElse
	}
	return len(e.data)-e.at[partParams].size() > maxElse
}

func (e *envelope) isAnswer() bool {
	return e.at[partID].to > 0 && (e.at[partResult].to > 0 || e.at[partError].to > 0)
}

func (e *envelope) speaks() bool {
	raw := e.get(partVersion)
	if string(raw) == `"2.0"` { // as everybody writes it
		return true
	}
	v, ok := text(raw)
	return ok && v == "2.0"
}

func (e *envelope) version() string {
	if v := e.get(partVersion); v != nil {
		return clip(string(v))
	}
	return "undefined"
}

// message classifies the frame, as both peers do and in this order.
func (e *envelope) message() protocol.Message {
	id := e.get(partID)
	if e.isAnswer() {
		return Response{ID: id, Result: e.get(partResult), Error: e.get(partError)}
	}
	method, ok := text(e.get(partMethod))
	switch {
	case ok && id == nil:
		return Notification{
			Method: method, Params: e.get(partParams),
			Invocation: e.get(partInvocation), InvocationID: e.get(partInvocationID),
		}
	case ok && string(id) != "null":
		return Request{
			ID: id, Method: method, Params: e.get(partParams),
			Invocation: e.get(partInvocation), InvocationID: e.get(partInvocationID),
		}
	}
	return Unclassified{Text: clip(string(e.data[:min(len(e.data), maxExcerpt)]))}
}
