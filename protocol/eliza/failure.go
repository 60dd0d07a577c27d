package eliza

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// boundaryLabel names the line that parts a remote stack from what follows, in the
// reference's words: both ends have the same one.
const boundaryLabel = "remote worker"

// RemoteError is a failure that the other end reported. It unwraps to a
// *protocol.PeerError with its name, message and code, and to its cause.
type RemoteError struct {
	peer protocol.PeerError
	// Cause is what caused it, as it came; nil for nothing. The reference tells the cause
	// of a failure, and not the cause's own.
	Cause json.RawMessage
	// depth is how many failures this one has caused.
	depth int
	// RemoteStack is the other end's stack, as it came; nil for none.
	RemoteStack *string
	// hasName and hasMessage tell which of the two were there.
	hasName, hasMessage bool
}

// Error returns the message on one line, at most its first 64 KiB, without the stack.
func (e *RemoteError) Error() string { return oneLine(protocol.Cut(e.peer.Message, maxLine)) }

// maxLine is how many bytes of a message stand in errors, which are logged and kept.
const maxLine = 64 << 10

// Name is the class of the failure, e.g. "TypeError".
func (e *RemoteError) Name() string { return e.peer.Name }

// Message is the message as it came, with its line breaks.
func (e *RemoteError) Message() string { return e.peer.Message }

// Code is the code, and whether there is one.
func (e *RemoteError) Code() (string, bool) { return textOf(e.peer.Code), e.peer.Code != nil }

// Stack returns the remote stack with a line at its end that names the boundary, for
// whoever wants to know more than the message.
func (e *RemoteError) Stack() string {
	return e.ownStack() + "\n    at [" + boundaryLabel + " boundary]"
}

func (e *RemoteError) ownStack() string {
	if e.RemoteStack != nil {
		return *e.RemoteStack
	}
	return spelt(e.peer.Name, e.hasName) + ": " + spelt(e.peer.Message, e.hasMessage)
}

func spelt(s string, there bool) string {
	if !there {
		return "undefined"
	}
	return s
}

// trace is the stack, and behind it those of the causes.
func (e *RemoteError) trace() string {
	var b strings.Builder
	b.WriteString(protocol.Cut(e.Stack(), protocol.MaxStack))
	for cause := e.cause(); cause != nil && b.Len() < protocol.MaxStack; {
		b.WriteString("\nCaused by: ")
		next, ok := cause.(*RemoteError) //nolint:errorlint // what cause returns, not what it wraps
		if !ok {
			b.WriteString(cause.Error())
			break
		}
		b.WriteString(next.ownStack())
		cause = next.cause()
	}
	return protocol.Cut(b.String(), protocol.MaxStack)
}

// Unwrap returns the failure as every dialect knows it, and its cause.
func (e *RemoteError) Unwrap() []error {
	errs := []error{&e.peer}
	if cause := e.cause(); cause != nil {
		errs = append(errs, cause)
	}
	return errs
}

// maxCauses is how many causes a failure has, one behind the other; a worker may nest as
// many as a frame has room for.
const maxCauses = 8

func (e *RemoteError) cause() error {
	switch {
	case isAbsent(e.Cause) || e.depth == maxCauses:
		return nil
	case isObject(e.Cause) && member(e.Cause, "message") != nil:
		cause := readError(e.Cause)
		cause.depth = e.depth + 1
		return cause
	case typeOf(e.Cause) == "a string":
		return errors.New(oneLine(textOf(e.Cause)))
	}
	return errors.New(excerpt(e.Cause))
}

// oneLine puts a space in the place of line breaks and the blanks around them.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\r\n") {
		return s
	}
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return strings.Join(lines, " ")
}

// remoteError reads what the other end sent as an error.
func remoteError(raw json.RawMessage) *RemoteError {
	e := readError(raw)
	e.peer.Stack = e.trace()
	return e
}

