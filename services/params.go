package services

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/airi-host/airi-host/protocol"
)

// params are the parameters of one call, member by member as they came. Keys are
// exact, and of two equal ones the last counts, as in the gate that the call has
// passed. The first thing that is wrong stays in err, so that a service reads all that
// it needs and looks once.
type params struct {
	call    protocol.Call
	members map[string]json.RawMessage
	err     error
	// path and parent are set for an object inside: "init." of its parent.
	path   string
	parent *params
}

// shortParams is how long parameters may be, in bytes, that are taken apart without being
// checked again: they cannot nest too deeply. What is longer is checked, and copied.
const shortParams = 4 << 10

// read takes the parameters of a call apart; none at all are an empty object. The members
// of short ones are parts of the call's input.
func read(call protocol.Call) *params {
	p := &params{call: call}
	if call.Input == nil {
		return p
	}
	if len(call.Input) <= shortParams && kindOf(call.Input) == "an object" {
		p.members = membersOf(call.Input)
		return p
	}
	err := json.Unmarshal(call.Input, &p.members)
	switch {
	case err != nil && kindOf(call.Input) == "an object": // it was valid when it came
		p.err = faultf(call, protocol.CodeInvalid, "params: they nest too deeply: at most 10000 levels are allowed")
	case err != nil || p.members == nil:
		p.err = faultf(call, protocol.CodeInvalid, "params: expected an object, got %s", kindOf(call.Input))
	}
	return p
}

// raw is a member as it came, nil where it is absent or null.
func (p *params) raw(field string) json.RawMessage {
	if value := p.members[field]; string(value) != "null" {
		return value
	}
	return nil
}

// text is a string that has to be there and must not be blank.
func (p *params) text(field string) string {
	s, ok := stringOf(p.raw(field))
	if !ok || blank(s) {
		p.expected(field, "a string that is not blank")
	}
	return s
}

// optional is a string, "" where it is absent or null.
func (p *params) optional(field string) string {
	value := p.raw(field)
	s, ok := stringOf(value)
	if value != nil && !ok {
		p.expected(field, "a string")
	}
	return s
}

// object is an object inside, empty where it is absent or null.
func (p *params) object(field string) *params {
	inner := &params{call: p.call, path: p.path + field + ".", parent: p}
	value := p.raw(field)
	switch {
	case value == nil:
	case kindOf(value) == "an object" && len(value) <= shortParams:
		inner.members = membersOf(value)
	case json.Unmarshal(value, &inner.members) != nil:
		p.expected(field, "an object")
	}
	return inner
}

// membersOf takes a short object apart; its members are parts of it.
func membersOf(object json.RawMessage) map[string]json.RawMessage {
	members := make(map[string]json.RawMessage, 4)
	protocol.EachMember(object, func(key, value []byte) { members[string(key)] = value })
	return members
}

// company is what the call is about: the company that it names, else the one in scope.
func (p *params) company() string {
	named, _ := stringOf(p.raw("companyId"))
	if named = trim(named); named != "" {
		return named
	}
	return p.call.Scope
}

// expected keeps that a member is not what it should be. What came is described and
// never quoted: it may be a secret.
func (p *params) expected(field, want string) {
	p.failf("%s%s: expected %s, got %s", p.path, field, want, kindOf(p.members[field]))
}

// failf keeps an error, unless there is one.
func (p *params) failf(format string, args ...any) {
	root := p
	for root.parent != nil {
		root = root.parent
	}
	if root.err == nil {
		root.err = faultf(p.call, protocol.CodeInvalid, format, args...)
	}
}

// faultf is a failure of a call: it names the plugin and the method.
func faultf(call protocol.Call, code protocol.Code, format string, args ...any) *protocol.Error {
	return &protocol.Error{Code: code, Plugin: call.Caller, Message: call.Key + ": " + fmt.Sprintf(format, args...)}
}

// denial marks a failure as the operator's to change, whatever its code.
func denial(e *protocol.Error) *protocol.Error {
	e.Denied = true
	return e
}

// null is the result of what gives none.
var null = json.RawMessage("null")

// done is the answer of what gives no result.
func done(err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	return null, nil
}

// stringOf reads a JSON value as a string; ok is false for any other type.
func stringOf(value json.RawMessage) (s string, ok bool) {
	if len(value) == 0 || value[0] != '"' {
		return "", false
	}
	if utf8.Valid(value) { // it was read when it came
		return string(protocol.TextOf(value)), true
	}
	return s, json.Unmarshal(value, &s) == nil
}

// scalarText is a string as it is, a number or a boolean as it is written.
func scalarText(value json.RawMessage) (s string, ok bool) {
	if s, ok := stringOf(value); ok {
		return s, true
	}
	switch kindOf(value) {
	case "a number", "a boolean":
		return string(value), true
	default:
		return "", false
	}
}

// kindOf describes a JSON value without its content.
func kindOf(value json.RawMessage) string {
	value = bytes.TrimLeft(value, " \t\r\n")
	if len(value) == 0 {
		return "nothing"
	}
	switch value[0] {
	case '"':
		if s, ok := stringOf(value); ok && blank(s) {
			return "a blank one"
		}
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

func blank(s string) bool { return trim(s) == "" }

// trim takes away what JavaScript's trim does: the gate compares companies so.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool {
		return r == '\ufeff' || r != '\u0085' && unicode.IsSpace(r)
	})
}
