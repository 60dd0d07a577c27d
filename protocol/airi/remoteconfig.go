package airi

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// Configurations on their way to a module on a websocket, and what is said of them.

const (
	eventValidateRequest  = "module:configuration:validate:request"
	eventValidateResponse = "module:configuration:validate:response"
	eventValidateStatus   = "module:configuration:validate:status"
	eventPlanRequest      = "module:configuration:plan:request"
	eventPlanResponse     = "module:configuration:plan:response"
	eventPlanStatus       = "module:configuration:plan:status"
	eventCommitStatus     = "module:configuration:commit:status"
)

// giving is the configuration that the module has.
type giving struct {
	// given is the last one, nil for none.
	given *protocol.Config
	// committed tells that the one that is put in force next is known already; theirs is
	// one that the module has from somebody else, nil for none.
	committed bool
	theirs    *protocol.Config
	// waits tells that the module has not said what came of it.
	waits bool
}

// narrated takes what the reference host says on a module's channel. Most of it the module
// has said itself.
func (r *remote) narrated(e protocol.Event, out []protocol.Effect) []protocol.Effect {
	switch {
	case e.Name == eventStatus && r.negotiates, e.Name == eventConfigCommit, e.Name == eventConfigured:
	default:
		return out
	}
	payload, err := e.JSON()
	if err != nil {
		return append(out, protocol.Drop(DroppedPayload, e.Name+": "+err.Error()))
	}
	if e.Name == eventStatus {
		return r.tellStatus(payload, out)
	}
	return r.giveConfig(e.Name == eventConfigCommit, payload, out)
}

// giveConfig takes a configuration that is committed, or put in force: then it was given
// before the module started, or is committed already.
func (r *remote) giveConfig(commits bool, payload json.RawMessage, out []protocol.Effect) []protocol.Effect {
	var said struct {
		Config protocol.Config `json:"config"`
	}
	if err := json.Unmarshal(payload, &said); err != nil {
		return append(out, protocol.Drop(DroppedPayload, "a configuration: "+err.Error()))
	}
	known := r.config.committed || same(r.config.theirs, &said.Config)
	r.config.committed, r.config.theirs = commits, nil
	switch {
	case !commits && known:
		return out
	case isNobodys(said.Config) && r.config.given == nil:
		return out
	}
	r.config.given = &said.Config
	r.config.waits = r.negotiates
	r.life.ready, r.life.failure, r.life.needs = false, nil, nil
	return r.tellConfig(out)
}

// same tells whether two configurations are one.
func same(a, b *protocol.Config) bool {
	return a != nil && a.ID == b.ID && a.Revision == b.Revision && bytes.Equal(a.Full, b.Full)
}

// configured is that a module has taken a configuration. After one of the host's it is ready
// then; any other is somebody else's, and the session goes by it.
func (r *remote) configured(n Note, out []protocol.Effect) []protocol.Effect {
	r.life.needs = nil
	theirs := r.takenOf(n.Data)
	if r.config.waits && (theirs == nil || r.isGiven(theirs)) {
		r.config.waits = false
		r.life.ready = true
		return r.goOn(out)
	}
	if theirs != nil {
		r.config.given, r.config.theirs = theirs, theirs
		out = append(out, protocol.Emitted{Event: protocol.Event{Name: n.Rest, Payload: taken{n.Data, *theirs}}})
	}
	return r.goOn(out)
}

// taken is the payload of an event by which a module tells what it has taken.
type taken struct {
	data   json.RawMessage
	config protocol.Config
}

// MarshalJSON is the payload as it came.
func (t taken) MarshalJSON() ([]byte, error) { return t.data.MarshalJSON() }

// takenOf is the configuration that an event tells of, with all of its values; nil for none.
func (r *remote) takenOf(data json.RawMessage) *protocol.Config {
	var c protocol.Config
	if err := json.Unmarshal(member(data, "config"), &c); err != nil {
		return nil
	}
	if isNothing(c.Full) && !isNothing(c.Patch) {
		var before json.RawMessage
		if r.config.given != nil {
			before = r.config.given.Full
		}
		c.Full = protocol.MergePatch(before, c.Patch)
	}
	c.Patch, c.BaseRevision = nil, nil
	if c.Full = bytes.TrimLeft(c.Full, jsonSpace); len(c.Full) == 0 || c.Full[0] != '{' {
		return nil
	}
	return &c
}

// isGiven tells whether a module means what the host has given it, which it may have written
// anew.
func (r *remote) isGiven(c *protocol.Config) bool {
	g := r.config.given
	return g != nil && (g.ID == c.ID && g.Revision == c.Revision || bytes.Equal(g.Full, c.Full))
}

// isNobodys tells the configuration that is in force where nobody has given one.
func isNobodys(c protocol.Config) bool {
	return strings.HasSuffix(c.ID, ":default") && strings.TrimSpace(string(c.Full)) == "{}"
}

// tellConfig hands the module the configuration that the host gives. One that is away gets
// it when it is back.
func (r *remote) tellConfig(out []protocol.Effect) []protocol.Effect {
	c := r.config.given
	switch {
	case c == nil || r.away != nil:
		return out
	case !r.negotiates:
		return append(out, protocol.Send{Message: Note{Verb: NoteConfigure, Data: DataOf(c.Full)}})
	}
	data, err := json.Marshal(struct {
		Config protocol.Config `json:"config"`
	}{*c})
	if err != nil {
		return append(out, protocol.Drop(DroppedPayload, "a configuration: "+err.Error()))
	}
	return append(out, protocol.Send{Message: Note{Verb: NoteTell, Rest: eventConfigCommit, Data: data}})
}

// tellStatus tells all peers of a phase that they have not heard of: what the module has said
// itself they know.
func (r *remote) tellStatus(payload json.RawMessage, out []protocol.Effect) []protocol.Effect {
	phase := phaseOf(payload)
	details := member(payload, "details")
	switch {
	case phase == phasePreparing && details != nil:
	case phase == r.life.phase:
		return out
	case phase == phaseFailed, phase == phaseDegraded, phase == phaseConfigNeeded, phase == phaseReady && r.life.told:
	default:
		return out
	}
	if phase == phaseFailed && r.config.waits {
		out = r.refuse(eventCommitStatus, reasonOf(payload), out)
	}
	r.life.phase, r.life.told = phase, true
	data := append([]byte(`{"phase":`), appendString(nil, phase)...)
	for _, name := range []string{"reason", "details"} {
		if value := member(payload, name); value != nil {
			data = append(append(data, `,"`+name+`":`...), value...)
		}
	}
	return append(out, protocol.Send{Message: Note{Verb: NoteEveryone, Rest: eventStatus, Data: append(data, '}')}})
}

// refuse tells all peers that a step of the host's own has failed, and why.
func (r *remote) refuse(event, note string, out []protocol.Effect) []protocol.Effect {
	data := append([]byte(`{"state":"failed","note":`), appendString(nil, note)...)
	return append(out, protocol.Send{Message: Note{Verb: NoteEveryone, Rest: event, Data: append(data, '}')}})
}