func readError(raw json.RawMessage) *RemoteError {
	e := &RemoteError{}
	switch {
	case isAbsent(raw):
		e.peer.Name, e.peer.Message, e.hasName, e.hasMessage = "Error", "the other end failed and did not say why", true, true
		return e
	case !isObject(raw):
		e.peer.Name, e.peer.Message, e.hasName, e.hasMessage = "Error", textOf(raw), true, true
		return e
	}
	protocol.EachMember(raw, func(key, value []byte) {
		switch string(key) {
		case "name":
			e.peer.Name, e.hasName = textOf(value), true
		case "message":
			e.peer.Message, e.hasMessage = textOf(value), true
		case "code":
			e.peer.Code = value
		case "cause":
			e.Cause = value
		case "stack":
			if s, ok := text(value); ok {
				e.RemoteStack = &s
			}
		}
	})
	return e
}

// wireError is an error as the other end is told it: name, message, stack?, cause? and
// code?. A failure of the other end that is told further keeps all of it. Of an end's own
// failures the code is one of protocol.Code's, and the cause is what they wrap.
func wireError(err error) json.RawMessage {
	if own, ok := errors.AsType[*protocol.Error](err); ok && own.Err != nil {
		return plainError(err).raw("cause", causeOf(own.Err)).done()
	}
	if e, ok := errors.AsType[*RemoteError](err); ok {
		o := newObject().str("name", e.peer.Name).str("message", e.peer.Message).str("stack", e.Stack())
		return o.raw("cause", e.Cause).raw("code", codeText(e.peer.Code)).done()
	}
	if e, ok := errors.AsType[*protocol.PeerError](err); ok {
		name := e.Name
		if name == "" {
			name = "Error"
		}
		return newObject().str("name", name).str("message", e.Message).raw("code", codeText(e.Code)).done()
	}
	return plainError(err).raw("cause", causeOf(errors.Unwrap(err))).done()
}

// plainError is an error of an end's own, but for its cause.
func plainError(err error) object {
	o := newObject().str("name", nameError).str("message", err.Error())
	return o.optional("code", string(protocol.CodeOf(err)))
}

// causeOf is what caused a failure, as the reference has it: {name, message, stack?}.
func causeOf(err error) json.RawMessage {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*RemoteError](err); ok {
		return newObject().str("name", e.peer.Name).str("message", e.peer.Message).str("stack", e.Stack()).done()
	}
	name := nameError
	if e, ok := errors.AsType[*protocol.PeerError](err); ok && e.Name != "" {
		name = e.Name
	}
	return newObject().str("name", name).str("message", err.Error()).done()
}

// codeText is a code as this wire has it: a string.
func codeText(code json.RawMessage) json.RawMessage {
	if code == nil || typeOf(code) == "a string" {
		return code
	}
	return quote(textOf(code))
}

// refusal is an error that an end makes by itself, with a code and without a stack.
func refusal(name, message, code string) json.RawMessage {
	return newObject().str("name", name).str("message", message).optional("code", code).done()
}

// The names and codes of such errors.
const (
	nameAuth, codeAuth         = "RpcAuthError", "RPC_AUTH_FAILED"
	nameUnknown, codeUnknown   = "UnknownTargetError", "UNKNOWN_TARGET"
	nameMismatch, codeMismatch = "SurfaceMismatchError", "SURFACE_MISMATCH"
	nameDenied, codeDenied     = "PermissionDeniedError", "PERMISSION_DENIED"
	nameError                  = "Error"
	nameAbort, codeAbort       = "AbortError", "cancelled"
	nameMethod, codeMethod     = "UnsupportedMethodError", "UNSUPPORTED_METHOD"
)

// outcome reads an answer: a result, or why there is none. Of a worker ok must be a
// boolean; a host's counts by JavaScript's idea of truth, as in the reference.
func (r Result) outcome(what, plugin string) (json.RawMessage, error) {
	isBoolean := string(r.OK) == "true" || string(r.OK) == "false"
	switch {
	case !r.FromHost && !isBoolean:
		return nil, &protocol.Error{
			Code: protocol.CodeWire, Plugin: plugin,
			Message: protocol.Clip(what) + ` was answered without "ok": expected true or false, got ` + typeOf(r.OK),
		}
	case !truthy(r.OK) && isAbsent(r.Error):
		return nil, remoteError(quote("Unknown " + strings.TrimSuffix(resultType(r.FromHost), "-result") + " failure"))
	case !truthy(r.OK):
		return nil, remoteError(r.Error)
	case r.Payload == nil:
		return isNull, nil
	}
	return r.Payload, nil
}
