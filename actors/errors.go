package actors

import (
	"errors"
	"fmt"

	"github.com/airi-host/airi-host/protocol"
)

// errGone is what a waiter gets when the actor it asked has ended.
var errGone = &protocol.Error{Code: protocol.CodeCancelled, Message: "the session has ended"}

// ErrShutdown tells that the host has been shut down, or is about to be.
var ErrShutdown = errors.New("the host is shut down")

// ErrEnding tells that a session takes nothing any more: it is being stopped, or has just
// failed. It is in the chain of an error with protocol.CodeNotReady.
var ErrEnding = errors.New("its session is ending")

func failure(code protocol.Code, plugin, message string) *protocol.Error {
	return &protocol.Error{Code: code, Plugin: plugin, Message: message}
}

// inReferenceWords makes an error whose text is the reference host's, letter by
// letter: its callers compare it.
func inReferenceWords(format string, args ...any) error {
	return fmt.Errorf(format, args...)
}
