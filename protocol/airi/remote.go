package airi

import (
	"bytes"
	"encoding/json"

	"github.com/airi-host/airi-host/protocol"
)

// Remote is the dialect of a module that is reached over a websocket instead of behind the
// bridge: its frames of Eventa's, and [Note]s of what it says on the websocket besides. It
// is one session's; a connection lost or replaced is told by notes, and the driver lives on.
type Remote struct {
	// Session numbers the session among those of the host, and is in the invokeIds of the
	// host's calls, so that two modules on one websocket cannot meet.
	Session uint64
	// Negotiates tells that the module asked for compatibility: it says itself when it is
	// prepared, configured and ready. Another one is ready when it is announced.
	Negotiates bool
	// Collecting bounds what is collected of streams; nil means the defaults.
	Collecting func() Collecting
}

var (
	_ protocol.Dialect    = Remote{}
	_ protocol.Streaming  = Remote{}
	_ protocol.Validating = Remote{}
	_ protocol.Heeding    = Remote{}
	_ protocol.Untelling  = Remote{}
	_ protocol.Finishing  = Remote{}
)

// Name is "airi".
func (Remote) Name() string { return Dialect{}.Name() }

// Streams says that Eventa knows request streams.
func (Remote) Streams() {}

// Untold tells that nobody marks which of the host's calls a module serves when it makes
// one of its own.
func (Remote) Untold() {}

// Codec returns the codec of the link's records: frames of Eventa's in either outer form,
// and notes, which are messages of type [Note].
func (Remote) Codec() protocol.Codec { return remoteCodec{} }

// NewDriver returns the host's end of the link to one module.
func (d Remote) NewDriver(s protocol.Settings) protocol.Driver {
	var c Collecting
	if d.Collecting != nil {
		c = d.Collecting()
	}
	return newRemote(d, s, c)
}

// Narrate returns what the reference host emits at a moment. The driver tells the module
// what of it is not the module's own to say.
func (Remote) Narrate(m protocol.Moment) []protocol.Event { return narrate(m) }

// Validation asks with the payload of module:configuration:validate:request.
func (Remote) Validation(self protocol.Module, c protocol.Config) protocol.Call {
	return Dialect{}.Validation(self, c)
}

// Validated reads the payloads of module:configuration:validate:response and, where there
// was one, plan:response. A module that does not answer does not take it.
func (Remote) Validated(result json.RawMessage, err error) (protocol.Validation, error) {
	if protocol.CodeOf(err) == protocol.CodeTimeout {
		return protocol.Validation{}, &protocol.Error{
			Code: protocol.CodeConfiguration, Message: "it did not answer " + eventValidateRequest + " or " + eventPlanRequest, Err: err,
		}
	}
	return Dialect{}.Validated(result, err)
}

// MaxSchema is how long a schema may be that a module says its configuration has to follow,
// in bytes; a longer one is not shown.
const MaxSchema = 64 << 10

// Wants reads module:status:change, module:configuration:needed as a change to that phase,
// and module:configuration:configured, where the module itself said it.
func (Remote) Wants(e protocol.Event) (w protocol.Wanted, ok bool) {
	switch payload := e.Payload.(type) {
	case othersWords:
		return w, false
	case taken:
		return protocol.Wanted{Config: &payload.config}, true
	}
	if e.Name != eventConfigNeeded {
		return Dialect{}.Wants(e)
	}
	payload, err := e.JSON()
	if err != nil || !valid(payload) {
		return w, false
	}
	w = protocol.Wanted{Phase: phaseConfigNeeded, Reason: reasonOf(payload)}
	w.Schema = ConfigSchema(member(payload, "schema"))
	return w, true
}

// ConfigSchema is the schema in what a module says that its configuration has to be like:
// {id, version, schema?}, or the schema alone. It is nil for none, and for a longer one than
// [MaxSchema].
func ConfigSchema(said json.RawMessage) json.RawMessage {
	schema := said
	if member(said, "id") != nil && member(said, "version") != nil {
		schema = member(said, "schema")
	}
	if isNothing(schema) || len(schema) > MaxSchema {
		return nil
	}
	return bytes.Clone(schema)
}

// othersWords is the payload of an event about a module that the module did not say.
type othersWords json.RawMessage

// MarshalJSON is the payload as it came.
func (w othersWords) MarshalJSON() ([]byte, error) { return json.RawMessage(w).MarshalJSON() }

// Finishes is of protocol.Finishing.
func (Remote) Finishes(step protocol.Step) string {
	switch step {
	case protocol.StepInit:
		return eventPrepared
	case protocol.StepSetup:
		return eventStatus + " with ready"
	default:
		return ""
	}
}
