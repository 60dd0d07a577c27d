package server

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Server is AIRI's server runtime for all connections of one host, as a state machine: it
// starts no goroutine, reads no clock and does no I/O. Its methods must not be called at
// the same time.
//
// Heartbeats are looked after each max(5 s, Beat/5). A peer of [Extensions] is late when it
// was silent for Beat, and closed at twice that. Another one is late at the fifth check in
// a row since which it said nothing, and closed at the tenth.
type Server struct {
	o      Options
	source []byte
	out    []Effect
	now    time.Time
	shut   bool

	conns map[Conn]*conn
	// peers are the connections by their own ids.
	peers map[string]*conn
	// order is the connections as they came: events go out in it.
	order []*conn

	sessions map[Session]*module
	// seats are the sessions by identity.
	seats       map[string]*module
	lastSession Session
	away        int

	list listing
	// syncBytes is how many bytes of lists are sent at a time.
	syncBytes int
	// beating tells that TimerBeat runs.
	beating bool

	aliases map[string][]*conn
	groups  map[groupKey]*group
	entered uint64
	came    uint64
	lastID  uint64
}

// New makes a server.
func New(o Options) *Server {
	o = o.withDefaults()
	return &Server{
		o:         o,
		source:    o.source(),
		syncBytes: syncBytes,
		conns:     make(map[Conn]*conn),
		peers:     make(map[string]*conn),
		sessions:  make(map[Session]*module),
		seats:     make(map[string]*module),
		aliases:   make(map[string][]*conn),
		groups:    make(map[groupKey]*group),
	}
}

// conn is a connection.
type conn struct {
	id   Conn
	peer string
	// came counts connections as they came, from 1.
	came       uint64
	generation Generation

	authenticated bool
	credential    string
	negotiates    bool

	// source is what its last event said it is; said are the bytes that it was read from.
	source *Identity
	said   []byte
	// extension is what it authenticated or announced as.
	extension *Identity
	aliases   []string
	// known is what faces found, until one of the three changes.
	known []Identity
	// modules are in the order in which they came.
	modules   []*module
	consumers map[groupKey]bool

	// seen is when it last said something; missed is how many checks ago that is, for
	// peers of the module generation.
	seen   time.Time
	missed int
	late   bool
	// listed is the version of the registry that it has got.
	listed uint64
}

// module is a session.
type module struct {
	Module
	session    Session
	credential string
	// conn is nil while the peer is away.
	conn *conn
	// entry is what the registry says of it.
	entry []byte
	// announced counts announcements: the newest has the highest.
	announced uint64
}

// Step tells what happened at a time, and returns what has to be done.
func (s *Server) Step(now time.Time, in Input) []Effect {
	s.out, s.now = nil, now
	if s.shut {
		return nil
	}
	switch in := in.(type) {
	case Opened:
		s.open(in)
	case Received:
		if c := s.conns[in.Conn]; c != nil {
			s.receive(c, in)
		}
	case Ended:
		if c := s.conns[in.Conn]; c != nil {
			reason := in.Reason
			orText(&reason, "connection closed")
			s.ended(c, reason)
		}
	case Fired:
		s.fired(in.Timer)
	case Shut:
		s.shutdown()
	case Emit:
		s.emit(in)
	case Tell:
		s.tell(in)
	case Configure:
		s.configure(in)
	case Dismiss:
		s.dismiss(in)
	}
	return s.out
}

func (s *Server) fired(t Timer) {
	switch t.Kind {
	case TimerSync:
		s.syncDue()
	case TimerBeat:
		s.checkBeats()
	case TimerAuthentication:
		s.authenticationDue(s.conns[t.Conn])
	case TimerGrace:
		s.graceOver(s.sessions[t.Session])
	}
}

// open takes a connection. Without tokens, or with one that it has shown, it is told at
// once that it may speak.
func (s *Server) open(in Opened) {
	if s.conns[in.Conn] != nil {
		return
	}
	if len(s.conns) >= s.o.Limits.Conns {
		s.add(Close{in.Conn, CodeTryLater, "the host has " + strconv.Itoa(len(s.conns)) + " connections, its limit"})
		return
	}
	s.came++
	c := &conn{id: in.Conn, peer: in.Peer, came: s.came, seen: s.now}
	s.conns[c.id], s.peers[c.peer] = c, c
	s.order = append(s.order, c)
	if !s.beating {
		s.beating = true
		s.set(Timer{Kind: TimerBeat}, s.o.check())
	}
	if s.o.Verify != nil && !in.Known {
		s.set(Timer{Kind: TimerAuthentication, Conn: c.id}, s.o.Authentication)
		return
	}
	c.authenticated, c.credential = true, in.Credential
	s.send(c, "module:authenticated", []byte(`{"authenticated":true}`), nil)
	s.sendList(c, nil)
	s.add(Authenticated{Conn: c.id, Credential: in.Credential})
}

