package actors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
// needConfiguration, stop, replace, kill), verdicts, facts from its link (linked, ran, offered,
// retracted, ended), from the registry (registered, requirements, cycle) and from
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
	// end is set once the session is on its way out.
	end ending
	// dialing ends the making of the link; nil when it is over.
	dialing context.CancelFunc
	// linkGone tells that nothing of the plugin runs any more; leaving, that the
	// session goes when that is so; crashed, that it went unasked.
	linkGone, leaving, crashed bool
	// replaced tells that its successor takes over what is offered; inherits, that
	// it took over itself what a session offered that crashed.
	replaced, inherits bool

	// what it offers and what it needs
	// offers are the keys that are offered.
	offers map[string]struct{}
	// promised are the offers of the manifest that the plugin has not made yet.
	promised map[string]struct{}
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
	// on to ready by itself.
	load struct {
		runtime manifest.Runtime
		reply   chan<- error
		resume  *StartOptions
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
	// initialize takes a loaded session towards ready.
	initialize struct {
		opts  StartOptions
		reply chan<- error
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
	// configure gives the configuration.
	configure struct {
		config protocol.Config
		reply  chan<- error
	}
	// needConfiguration sends the session back for one.
	needConfiguration struct {
		reason string
		reply  chan<- error
	}
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
	case kill:
		s.onKill()
	default:
		s.host.log.Error("unhandled message", "actor", "session", s.h.attrs(), "message", fmt.Sprintf("%T", m))
	}
}

// panicked ends the session: whatever it was doing is half done. What panicked
// may be its stop hook's business, which must not keep it from stopping.
func (s *session) panicked(err *panicError) {
	s.host.log.Error("the session panicked", s.h.attrs(), "error", err, "stack", string(err.stack))
	if s.end == stopping && s.link != nil {
		s.link.end(err)
		return
	}
	s.fail(err)
}

// Loading

func (s *session) onLoad(m load) {
	if s.end != living { // it was stopped the moment that it was listed
		reply(m.reply, errStopped(s.h.Plugin))
		return
	}
	s.loadReply, s.resume = m.reply, m.resume
	entry, err := s.man.Entrypoint(m.runtime)
	if err != nil {
		s.fail(err)
		return
	}
	if entry.Builtin != "" {
		l, err := s.openPort(entry.Builtin)
		s.onLinked(linked{l, err})
		return
	}
	s.openPeer(entry)
}

func (s *session) onLinked(m linked) {
	s.dialing = nil
	if s.end != living {
		s.linkedLate(m.link)
		return
	}
	if m.err != nil {
		s.fail(m.err)
		return
	}
	s.link = m.link
	s.h.link.Store(&linkBox{m.link})
	s.run(protocol.StepLoad)
}

// linkedLate lets go of a plugin that was still on its way when its session
// ended: the session goes when it is gone.
func (s *session) linkedLate(l link) {
	if l == nil {
		s.onEnded()
		return
	}
	s.link = l
	l.kill()
}

// loaded ends the load, well or not.
func (s *session) loaded(err error) {
	if s.loadReply != nil {
		s.loadReply <- err
		s.loadReply = nil
	}
}

// Steps

// run passes through a step of the plugin's life; what comes next is in onRan.
func (s *session) run(step protocol.Step) {
	if !s.link.has(step) {
		s.passed(step)
		return
	}
	s.step = step
	gen, limit := s.gen, s.h.timeouts.step(step)
	s.stepTimer = time.AfterFunc(limit, func() { s.self.tell(stepExpired{gen, step, limit}) })
	s.link.run(step, gen)
}

func (s *session) onRan(m ran) {
	if m.gen != s.gen || m.step != s.step {
		return
	}
	s.stepTimer.Stop()
	s.step = ""
	switch {
	case m.err == nil:
		s.passed(m.step)
	case m.step == protocol.StepStop: // it is stopped all the same
		s.host.drop(s.h, "stop-hook", m.err.Error(), 1)
		s.passed(m.step)
	default:
		s.fail(m.err)
	}
}

