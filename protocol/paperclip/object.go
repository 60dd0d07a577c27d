package paperclip

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/airi-host/airi-host/protocol"
)

// eachMember calls visit for every member of the JSON object in data, in order,
// with keys unescaped. It reports false where data is no object; then visit may
// have been called for a part of it.
//
// Of two equal keys in a payload the last one counts, as for JSON.parse: visit
// sees both.
func eachMember(data []byte, visit func(key string, value json.RawMessage)) bool {
	s := protocol.Scanner{Data: data}
	s.Space()
	if !s.Skip('{') {
		return false
	}
	s.Space()
	if s.Skip('}') {
		return true
	}
	for {
		from := s.Pos
		if s.Peek() != '"' || !s.Text() {
			return false
		}
		key := unquote(data[from:s.Pos])
		s.Space()
		if !s.Skip(':') {
			return false
		}
		s.Space()
		from = s.Pos
		if !s.Value() {
			return false
		}
		visit(key, data[from:s.Pos:s.Pos])
		s.Space()
		if s.Skip('}') {
			return true
		}
		if !s.Skip(',') {
			return false
		}
		s.Space()
	}
}

// eachItem is eachMember for an array.
func eachItem(data []byte, visit func(value json.RawMessage)) bool {
	s := protocol.Scanner{Data: data}
	s.Space()
	if !s.Skip('[') {
		return false
	}
	s.Space()
	if s.Skip(']') {
		return true
	}
	for {
		s.Space()
		from := s.Pos
		if !s.Value() {
			return false
		}
		visit(data[from:s.Pos:s.Pos])
		s.Space()
		if s.Skip(']') {
			return true
		}
		if !s.Skip(',') {
			return false
		}
	}
}

// member returns one member of the object in data, or nil.
func member(data []byte, name string) (found json.RawMessage) {
	eachMember(data, func(key string, value json.RawMessage) {
		if key == name {
			found = value
		}
	})
	return found
}

// text reads a JSON value as a string; ok is false for any other type.
func text(value []byte) (s string, ok bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	return unquote(value), true
}

// nonBlank is the string in value without the white space around it; "" where it
// is blank or no string.
func nonBlank(value []byte) string { return string(trimmed(value)) }

// trimmed is nonBlank without a copy, where the literal has no escapes: a part of it then.
func trimmed(literal []byte) []byte {
	return bytes.TrimFunc(protocol.TextOf(literal), protocol.IsBlank)
}

// truthy is JavaScript's idea of a value that counts; nil is undefined.
func truthy(value []byte) bool {
	switch string(value) {
	case "", "null", "false", `""`, "0", "-0":
		return false
	}
	return true
}

// unquote reads a string literal that is known to be valid. A lone surrogate
// becomes U+FFFD, so what it returns is for looking at: payloads stay raw.
func unquote(literal []byte) string {
	inner := literal[1 : len(literal)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var s string
	if err := json.Unmarshal(literal, &s); err != nil {
		return string(inner)
	}
	return s
}

// object builds a JSON object, member by member.
type object []byte

func newObject() object { return append(make(object, 0, 192), '{') }

// raw adds a member; an absent value adds none.
func (o object) raw(key string, value json.RawMessage) object {
	if value == nil {
		return o
	}
	if len(value) > 512 { // leave room for what follows, so that it is copied once
		o = slices.Grow(o, len(key)+len(value)+256)
	}
	return append(o.key(key), value...)
}

func (o object) str(key, value string) object {
	return appendString(o.key(key), value)
}

func (o object) key(key string) object {
	if len(o) > 1 {
		o = append(o, ',')
	}
	return append(appendString(o, key), ':')
}

// optional adds a string, unless it is empty.
func (o object) optional(key, value string) object {
	if value == "" {
		return o
	}
	return o.str(key, value)
}

func (o object) done() json.RawMessage { return json.RawMessage(append(o, '}')) }

func quote(s string) json.RawMessage { return appendString(nil, s) }

// appendString appends s as a string literal; see protocol.AppendText.
func appendString(dst []byte, s string) []byte { return protocol.AppendText(dst, s) }

// join adds the members of another object that is being built.
func (o object) join(other object) object {
	if len(other) > 1 && len(o) > 1 {
		o = append(o, ',')
	}
	return append(o, other[1:]...)
}
