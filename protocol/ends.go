package protocol

import (
	"errors"
	"fmt"
)

// What drivers of every dialect say alike of the far end and of the connection's end.

// ErrEnded is why nothing is asked any more of the far end of a connection.
var ErrEnded = errors.New("the connection has ended")

// Fault is a failure of the host's making about the plugin at the far end.
func (s Settings) Fault(code Code, message string) *Error {
	return &Error{Code: code, Plugin: s.Plugin, Message: message}
}

// Lost is how what was in flight fails when the connection ends, for a cause or for nil.
func (s Settings) Lost(what string, cause error) *Error {
	e := s.Fault(CodeOutcomeUnknown, fmt.Sprintf("plugin %s ended while %s was in flight; it may have run", s.Plugin, what))
	e.Err = cause
	return e
}

// Unframed ends a connection for a mistake of framing, of which text is the beginning:
// frames would be lost in silence.
func (s Settings) Unframed(fault, text string) Fail {
	return Fail{Err: s.Fault(CodeWire, fmt.Sprintf("plugin %s wrote %s; what came is: %s", s.Plugin, fault, Clip(text)))}
}

// AfterEnd refuses what still comes when the connection has ended.
func (s Settings) AfterEnd(in Input, out []Effect) []Effect {
	if borrowed, ok := in.(*Invoke); ok {
		in = *borrowed
	}
	switch in := in.(type) {
	case Invoke:
		return append(out, Complete{ID: in.ID, Err: s.ended("not called: " + Clip(in.Call.Key))})
	case Run:
		return append(out, Ran{Step: in.Step, Err: s.ended("not run: " + string(in.Step))})
	case OpenRoute:
		return append(out, RouteRefused{ID: in.ID, Err: s.ended("not opened: " + string(in.Route.Kind))}, RouteClosed{ID: in.ID})
	}
	return out
}

func (s Settings) ended(message string) *Error {
	e := s.Fault(CodeNotReady, message)
	e.Err = ErrEnded
	return e
}

// Drop is a [Dropped] whose detail, a peer's text, is made fit to be shown.
func Drop(what, detail string) Dropped {
	return Dropped{What: what, Detail: Clip(detail)}
}