func (s *session) passed(step protocol.Step) {
	switch step {
	case protocol.StepLoad:
		if s.enter(lifecycle.Loaded, "") {
			s.loaded(nil)
			if s.resume != nil {
				s.onInitialize(initialize{*s.resume, make(chan error, 1)})
			}
		}
	case protocol.StepInit:
		s.inited = true
		s.proceed()
	case protocol.StepSetup:
		s.settled, s.reconfigured = !s.reconfigured, false
		s.proceed()
	case protocol.StepStop:
		s.link.end(nil)
	}
}

func (s *session) onStepExpired(m stepExpired) {
	if m.gen != s.gen || m.step != s.step {
		return
	}
	s.step = ""
	if m.step == protocol.StepStop {
		s.host.drop(s.h, "late-stop", fmt.Sprintf("the stop hook did not finish within %s", m.limit), 1)
		s.link.end(nil)
		return
	}
	s.fail(failure(protocol.CodeTimeout, s.h.Plugin, fmt.Sprintf(
		"%s of plugin %s did not finish within %s: mend its hook, or raise airi-host.timeouts.%s in its manifest",
		m.step, s.h.Plugin, m.limit, m.step)))
}

// From loaded to ready

func (s *session) onInitialize(m initialize) {
	if s.end != living || !lifecycle.Session.Can(s.phase, lifecycle.SessionStartAuthentication) {
		m.reply <- inReferenceWords("Session %s cannot initialize from phase %s. Expected loaded.", s.h.Session, s.phase)
		return
	}
	s.start, s.initialized = m.opts, true
	s.settleReplies = append(s.settleReplies, m.reply)
	if s.authenticate() && s.negotiate() && s.announce() {
		s.prepare()
	}
}

func (s *session) authenticate() bool {
	if !s.enter(lifecycle.Authenticating, "") {
		return false
	}
	s.say(protocol.Moment{What: protocol.MomentAuthenticating, Token: s.h.Session + ":" + s.h.module.ID})
	if !s.enter(lifecycle.Authenticated, "") {
		return false
	}
	s.say(protocol.Moment{What: protocol.MomentAuthenticated})
	return true
}

func (s *session) negotiate() bool {
	host := s.host.versions
	asked := protocol.VersionRequest{
		Protocol: host.Protocol, API: host.API,
		SupportedProtocol: s.start.Compatibility.SupportedProtocol, SupportedAPI: s.start.Compatibility.SupportedAPI,
	}
	got := lifecycle.Negotiate(proposal(host), proposal(asked))
	s.say(protocol.Moment{What: protocol.MomentNegotiated, Asked: asked, Result: protocol.VersionResult(got)})
	if got.Mode == lifecycle.ModeRejected {
		s.fail(errors.New(got.Reason))
		return false
	}
	return true
}

func proposal(v protocol.VersionRequest) lifecycle.Proposal {
	return lifecycle.Proposal{
		Protocol: lifecycle.Versions{Preferred: v.Protocol, Supported: v.SupportedProtocol},
		API:      lifecycle.Versions{Preferred: v.API, Supported: v.SupportedAPI},
	}
}

func (s *session) announce() bool {
	if s.heard() {
		s.say(protocol.Moment{What: protocol.MomentSynced, Modules: s.host.modules()})
	}
	if !s.enter(lifecycle.Announced, "") {
		return false
	}
	s.say(protocol.Moment{What: protocol.MomentAnnounced})
	return true
}

// prepare announces what is known to be offered, then waits for what is needed.
func (s *session) prepare() {
	s.offerKnown()
	if !s.enter(lifecycle.Preparing, "") {
		return
	}
	s.say(protocol.Moment{What: protocol.MomentPreparing})
	s.needs = s.required()
	s.h.setNeeds(s.needs)
	if len(s.needs) == 0 {
		s.met = true
		s.run(protocol.StepInit)
		return
	}
	s.await()
}

// required is what the manifest and the start options ask for, all of it.
func (s *session) required() capability.Requirements {
	needs := s.man.Host.Requires
	if len(s.start.Requires) == 0 {
		return needs
	}
	needs = needs[:len(needs):len(needs)]
	for _, key := range s.start.Requires {
		needs = append(needs, capability.Requirement{AnyOf: []capability.Key{capability.Key(key)}})
	}
	return needs
}

