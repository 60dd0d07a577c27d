package paperclip

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/airi-host/airi-host/protocol"
)

// The codes of errors on this wire. -32600, -32602 and -32099 are defined by the
// peers, and never sent.
const (
	codeParse            = -32700
	codeMethodNotFound   = -32601
	codeInternal         = -32603
	codeUnavailable      = -32000
	codeCapabilityDenied = -32001
	codeWorker           = -32002
	codeTimeout          = -32003
	codeNotImplemented   = -32004
	codeScopeDenied      = -32005
	codeCrossTenant      = -32006
	codeUnknown          = -32099
)

// end is which side of the wire answers.
type end uint8

const (
	hostEnd end = iota
	workerEnd
)

// codeFor is the code with which an end answers that err happened. Together with
// [peerError], which reads what the other end answered, this is the whole table:
//
//	code     name                     err on the way out                        on the way in
//	-32700   parse error              a line that a worker cannot read          DroppedNoID: its id is null
//	-32601   method not found         the host has no service (Plugin.Handles), ─┐
//	                                  a worker has no such method                │
//	-32603   internal error           host: anything else                        │
//	-32000   worker unavailable       CodeNotReady, CodeOverloaded and           │
//	                                  CodeOutcomeUnknown                         │ *protocol.PeerError
//	-32001   capability denied        the gate; host: CodeDenied                 ├ with the code, raw,
//	-32002   worker error             worker: anything else                      │ and the peer's words
//	-32003   timeout                  CodeTimeout                                │
//	-32004   method not implemented   worker: an optional hook is absent         │
//	-32005   invocation scope denied  the gate                                   │
//	-32006   cross-tenant config      the worker's guard of configChanged       ─┘
//
// An error of a peer that is passed on (*protocol.PeerError) keeps its code: from
// a worker whatever number it is; from the host only -32000 to -32006 and -32099,
// and anything else becomes -32603.
func codeFor(err error, from end) json.RawMessage {
	if peer, ok := errors.AsType[*protocol.PeerError](err); ok {
		if kept := keptCode(peer.Code, from); kept != nil {
			return kept
		}
	}
	code := codeInternal
	if from == workerEnd {
		code = codeWorker
	}
	switch protocol.CodeOf(err) {
	case protocol.CodeNotReady, protocol.CodeOverloaded, protocol.CodeOutcomeUnknown:
		code = codeUnavailable
	case protocol.CodeTimeout:
		code = codeTimeout
	case protocol.CodeDenied:
		if from == hostEnd {
			code = codeCapabilityDenied
		}
	case protocol.CodeCancelled, protocol.CodeNotFound, protocol.CodeInvalid, protocol.CodeAmbiguous,
		protocol.CodeConfiguration, protocol.CodeConflict, protocol.CodeWire, protocol.CodeInternal:
	}
	return number(code)
}

// keptCode is a peer's code if it may be passed on, or nil.
func keptCode(raw json.RawMessage, from end) json.RawMessage {
	if !isNumber(raw) {
		return nil
	}
	n, err := strconv.Atoi(string(raw))
	ofPlugins := err == nil && (n <= codeUnavailable && n >= codeCrossTenant || n == codeUnknown)
	if from == hostEnd && !ofPlugins {
		return nil
	}
	return raw
}

func isNumber(raw json.RawMessage) bool {
	s := protocol.Scanner{Data: raw}
	return s.Number() && s.Pos == len(raw)
}

func number(n int) json.RawMessage { return strconv.AppendInt(nil, int64(n), 10) }

// failure is the answer that err happened. A worker's error keeps its data; the
// host sends none.
func failure(id json.RawMessage, err error, from end) Response {
	o := newObject().raw("code", codeFor(err, from)).str("message", err.Error())
	if peer, ok := errors.AsType[*protocol.PeerError](err); ok && from == workerEnd {
		o = o.raw("data", peer.Data)
	}
	return Response{ID: id, Error: o.done()}
}

// refusal is an answer that an end makes by itself.
func refusal(id json.RawMessage, code int, message string) Response {
	return Response{ID: id, Error: newObject().raw("code", number(code)).str("message", message).done()}
}

// success is an answer with a result; none at all travels as null.
func success(id, result json.RawMessage) Response {
	if result == nil {
		result = json.RawMessage("null")
	}
	return Response{ID: id, Result: result}
}

// outcome reads the answer to a call of a method.
func (r Response) outcome(method, plugin string) (json.RawMessage, error) {
	switch {
	case r.Error == nil && r.Result != nil:
		return r.Result, nil
	case truthy(r.Error):
		return nil, peerError(r.Error)
	}
	return nil, &protocol.Error{
		Code: protocol.CodeWire, Plugin: plugin,
		Message: `Unexpected response format for "` + method + `": expected a result, or an error that is an object`,
	}
}

// lacksMethod tells that the other end has answered that it has not got the method.
func lacksMethod(err error) bool {
	peer, ok := errors.AsType[*protocol.PeerError](err)
	return ok && slices.Contains([]string{strconv.Itoa(codeMethodNotFound), strconv.Itoa(codeNotImplemented)}, string(peer.Code))
}

// peerError reads what the other end sent as an error.
func peerError(raw json.RawMessage) *protocol.PeerError {
	e := &protocol.PeerError{Message: "the other end failed without a message"}
	if s, ok := text(raw); ok {
		e.Message = s
		return e
	}
	eachMember(raw, func(key string, value json.RawMessage) {
		switch key {
		case "code":
			e.Code = value
		case "data":
			e.Data = value
		case "message":
			if s, ok := text(value); ok {
				e.Message = s
			}
		}
	})
	return e
}
