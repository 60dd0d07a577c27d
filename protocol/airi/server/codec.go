package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi/superjson"
)

// BadFrame is why a frame is none. Its text is what its sender is told: the reference
// server's own, but for an engine's words.
type BadFrame struct{ Text string }

func (e *BadFrame) Error() string { return e.Text }

const invalidEvent = "invalid event format"

var errEvent = &BadFrame{invalidEvent}

// Frame is one frame of a peer's. Its parts are parts of the record that it was read from.
type Frame struct {
	// Control is "ping" or "pong" where that is the whole text, and then all there is.
	Control string
	// Eventa tells that this is a frame of Eventa's websocket adapter, either form. Only
	// the record is set then.
	Eventa bool
	// Type is the event's.
	Type string
	// Data is the event's data, an object. What SuperJSON's annotations call undefined is
	// null in it: see [Frame.Plain].
	Data json.RawMessage
	// Event has the event as it came, for who follows its annotations.
	Event superjson.Frame

	metadata   json.RawMessage
	source, id json.RawMessage
	route      json.RawMessage
	hasRoute   bool
}

// Decode reads a text or binary frame: an event as it is, or in SuperJSON's wrapper. The
// error is a [*BadFrame]. Keys are exact, and one that stands twice in an envelope makes
// the record no frame.
func Decode(record []byte) (Frame, error) {
	f := Frame{Event: superjson.Frame{Text: record}}
	switch string(record) {
	case "ping":
		f.Control = "ping"
		return f, nil
	case "pong":
		f.Control = "pong"
		return f, nil
	}
	event, err := superjson.Read(record)
	if err != nil {
		return f, broken(record)
	}
	if !utf8.Valid(record) {
		return f, errUTF8
	}
	f.Event = event
	parts, err := readEnvelope(event.JSON)
	if err != nil {
		return f, err
	}
	if eventa(parts) && !event.Wrapped {
		f.Eventa = true
		return f, nil
	}
	return f.read(parts)
}

var errUTF8 = &BadFrame{"invalid JSON, error: expected UTF-8"}

// broken tells what is wrong with a text that could not be read: it is no JSON, or its
// wrapper is none.
func broken(record []byte) error {
	s := protocol.Scanner{Data: record}
	switch {
	case !utf8.Valid(record):
		return errUTF8
	case s.Whole():
		return errEvent
	case s.Pos >= len(record):
		return &BadFrame{"invalid JSON, error: the text ends too early"}
	}
	return &BadFrame{fmt.Sprintf("invalid JSON, error: expected something else at byte %d: %s",
		s.Pos, protocol.Clip(string(record[s.Pos:min(len(record), s.Pos+20)])))}
}

// envelope is what may stand at the top of a frame, as it was written.
type envelope struct {
	kind, data, metadata, route []byte
	json                        []byte
	// of Eventa's
	payload, eventa, deliveryID []byte
}

func (e *envelope) member(key string) *[]byte {
	switch key {
	case "type":
		return &e.kind
	case "data":
		return &e.data
	case "metadata":
		return &e.metadata
	case "route":
		return &e.route
	case "json":
		return &e.json
	case "payload":
		return &e.payload
	case "eventa":
		return &e.eventa
	case "deliveryId":
		return &e.deliveryID
	}
	return nil
}

// readEnvelope reads the members of an object; of anything else there are none.
func readEnvelope(value []byte) (e envelope, err error) {
	protocol.EachMember(value, func(key, value []byte) {
		at := e.member(string(key))
		if at == nil {
			return
		}
		if *at != nil {
			err = errEvent
		}
		*at = value
	})
	return e, err
}

// eventa tells a frame of Eventa's: of alpha.14 to beta.11, or of beta.14.
func eventa(e envelope) bool {
	if e.data != nil || e.json != nil {
		return false
	}
	return isText(e.kind) && isObject(e.payload) || isText(e.deliveryID) && isObject(e.eventa)
}

