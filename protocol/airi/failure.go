package airi

import (
	"encoding/json"
	"errors"

	"github.com/airi-host/airi-host/protocol"
)

// wireError is an error as a peer's code expects it: an object with a message.
// (A JavaScript Error becomes {} in JSON, so neither side sends one.)
type wireError struct {
	Name    string          `json:"name,omitempty"`
	Message string          `json:"message"`
	Code    json.RawMessage `json:"code,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// errorValue is err as the peer gets it. A plugin's own failure keeps its name,
// code and data; a failure of the host's making has its protocol.Code for a code.
func errorValue(err error) json.RawMessage {
	w := wireError{Message: err.Error()}
	if peer, ok := errors.AsType[*protocol.PeerError](err); ok {
		w.Name, w.Code, w.Data = peer.Name, peer.Code, peer.Data
	} else if code := protocol.CodeOf(err); code != "" {
		w.Code = appendString(nil, string(code))
	}
	value, err := json.Marshal(w)
	if err != nil { // a code or data that is no JSON
		w.Code, w.Data = nil, nil
		value, _ = json.Marshal(w)
	}
	return value
}

// peerError reads what a peer sent as the content of a failure, {"error": …}.
// wordless is the message of a failure that came without one; an empty message is
// kept, since the reference host shows it as it is.
func peerError(content json.RawMessage, wordless string) *protocol.PeerError {
	var value json.RawMessage
	readMembers(content, func(key string, v []byte) {
		if key == "error" {
			value = v
		}
	})
	return errorOf(value, wordless)
}

// errorOf reads an error value: an Error as the bridge describes it, an object or
// anything else that JavaScript can throw. A text is the message. Data is the
// member data of an object; where there is none, all that it has besides name,
// message, code and at; and what is no object as it is.
func errorOf(value json.RawMessage, wordless string) *protocol.PeerError {
	e := &protocol.PeerError{Message: wordless}
	if s, ok := text(value); ok {
		e.Message = s
		return e
	}
	if len(value) == 0 || value[0] != '{' {
		if !isNothing(value) {
			e.Data = value
		}
		return e
	}
	var rest []byte
	err := readObject(value, func(key string, v []byte) error {
		if !setMember(e, key, v) {
			rest = append(append(appendString(append(rest, ','), key), ':'), v...)
		}
		return nil
	})
	switch {
	case err != nil: // more members than an envelope has, or one twice
		e.Data = value
	case e.Data == nil && rest != nil:
		rest[0] = '{'
		e.Data = append(rest, '}')
	}
	return e
}

// setMember takes what a PeerError has a field for, and tells whether it did.
func setMember(e *protocol.PeerError, key string, value []byte) bool {
	switch s, isText := text(value); {
	case key == "data":
		e.Data = value
	case key == "code":
		e.Code = value
	case isText && key == "message":
		e.Message = s
	case isText && key == "name":
		e.Name = s
	case isText && key == "at":
		e.At = s
	case isText && key == "stack": // which is among the data as well
		e.Stack = protocol.Cut(s, protocol.MaxStack)
		return false
	default:
		return false
	}
	return true
}

// readMembers is readObject for a value that may be anything: what is no object
// has no members.
func readMembers(value []byte, member func(key string, value []byte)) {
	_ = readObject(value, func(key string, value []byte) error {
		member(key, value)
		return nil
	})
}