func (s *session) await() {
	limit := orDefault(s.start.Wait, s.h.timeouts.Capabilities)
	unmet := keyStrings(s.needs.Unmet(s.host.snapshot()))
	reason := "Waiting for capabilities: " + s.needs.String()
	if !s.enter(lifecycle.WaitingDeps, reason) {
		return
	}
	s.say(protocol.Moment{
		What: protocol.MomentWaiting, Required: s.needs.Strings(), Unresolved: unmet, Timeout: limit,
	})
	gen := s.gen
	s.waitTimer = time.AfterFunc(limit, func() { s.self.tell(waitExpired{gen, limit}) })
	s.watching = true
	s.host.registry.tell(watchNeeds{session: s.self, plugin: s.h.Plugin, needs: s.needs})
}

func (s *session) onRequirements(m requirements) {
	s.met = m.met
	s.h.setWaits(keyStrings(m.unmet))
	if s.end != living {
		return
	}
	switch {
	case s.phase == lifecycle.WaitingDeps && m.met:
		s.waitTimer.Stop()
		s.prepared()
	case s.phase == lifecycle.WaitingDeps:
		s.tellWaiting(m.unmet, nil)
	case lifecycle.Session.Can(s.phase, lifecycle.SessionDegraded) && !m.met:
		s.degrade(m.unmet)
	case lifecycle.Session.Can(s.phase, lifecycle.SessionRecovered) && m.met:
		if s.enter(lifecycle.Ready, "") {
			s.say(protocol.Moment{What: protocol.MomentRecovered})
		}
	}
}

func (s *session) degrade(unmet []capability.Key) {
	reason := "missing capabilities: " + strings.Join(keyStrings(unmet), ", ")
	if s.enter(lifecycle.Degraded, reason) {
		s.say(protocol.Moment{What: protocol.MomentDegraded, Reason: reason})
	}
}

func (s *session) tellWaiting(unmet []capability.Key, plugins []string) {
	if !s.host.wants(KindWaiting) {
		return
	}
	e := Waiting{
		Origin: s.h.Origin, For: keyStrings(unmet), Cycle: plugins,
		Because: s.host.snapshotReasons(unmet), At: s.now,
	}
	told := strings.Join(slices.Concat(e.For, e.Because), "\n")
	if told != s.told || plugins != nil {
		s.told = told
		s.host.publish(e)
	}
}

func (s *session) onCycle(m cycle) {
	if s.phase == lifecycle.WaitingDeps && s.end == living {
		s.tellWaiting(s.needs.Unmet(s.host.snapshot()), m.plugins)
	}
}

func (s *session) onWaitExpired(m waitExpired) {
	if m.gen != s.gen || s.phase != lifecycle.WaitingDeps {
		return
	}
	unmet := s.needs.Unmet(s.host.snapshot())
	if len(unmet) == 0 { // it came with the bell
		s.prepared()
		return
	}
	text := (&capability.TimeoutError{Key: unmet[0], After: m.limit}).Error()
	if why := s.host.snapshotReasons(unmet); len(why) > 0 {
		text += " " + strings.Join(why, "; ")
	}
	s.fail(failure(protocol.CodeTimeout, "", text))
}

// prepared goes on after the wait: the reference host announces it before init.
func (s *session) prepared() {
	if s.enter(lifecycle.Prepared, "") {
		s.say(protocol.Moment{What: protocol.MomentPrepared})
		s.proceed()
	}
}

// proceed does what comes next, wherever the session stands. It is called when a
// step is over and when the configuration changed.
func (s *session) proceed() {
	if s.step != "" {
		return
	}
	switch s.phase {
	case lifecycle.Preparing:
		s.prepared()
	case lifecycle.Prepared:
		s.proceedPrepared()
	case lifecycle.ConfigurationNeeded:
		s.settleUnconfigured()
	case lifecycle.Configured:
		s.proceedConfigured()
	default: // nothing comes next by itself
	}
}

func (s *session) proceedPrepared() {
	switch {
	case !s.inited:
		s.run(protocol.StepInit)
	case s.start.Config == nil && (s.start.RequireConfiguration || s.man.Host.Configuration.Required):
		s.askConfiguration("Host requested configuration before activation.", true)
	default:
		s.applyConfig(s.firstConfig())
	}
}

