package actors

import (
	"encoding/json"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/protocol"
)

// What goes in and comes out, held to the shapes of its kind.

// inputOf is the input of a call as its kind has it. What comes as a stream is the
// callee's to look at.
func inputOf(key capability.Key, c *protocol.Call) (json.RawMessage, error) {
	if c.Feed != nil {
		return c.Input, nil
	}
	return protocol.InputOf(string(key.Kind()), c.Key, c.Input)
}

// outcomeAt is what came of a call at a session: its result as the kind has it, or an
// error, which a tool may also have put into its result.
func outcomeAt(who *handle, key capability.Key, result json.RawMessage, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	kind := key.Kind()
	result, err = protocol.ResultOf(string(kind), string(key), who.Plugin, result)
	if err == nil && kind == capability.KindTool {
		err = toolFailure(result)
	}
	return result, err
}
