package actors

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// The way from loaded to ready: authenticate, negotiate, announce, wait for what is
// required, init, configure, setup.

func (s *session) onInitialize(m initialize) {
	switch {
	case m.starts && s.end == living && s.phase == lifecycle.Loading: // it goes on once it is loaded
		s.settleReplies, s.resume = append(s.settleReplies, m.reply), &m.opts
		return
	case !m.starts || s.end == living:
	case s.phase == lifecycle.Failed:
		reply(m.reply, s.why)
		return
	case s.phase == lifecycle.Stopped:
		reply(m.reply, errStopped(s.h.Plugin))
		return
	default: // it is about to be told
		s.settleReplies = append(s.settleReplies, m.reply)
		return
	}
	if s.end != living || !lifecycle.Session.Can(s.phase, lifecycle.SessionStartAuthentication) {
		reply(m.reply, inReferenceWords("Session %s cannot initialize from phase %s. Expected loaded.", s.h.Session, s.phase))
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
	got := s.host.Negotiate(asked)
	s.say(protocol.Moment{What: protocol.MomentNegotiated, Asked: asked, Result: got})
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
	// Who is in a circle knows the others by the wire, and the list has all sessions.
	if s.heard() && (s.h.circle() == "" || s.host.wants(KindChannel)) {
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
	s.prepareAgain()
}

func (s *session) prepareAgain() {
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
	s.host.registry.tell(watchNeeds{session: s.self, plugin: s.h.key(), needs: s.needs})
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
	case m.met:
		s.recover()
	}
}

func (s *session) degrade(unmet []capability.Key) {
	s.toDegraded(missing(unmet))
}

// missing is why a session is degraded that needs what is not there.
func missing(unmet []capability.Key) string {
	return "missing capabilities: " + strings.Join(keyStrings(unmet), ", ")
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
		s.askConfiguration(s.lacking(), true)
	case s.start.Config != nil && s.start.Config == s.itsOwn:
		s.applyConfig(*s.itsOwn)
	case s.start.Config != nil:
		s.tryConfig(*s.start.Config)
	default:
		s.tryDefault()
	}
}

// tryConfig goes on with a configuration that was given beforehand, if it is good, or
// asks for another one. A plugin that does not run yet is asked about it at its birth.
func (s *session) tryConfig(c protocol.Config) {
	if err := s.checkConfig(c); err != nil {
		s.askConfiguration(err.Error(), true)
		return
	}
	if s.link == nil {
		s.useConfig()
		return
	}
	s.step = stepValidate
	gen, h, host, self := s.gen, s.h, s.host, s.self
	go func() { // it ends at the limit on calls, or with the link
		v, err := host.askWho(context.Background(), h, c)
		if err == nil {
			err = Refusal(h.Plugin, v.Bounded())
		}
		self.tell(ran{gen, stepValidate, err})
	}()
}

// stepValidate asks the plugin about the configuration that it is started with.
const stepValidate protocol.Step = "validate"

// useConfig puts the configuration in force that was given beforehand.
func (s *session) useConfig() {
	s.h.config.Store(s.start.Config)
	s.applyConfig(*s.start.Config)
}

// tryDefault goes on without a configuration, if that is one by the plugin's schema.
func (s *session) tryDefault() {
	c := s.defaultConfig()
	if err := s.checkConfig(c); err != nil {
		s.askConfiguration(err.Error(), true)
		return
	}
	s.applyConfig(c)
}

// lacking says that a configuration is needed, and what has to be in it.
func (s *session) lacking() string {
	const asked = "Host requested configuration before activation"
	if err := s.checkConfig(s.defaultConfig()); err != nil {
		return asked + ": " + err.Error()
	}
	return asked + "."
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

func (s *session) defaultConfig() protocol.Config {
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
	if away := s.away; away != "" {
		s.away = ""
		s.onAbsent(absent{away})
	}
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
	for _, to := range replies {
		reply(to, err)
	}
}
