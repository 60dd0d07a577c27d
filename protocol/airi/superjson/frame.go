package superjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/airi-host/airi-host/protocol"
)

// ErrNotJSON tells that a text is no JSON value in UTF-8, or not one whose envelope is clear.
var ErrNotJSON = errors.New("the text is not JSON")

// ErrPollutes tells that annotations name what all objects of JavaScript have in common.
var ErrPollutes = errors.New("an annotation names __proto__, constructor or prototype")

// Frame is one text frame.
type Frame struct {
	// Text is the frame as it came.
	Text []byte
	// JSON is the event in it, or whatever JSON value the frame is. What annotations
	// call undefined is null in it, as superjson writes it.
	JSON json.RawMessage
	// Wrapped tells that the event came in superjson's envelope.
	Wrapped bool

	meta json.RawMessage
}

// Read finds the event in a text, which the frame refers to from then on. A text is an
// envelope when its member json is an object that has a type, as AIRI's servers decide it;
// an event beside it is lost. It fails with ErrNotJSON and ErrPollutes, and with ErrDeep
// where annotations that may pollute nest too deep to be looked into.
func Read(text []byte) (Frame, error) {
	s := protocol.Scanner{Data: text}
	if !s.Whole() || s.High && !utf8.Valid(text) {
		return Frame{}, ErrNotJSON
	}
	f := Frame{Text: text, JSON: text}
	var inner, meta json.RawMessage
	var err error
	protocol.EachMember(text, func(key, value []byte) {
		switch string(key) {
		case "json":
			err = once(err, "json", inner)
			inner = value
		case "meta":
			err = once(err, "meta", meta)
			meta = value
		}
	})
	if inner == nil || !isEvent(inner) {
		return f, nil
	}
	if err != nil {
		return Frame{}, err
	}
	f.JSON, f.meta, f.Wrapped = inner, meta, true
	if !suspicious(meta) {
		return f, nil
	}
	_, err = f.notes()
	if errors.Is(err, ErrPollutes) || errors.Is(err, ErrDeep) {
		return Frame{}, err
	}
	return f, nil // whoever follows the annotations is told what else is wrong
}

func once(err error, name string, before []byte) error {
	if err == nil && before != nil {
		err = fmt.Errorf("%w: it has two members %q", ErrNotJSON, name)
	}
	return err
}

// isEvent tells whether a value is an object that has a type.
func isEvent(value []byte) bool {
	has := false
	protocol.EachMember(value, func(key, _ []byte) { has = has || string(key) == "type" })
	return has
}

// suspicious tells whether annotations may name what they must not. An escape may hide it.
func suspicious(meta []byte) bool {
	for _, word := range []string{"__proto__", "prototype", "constructor", `\u`} {
		if bytes.Contains(meta, []byte(word)) {
			return true
		}
	}
	return false
}

// Forward returns the frame as another peer is to get it, in an envelope: that which it
// came in, untouched, or one around it.
func (f Frame) Forward() []byte {
	if f.Wrapped {
		return f.Text
	}
	return Wrap(f.JSON)
}

// Wrap puts an envelope around an event that needs no annotations.
func Wrap(event []byte) []byte {
	framed := make([]byte, 0, len(event)+len(`{"json":}`))
	framed = append(framed, `{"json":`...)
	framed = append(framed, event...)
	return append(framed, '}')
}
