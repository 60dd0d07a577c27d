package eliza

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// member returns one member of the object in data, the last of its name, or nil.
func member(data []byte, name string) (found json.RawMessage) {
	protocol.EachMember(data, func(key, value []byte) {
		if string(key) == name {
			found = value
		}
	})
	return found
}

// eachItem calls visit for every item of the array in data, which is JSON.
func eachItem(data []byte, visit func(item json.RawMessage)) {
	protocol.EachItem(data, func(item []byte) { visit(item) })
}

// text reads a JSON value as a string; ok is false for any other type.
func text(value []byte) (s string, ok bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	return string(protocol.TextOf(value)), true
}

// typeOf names the type of a value for people.
func typeOf(value []byte) string {
	s := protocol.Scanner{Data: value}
	s.Space()
	switch s.Peek() {
	case 0:
		return "nothing"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

func isObject(value []byte) bool { return typeOf(value) == "an object" }

// isAbsent tells whether a value is not there, or null.
func isAbsent(value []byte) bool {
	t := typeOf(value)
	return t == "nothing" || t == "null"
}

// truthy is JavaScript's idea of a value that counts; nil is undefined.
func truthy(value []byte) bool {
	switch strings.TrimSpace(string(value[:min(len(value), 64)])) {
	case "", "null", "false", `""`:
		return false
	}
	if typeOf(value) == "a number" {
		f, err := appendNumber(nil, bytes.TrimSpace(value))
		return err != nil || string(f) != "0"
	}
	return true
}

// or is the value, or another where it is not there or null.
func or(value, other json.RawMessage) json.RawMessage {
	if isAbsent(value) {
		return other
	}
	return value
}

// quote is s as a JSON string.
func quote(s string) json.RawMessage { return protocol.AppendText(nil, s) }

// object builds a JSON object, member by member.
type object []byte

func newObject() object { return newSized(0) }

// newSized is a new object with room for so many bytes.
func newSized(n int) object { return append(make(object, 0, n+192), '{') }

// raw adds a member; an absent value adds none.
func (o object) raw(key string, value json.RawMessage) object {
	if value == nil {
		return o
	}
	if len(o) > 1 {
		o = append(o, ',')
	}
	return append(append(protocol.AppendText(o, key), ':'), value...)
}

func (o object) str(key, value string) object { return o.raw(key, quote(value)) }

// optional adds a string, unless it is empty.
func (o object) optional(key, value string) object {
	if value == "" {
		return o
	}
	return o.str(key, value)
}

func (o object) done() json.RawMessage { return json.RawMessage(append(o, '}')) }

// join adds the members of another object.
func (o object) join(other json.RawMessage) object {
	protocol.EachMember(other, func(key, value []byte) { o = o.raw(string(key), value) })
	return o
}