// receive takes a frame. Everything that is one is a sign of life.
func (s *Server) receive(c *conn, in Received) {
	f := in.Frame
	if in.Err != nil {
		s.refuse(c, in.Err.Error(), nil)
		s.drop(c, DroppedMalformed)
		return
	}
	s.alive(c, f)
	switch {
	case f.Control != "":
	case f.Eventa && c.authenticated:
		s.add(EventaFrame{c.id, f.Event.Text})
	case f.Eventa:
		s.unauthenticated(c, f)
	default:
		s.event(c, f)
	}
}

// event acts on an event, or passes it on.
func (s *Server) event(c *conn, f Frame) {
	act := s.before(f.Type)
	if len(f.Event.Text) > s.o.Limits.Acted && (act != nil || acted(f.Type)) {
		s.refuse(c, fmt.Sprintf("the frame has more than %d bytes for event '%s'", s.o.Limits.Acted, f.Type), f.id)
		s.drop(c, DroppedLimit)
		return
	}
	if act != nil {
		act(c, f)
		return
	}
	if !c.authenticated {
		s.unauthenticated(c, f)
		return
	}
	s.takeSource(c, f.source)
	switch f.Type {
	case "ui:configure":
		s.uiConfigure(c, f)
	case "module:consumer:register":
		s.register(c, f)
	case "module:consumer:unregister":
		s.unregister(c, f)
	case "module:compatibility:request":
		s.negotiate(c, f)
	default:
		s.route(c, f)
		s.life(c, f)
	}
}

// acted tells whether an authenticated peer's event is more than passed on.
func acted(kind string) bool {
	switch kind {
	case "ui:configure", "module:consumer:register", "module:consumer:unregister", "module:compatibility:request":
		return true
	}
	return slices.Contains(LifeTypes, kind)
}

// before is what is done with an event that may come before authentication.
func (s *Server) before(kind string) func(*conn, Frame) {
	switch kind {
	case "transport:connection:heartbeat":
		return s.heartbeat
	case "module:authenticate":
		return s.authenticateModule
	case "peer:authenticate":
		return s.authenticatePeer
	case "extension:authenticate":
		return s.authenticateExtension
	case "module:announce":
		return s.announceModule
	case "extension:announce":
		return s.announceExtension
	case "extension:module:announce":
		return s.announceExtensionModule
	}
	return nil
}

func (s *Server) unauthenticated(c *conn, f Frame) {
	s.refuse(c, "not authenticated", f.id)
	s.drop(c, DroppedUnauthenticated)
}

// takeSource remembers what an authenticated peer says it is, which is how others reach it
// until it announces a module, and besides that afterwards.
func (s *Server) takeSource(c *conn, source []byte) {
	switch {
	case !c.authenticated || !isObject(source) || string(source) == string(c.said):
	case len(source) > s.o.Limits.Identity:
		s.drop(c, DroppedLongSource)
	default:
		if id, ok := readSource(source); ok {
			c.source, c.said, c.known = &id, slices.Clone(source), nil
		}
	}
}

// forget takes a connection out of all tables but the sessions'.
func (s *Server) forget(c *conn) {
	delete(s.conns, c.id)
	if s.peers[c.peer] == c {
		delete(s.peers, c.peer)
	}
	if i := slices.Index(s.order, c); i >= 0 {
		// Not in place: who gets an event may be listed at the moment.
		s.order = slices.Concat(s.order[:i], s.order[i+1:])
	}
	for key := range c.consumers {
		s.leaveGroup(c, key)
	}
	for _, alias := range c.aliases {
		s.unalias(c, alias)
	}
	if s.o.Verify != nil && !c.authenticated {
		s.stop(Timer{Kind: TimerAuthentication, Conn: c.id})
	}
}

// shutdown closes everything. Nobody hears of the others' end, which would be a frame for
// each pair of them.
func (s *Server) shutdown() {
	for _, c := range s.order {
		s.add(Close{c.id, CodeGoingAway, "server shutdown"})
	}
	for _, id := range sortedSessions(s.sessions) {
		s.add(Gone{id, "server shutdown"})
	}
	out := s.out
	*s = *New(s.o)
	s.out, s.shut = out, true
}

func (s *Server) add(e Effect)           { s.out = append(s.out, e) }
func (s *Server) drop(c *conn, r string) { s.add(Dropped{c.id, r}) }

func (s *Server) set(t Timer, after time.Duration) { s.add(SetTimer{t, after}) }
func (s *Server) stop(t Timer)                     { s.add(StopTimer{t}) }
