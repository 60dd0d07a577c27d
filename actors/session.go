package actors

import (
	"context"
	"fmt"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// session is the actor of one run of one plugin.
//
// It owns the phase, the step that runs, and what the plugin offers. Its parent
// is the plugin's supervisor. It accepts commands (load, initialize, configure,
// needConfiguration, stop, replace, kill), verdicts, facts from its link (linked, ran, wanted,
// offered, retracted, ended), from the registry (registered, requirements, cycle) and from
// its timers. When it dies its capabilities are withdrawn, or degraded if it will
// be restarted, and its callers freed before anybody is told; nobody else is
// touched.
type session struct {
	// given at birth
	host    *Host
	h       *handle
	sup     *ref
	self    *ref
	man     *manifest.Manifest
	dialect protocol.Dialect

	// the life
	phase lifecycle.State
	link  link
	// start is how it was initialized, with the configuration in force: what its
	// successor needs, should it crash.
	start       StartOptions
	initialized bool
	// gen changes when what was asked for before is void: answers and timers
	// carry the one they belong to.
	gen int
	// step is the hook that runs, or "".
	step protocol.Step
	// inited and settled tell that init is over, and setup with the
	// configuration in force.
	inited, settled bool
	// reconfigured tells that the configuration changed while setup ran, so that
	// it has to run again.
	reconfigured bool
	// itsOwn is the configuration that the plugin had from somebody else; nil for none.
	itsOwn *protocol.Config
	// end is set once the session is on its way out; why is what it failed of.
	end ending
	why error
	// dialing ends the making of the link; nil when it is over.
	dialing context.CancelFunc
	// unborn tells that the plugin is connected to at the setup step only, because its
	// wire wants it so, and how; nil for any other.
	unborn *unborn
	// linkGone tells that nothing of the plugin runs any more; leaving, that the
	// session goes when that is so; crashed, that it went unasked.
	linkGone, leaving, crashed bool
	// draining tells that it waits for its calls in flight to end.
	draining bool
	// replaced tells that its successor takes over what is offered; inherits, that
	// it took over itself what a session offered that crashed.
	replaced, inherits bool

	// away is why its peer cannot do what it offers; "" while it can.
	away string

	// what it offers and what it needs
	// offers are the keys that are offered.
	offers map[string]struct{}
	// promised are the offers of the manifest that the plugin has not made yet.
	promised map[string]struct{}
	// subscriptions are those that services made for it, by their "event:PATTERN".
	subscriptions map[string]protocol.Subscription
	// listed tells that the registry may hold offers; open, that what is offered
	// now is ready at once.
	listed, open bool
	needs        capability.Requirements
	// met tells that all it needs is ready; watching, that the registry tells.
	met, watching bool
	// told is what the last Waiting event said.
	told string

	// who waits for what
	loadReply chan<- error
	// resume is how it goes on by itself once it is loaded; nil if it does not.
	resume *StartOptions
	// settleReplies get the outcome when the session is ready, waits for its
	// configuration, or has ended.
	settleReplies []chan<- error
	stopReplies   []chan<- error

	stepTimer, waitTimer *time.Timer
	// now is the time of the message in hand.
	now time.Time
}

// unborn is a plugin that is told at birth who it is.
type unborn struct {
	protocol.Initializer
	entry manifest.Entry
}

// ending says how a session is on its way out.
type ending uint8

const (
	// living: it is not.
	living ending = iota
	// failing: it will be failed, and stay listed with its reason.
	failing
	// stopping: it will be stopped, and forgotten.
	stopping
)

type (
	// load begins the life. reply gets the outcome. resume, if set, is how it goes
	// on to ready by itself; former, of what it has crashed under the former host, which
	// ends it at once.
	load struct {
		runtime manifest.Runtime
		reply   chan<- error
		resume  *StartOptions
		former  error
	}
	// linked tells that the link to the plugin was made, or why not.
	linked struct {
		link link
		err  error
	}
	// stepExpired tells that a step took too long.
	stepExpired struct {
		gen   int
		step  protocol.Step
		limit time.Duration
	}
	// initialize takes a loaded session towards ready. starts tells that it is the
	// second half of a start, which ends with what ended the session meanwhile.
	initialize struct {
		opts   StartOptions
		reply  chan<- error
		starts bool
	}
	// requirements tells whether all that is needed is ready now.
	requirements struct {
		met   bool
		unmet []capability.Key
	}
	// needsRefused tells that the registry watches for too many already.
	needsRefused struct{ err error }
	// cycle tells that plugins wait for each other, this one first and last.
	cycle struct{ plugins []string }
	// waitExpired tells that what is needed did not come in time.
	waitExpired struct {
		gen   int
		limit time.Duration
	}
	// configure gives the configuration; commits tells that it takes the place of the one
	// in force.
	configure struct {
		config  protocol.Config
		reply   chan<- error
		commits bool
	}
	// needConfiguration sends the session back for one.
	needConfiguration struct {
		reason string
		reply  chan<- error
	}
	// wanted tells that the plugin asks for another phase.
	wanted struct{ protocol.Wanted }
	// refusedOffer tells that the registry did not take an offer.
	refusedOffer struct{ key string }
	// registered tells that the registry has done what was asked; then goes on.
	registered struct{ then func() }
	// verdict is the supervisor's on a crash: next is when there will be another
	// session, zero if there will be none.
	verdict struct {
		err  error
		next time.Time
	}
	// replace ends a session that has crashed, to make room for the next one.
	replace struct{}
	// stop ends the session in good order.
	stop struct{ reply chan<- error }
	// drained tells that no call is in flight any more, or that the time for that
	// is over.
	drained struct{ late bool }
	// kill ends it without patience.
	kill struct{}
)

func (s *session) receive(msg any) {
	s.now = time.Now()
	switch m := msg.(type) {
	case load:
		s.onLoad(m)
	case linked:
		s.onLinked(m)
	case ran:
		s.onRan(m)
	case stepExpired:
		s.onStepExpired(m)
	case initialize:
		s.onInitialize(m)
	case requirements:
		s.onRequirements(m)
	case needsRefused:
		s.fail(m.err)
	case cycle:
		s.onCycle(m)
	case waitExpired:
		s.onWaitExpired(m)
	case configure:
		s.onConfigure(m)
	case needConfiguration:
		s.onNeedConfiguration(m)
	case wanted:
		s.onWanted(m)
	case *taken:
		s.onTaken(m)
	case absent:
		s.onAbsent(m)
	case displaced:
		s.onDisplaced()
	case offered:
		s.onOffered(m)
	case retracted:
		s.onRetracted(m)
	case refusedOffer:
		delete(s.offers, m.key)
	case registered:
		m.then()
	case lost:
		s.onLost(m)
	case ended:
		s.onEnded()
	case verdict:
		s.onVerdict(m)
	case replace:
		s.onReplace()
	case stop:
		s.onStop(m)
	case drained:
		s.onDrained(m)
	case kill:
		s.onKill()
	default:
		s.host.log.Error("unhandled message", "actor", "session", s.h.attrs(), "message", fmt.Sprintf("%T", m))
	}
}

// panicked ends the session: whatever it was doing is half done. What panicked
// may be its stop hook's business, which must not keep it from stopping.
func (s *session) panicked(msg any, caught *panicError) error {
	s.host.log.Error("the session panicked", s.h.attrs(), "error", caught, "stack", string(caught.stack))
	err := &protocol.Error{
		Code: protocol.CodeInternal, Plugin: s.h.Plugin, Message: "the session of plugin " + s.h.Plugin, Err: caught,
	}
	var told error
	if !s.owes(msg) {
		told = err
	}
	if s.end == stopping && s.link != nil {
		s.link.end(err)
	} else {
		s.fail(err)
	}
	return told
}