// read holds an event to its form.
func (f Frame) read(e envelope) (Frame, error) {
	if !isText(e.kind) || !isObject(e.data) || !f.readMetadata(e.metadata) {
		return f, errEvent
	}
	f.Type = string(protocol.TextOf(e.kind))
	f.Data = e.data
	f.route, f.hasRoute = e.route, e.route != nil && !isNull(e.route)
	return f, nil
}

// readMetadata wants an event in metadata that is there at all: the reference server
// dies of one that has none.
func (f *Frame) readMetadata(metadata []byte) bool {
	if metadata == nil || isNull(metadata) {
		return true
	}
	f.metadata = metadata
	var event []byte
	protocol.EachMember(metadata, func(key, value []byte) {
		switch string(key) {
		case "source":
			f.source = value
		case "event":
			event = value
		}
	})
	protocol.EachMember(event, func(key, value []byte) {
		if string(key) == "id" && len(value) <= maxEcho && !isNull(value) {
			f.id = value
		}
	})
	return isObject(event)
}

// maxEcho is how many bytes of an event's id an answer repeats; a longer one is not named.
const maxEcho = 1 << 10

// Forward is the frame as others get it: the bytes that came, in the wrapper that
// published clients want.
func (f Frame) Forward() []byte {
	if f.Eventa || f.Control != "" {
		return f.Event.Text
	}
	return f.Event.Forward()
}

// Plain is the data without what annotations call undefined.
func (f Frame) Plain() json.RawMessage {
	if !f.Event.Wrapped {
		return f.Data
	}
	event, err := f.Event.Plain()
	if err != nil {
		return f.Data
	}
	return members(event, "data")[0]
}

func isText(value []byte) bool   { return len(value) > 0 && value[0] == '"' }
func isObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }
func isList(value []byte) bool   { return len(value) > 0 && value[0] == '[' }
func isNull(value []byte) bool   { return string(value) == "null" }

// isTrue tells what a JavaScript program takes for true.
func isTrue(value []byte) bool {
	switch string(value) {
	case "", "null", "false", `""`:
		return false
	}
	n, ok := number(value)
	return !ok || n != 0
}

// number reads a number.
func number(value []byte) (n float64, ok bool) {
	if len(value) == 0 || value[0] != '-' && (value[0] < '0' || value[0] > '9') {
		return 0, false
	}
	return n, json.Unmarshal(value, &n) == nil
}

// text reads a string; ok is false for any other type.
func text(value []byte) (s string, ok bool) {
	if !isText(value) {
		return "", false
	}
	return string(protocol.TextOf(value)), true
}

// members picks members of an object by name; those that are not there are nil.
func members(object []byte, names ...string) [][]byte {
	found := make([][]byte, len(names))
	protocol.EachMember(object, func(key, value []byte) {
		if i := slices.Index(names, string(key)); i >= 0 {
			found[i] = value
		}
	})
	return found
}

// eachItem calls visit for the items of an array of valid JSON, until that returns false.
func eachItem(list []byte, visit func(item []byte) bool) {
	s := protocol.Scanner{Data: list}
	if !s.Skip('[') {
		return
	}
	for s.Space(); s.Peek() != ']'; s.Space() {
		from := s.Pos
		if !s.Value() || !visit(list[from:s.Pos]) {
			return
		}
		if s.Space(); !s.Skip(',') {
			return
		}
	}
}

// texts are the strings of an array; what is none is left out.
func texts(list []byte) (found []string) {
	eachItem(list, func(item []byte) bool {
		if s, ok := text(item); ok {
			found = append(found, s)
		}
		return true
	})
	return found
}

// compact is a value that outlives its record, without white space between tokens.
func compact(value []byte) json.RawMessage {
	out, err := protocol.AppendValue(nil, value)
	if err != nil {
		return bytes.Clone(value)
	}
	return out
}
