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
}

// errorValue is err as the peer gets it. A plugin's own failure keeps its name
// and code; a failure of the host's making has its protocol.Code for a code.
func errorValue(err error) json.RawMessage {
	w := wireError{Message: err.Error()}
	if peer, ok := errors.AsType[*protocol.PeerError](err); ok {
		w.Name, w.Code = peer.Name, peer.Code
	} else if code := protocol.CodeOf(err); code != "" {
		w.Code = appendString(nil, string(code))
	}
	value, err := json.Marshal(w)
	if err != nil { // a code that is no JSON
		w.Code = nil
		value, _ = json.Marshal(w)
	}
	return value
}

// peerError reads what a peer sent as the content of a failure. wordless is the
// message of a failure that came without one; an empty message is kept, since
// the reference host shows it as it is.
func peerError(content json.RawMessage, wordless string) *protocol.PeerError {
	e := &protocol.PeerError{Message: wordless}
	readMembers(content, func(key string, value []byte) {
		if key == "error" {
			e.Data = value
		}
	})
	if s, ok := text(e.Data); ok {
		e.Message = s
		return e
	}
	readMembers(e.Data, func(key string, value []byte) {
		switch s, ok := text(value); {
		case key == "code":
			e.Code = value
		case !ok:
		case key == "message":
			e.Message = s
		case key == "name":
			e.Name = s
		case key == "at":
			e.At = s
		}
	})
	return e
}

// readMembers is readObject for a value that may be anything: what is no object
// has no members.
func readMembers(value []byte, member func(key string, value []byte)) {
	_ = readObject(value, func(key string, value []byte) error {
		member(key, value)
		return nil
	})
}
