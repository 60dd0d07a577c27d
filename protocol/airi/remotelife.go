package airi

import (
	"encoding/json"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// What a module on a websocket says of its life, and how the steps that the host asks for
// wait for it.

// The phases of module:status that a host does something about.
const (
	phaseAnnounced    = "announced"
	phasePreparing    = "preparing"
	phaseConfigNeeded = "configuration-needed"
	phaseReady        = "ready"
	phaseDegraded     = "degraded"
	phaseFailed       = "failed"
)

// life is where a module says it is.
type life struct {
	// announced tells that the first note of its announcement has come.
	announced bool
	// prepared and ready are what it has said since it was last announced, or given a
	// configuration.
	prepared, ready bool
	// failure is what it said while no step ran that could end with it.
	failure error
	// setUp tells that its setup has ended well.
	setUp bool
	// unwell is why it cannot do what it offers, "" where it can.
	unwell string
	// mayNeed tells that it may ask for a configuration: its setup was asked for. What it
	// asked before is kept in needs.
	mayNeed bool
	needs   *protocol.Event
	// phase is the last one that peers have heard of, told tells that it was the host who
	// said it.
	phase string
	told  bool
}

// run asks for a step. A module that does not negotiate has passed through all of them
// when it is announced, and none hears of a stop.
func (r *remote) run(in protocol.Run, out []protocol.Effect) []protocol.Effect {
	if err := stepFault(r.settings, r.running, in.Step); err != nil {
		return append(out, protocol.Ran{Step: in.Step, Err: err})
	}
	r.running = in.Step
	switch in.Step {
	case protocol.StepInit:
		r.life.setUp, r.life.mayNeed = false, false
	case protocol.StepSetup:
		r.life.setUp, r.life.mayNeed = false, true
		if needs := r.life.needs; needs != nil {
			return r.need(*needs, out)
		}
	case protocol.StepLoad, protocol.StepStop: // which say nothing to it
	}
	return r.goOn(out)
}

// goOn ends the step that runs, where it waits for nothing more.
func (r *remote) goOn(out []protocol.Effect) []protocol.Effect {
	said, waits := r.life.said(r.running)
	switch failure := r.life.failure; {
	case r.running == "" || r.running == protocol.StepLoad && !r.life.announced:
		return out
	case !r.negotiates || !waits:
	case failure != nil:
		r.life.failure = nil
		return r.ran(failure, out)
	case !said:
		return out
	}
	r.life.setUp = r.running == protocol.StepSetup
	return r.ran(nil, out)
}

// said tells whether a module has said what ends a step; waits is false for a step of which
// it says nothing.
func (l *life) said(s protocol.Step) (said, waits bool) {
	switch s {
	case protocol.StepInit:
		return l.prepared, true
	case protocol.StepSetup:
		return l.ready, true
	case protocol.StepLoad, protocol.StepStop:
	}
	return false, false
}

func (r *remote) ran(err error, out []protocol.Effect) []protocol.Effect {
	done := r.running
	r.running = ""
	return append(out, protocol.Ran{Step: done, Err: err})
}

// lived takes an event about the module's life that is its own. What the host says itself
// at that point is not told twice.
func (r *remote) lived(n Note, out []protocol.Effect) []protocol.Effect {
	switch n.Rest {
	case eventPrepared:
		r.life.prepared, r.life.failure = true, nil
		return r.goOn(out)
	case eventConfigured:
		return r.configured(n, out)
	case eventStatus:
		return r.status(n.Data, out)
	case eventConfigNeeded:
		return r.needed(ownEvent(n), out)
	case eventValidateResponse, eventPlanResponse:
		if out, ok := r.responded(n, out); ok {
			return out
		}
	case eventStatusChange:
		r.changes(n.Data)
	}
	out = append(out, protocol.Emitted{Event: ownEvent(n)})
	return r.contributed(n, out)
}

func ownEvent(n Note) protocol.Event { return eventOf(Frame{ID: n.Rest, Body: n.Data}) }

func (r *remote) status(data json.RawMessage, out []protocol.Effect) []protocol.Effect {
	phase, reason := phaseOf(data), reasonOf(data)
	r.life.phase, r.life.told, r.life.failure = phase, false, nil
	switch phase {
	case phaseReady:
		if r.life.unwell != "" && r.away == nil {
			out = append(out, protocol.Present{})
		}
		r.life.unwell = ""
		r.life.ready, r.config.waits = true, false
		return r.goOn(out)
	case phaseFailed:
		if r.negotiates && !r.life.setUp {
			r.life.failure = &protocol.PeerError{Message: reason}
			return r.goOn(out)
		}
		return r.unwell(phase, reason, out)
	case phaseDegraded:
		if r.running == "" {
			return r.unwell(phase, reason, out)
		}
	}
	return out
}

// unwell takes it that the module cannot do what it offers. Of one that is away it is told
// when that is back.
func (r *remote) unwell(phase, reason string, out []protocol.Effect) []protocol.Effect {
	if reason == "" {
		reason = "it says that it is " + phase
	}
	r.life.unwell = reason
	if r.away != nil {
		return out
	}
	return append(out, protocol.Absent{Reason: reason})
}

// changes is a wish to go to another phase: to be announced is to begin anew.
func (r *remote) changes(data json.RawMessage) {
	if phaseOf(data) == phaseAnnounced {
		r.life.prepared, r.life.ready, r.life.failure, r.life.needs, r.config.theirs = false, false, nil, nil, nil
	}
}

// needed is that the module needs a configuration. Before its setup the session cannot go
// there, so that it is kept until then.
func (r *remote) needed(e protocol.Event, out []protocol.Effect) []protocol.Effect {
	if !r.life.mayNeed {
		r.life.needs = &e
		return out
	}
	return r.need(e, out)
}

// need sends the session to ask for a configuration. A setup that runs is over with that:
// there is another one with the configuration.
func (r *remote) need(e protocol.Event, out []protocol.Effect) []protocol.Effect {
	r.life.needs = nil
	out = append(out, protocol.Emitted{Event: e})
	if r.running != protocol.StepSetup {
		return out
	}
	return r.ran(nil, out)
}

// phaseOf and reasonOf read what a status, a change or a need says.
func phaseOf(data json.RawMessage) string { return textMember(data, "phase") }

func reasonOf(data json.RawMessage) string {
	return protocol.Cut(textMember(data, "reason"), protocol.MaxReason)
}

// textMember is a member of an object that is a string, else "".
func textMember(data []byte, name string) string {
	s, _ := text(member(data, name))
	return strings.ToValidUTF8(s, "\ufffd")
}

// member is a member of an object; nil for none.
func member(data []byte, name string) (value json.RawMessage) {
	readMembers(data, func(key string, v []byte) {
		if key == name {
			value = v
		}
	})
	return value
}