func (s *session) proceedConfigured() {
	switch {
	case !s.inited:
		s.run(protocol.StepInit)
	case !s.settled:
		s.run(protocol.StepSetup)
	default:
		s.activate()
	}
}

func (s *session) firstConfig() protocol.Config {
	if s.start.Config != nil {
		return *s.start.Config
	}
	return protocol.Config{ID: s.h.module.ID + ":default", Revision: 1, SchemaVersion: 1, Full: []byte("{}")}
}

func (s *session) applyConfig(c protocol.Config) {
	if s.phase != lifecycle.Configured && !s.enter(lifecycle.Configured, "") {
		return
	}
	s.settled, s.reconfigured = false, s.step == protocol.StepSetup
	s.shut("", nil)
	s.say(protocol.Moment{What: protocol.MomentConfigured, Config: c})
	s.proceed()
}

// activate makes what is offered ready, and then the session: what is printed as
// ready can be called.
func (s *session) activate() {
	s.open = true
	s.breakPromises()
	if !s.listed {
		s.ready()
		return
	}
	set := setOffers{owner: s.owner(), to: lifecycle.CapReady}
	if s.inherits {
		set.of = s.h
	}
	s.register(set, s.ready)
}

func (s *session) ready() {
	if !s.open || s.phase != lifecycle.Configured || !s.enter(lifecycle.Ready, "") {
		return
	}
	s.say(protocol.Moment{What: protocol.MomentReady})
	s.sup.tell(sessionReady{s.h, s.handOver()})
	if !s.met {
		s.degrade(s.needs.Unmet(s.host.snapshot()))
	}
}

// settle tells all that wait for the outcome.
func (s *session) settle(err error) { tellAll(s.handOver(), err) }

// handOver returns those who wait for the outcome: the supervisor tells them once
// it knows itself, so that what they see then fits together.
func (s *session) handOver() []chan<- error {
	all := s.settleReplies
	s.settleReplies = nil
	return all
}

func tellAll(replies []chan<- error, err error) {
	for _, reply := range replies {
		reply <- err
	}
}

// Configuration

func (s *session) onConfigure(m configure) {
	open := s.phase == lifecycle.Configured || lifecycle.Session.Can(s.phase, lifecycle.SessionConfigured)
	if s.end != living || !open {
		m.reply <- inReferenceWords("Session %s cannot accept configuration during phase %s.", s.h.Session, s.phase)
		return
	}
	s.settleReplies = append(s.settleReplies, m.reply)
	s.start.Config = &m.config
	s.applyConfig(m.config)
}

func (s *session) onNeedConfiguration(m needConfiguration) {
	if s.end != living || !lifecycle.Session.Can(s.phase, lifecycle.SessionConfigurationNeeded) {
		m.reply <- inReferenceWords("Session %s cannot move to configuration-needed from %s.", s.h.Session, s.phase)
		return
	}
	s.askConfiguration(m.reason, false)
	s.shut(unconfigured(s.h.Plugin), func() { m.reply <- nil })
}

// settleUnconfigured answers the start once the registry knows what is offered and
// why it cannot be called.
func (s *session) settleUnconfigured() {
	if !s.listed {
		s.settle(nil)
		return
	}
	s.register(setOffers{owner: s.owner(), to: lifecycle.CapAnnounced, reason: unconfigured(s.h.Plugin)}, func() {
		if s.end == living && s.phase == lifecycle.ConfigurationNeeded {
			s.settle(nil)
		}
	})
}

func unconfigured(plugin string) string { return "plugin " + plugin + " needs its configuration" }

// askConfiguration waits for a configuration.
func (s *session) askConfiguration(reason string, atStart bool) {
	if !s.enter(lifecycle.ConfigurationNeeded, reason) {
		return
	}
	s.start.Config, s.start.RequireConfiguration = nil, true
	s.say(protocol.Moment{What: protocol.MomentConfigurationNeeded, Reason: reason, AtStart: atStart})
	s.proceed()
}

func keyStrings(keys []capability.Key) []string {
	if len(keys) == 0 {
		return nil
	}
	list := make([]string, len(keys))
	for i, k := range keys {
		list[i] = string(k)
	}
	return list
}
