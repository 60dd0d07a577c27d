package protocol

import (
	"encoding/json"
	"errors"
	"strings"
)

// Code says what kind of failure an Error is, for callers that branch on it.
type Code string

// The codes. Each dialect maps them to its own wire's numbers.
const (
	// CodeTimeout: a limit on time ran out; the message names which.
	CodeTimeout Code = "timeout"
	// CodeCancelled: the caller gave up.
	CodeCancelled Code = "cancelled"
	// CodeNotFound: no plugin offers the key, or no such plugin, session, service.
	CodeNotFound Code = "not-found"
	// CodeNotReady: the owner exists and is not ready; the message names its phase.
	CodeNotReady Code = "not-ready"
	// CodeOverloaded: a bound on calls or bytes is reached; try again later.
	CodeOverloaded Code = "overloaded"
	// CodeOutcomeUnknown: the peer died with the call in flight; it may have run.
	CodeOutcomeUnknown Code = "outcome-unknown"
	// CodeInvalid: the input is not what the capability takes; the message names the field.
	CodeInvalid Code = "invalid"
	// CodeDenied: the caller has no grant for it.
	CodeDenied Code = "denied"
	// CodeAmbiguous: several owners, and the kind demands that one is named.
	CodeAmbiguous Code = "ambiguous"
	// CodeConfiguration: the plugin refuses its configuration; the message says why.
	CodeConfiguration Code = "configuration"
	// CodeConflict: what is to be changed was changed meanwhile.
	CodeConflict Code = "conflict"
	// CodeWire: the peer broke the rules of its wire, or answered with a result that
	// its kind does not have.
	CodeWire Code = "wire"
	// CodeInternal: the host's own fault.
	CodeInternal Code = "internal"
)

// Error is a failure of the host's own making.
type Error struct {
	Code    Code
	Message string
	// Plugin is whom it is about, or "".
	Plugin string
	// Denied tells that the operator has not permitted it, where the Code says something
	// else.
	Denied bool
	// Err is the cause, or nil.
	Err error
}

// Error returns the message, and the cause where it says more.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Plugin != "" && !strings.Contains(e.Message, e.Plugin) {
		b.WriteString("plugin ")
		b.WriteString(e.Plugin)
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first *Error in err's chain, or "".
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// IsDenial tells whether a failure of the host's own making is that the caller may not
// have what it asked for.
func IsDenial(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Code == CodeDenied || e.Denied)
}

// PeerError is a failure that a plugin reported, in the plugin's words.
type PeerError struct {
	// Message is the plugin's own; it may be empty.
	Message string
	// Name is the error's class where the wire has it, e.g. "TypeError".
	Name string
	// At is the plugin's file and line, e.g. "main.mjs:12:5", where known.
	At string
	// Code is the wire's code, raw, where it has one.
	Code json.RawMessage
	// Data is what else the plugin sent with it.
	Data json.RawMessage
	// Stack is where in the plugin it happened, and what caused it, as lines of text, where
	// the wire has it: at most MaxStack bytes, for whoever asks. "" is none.
	Stack string
}

// MaxStack is how many bytes of a plugin's stack are kept.
const MaxStack = 64 << 10

// Error returns the plugin's words, unadorned: they are compared and quoted.
func (e *PeerError) Error() string { return e.Message }
