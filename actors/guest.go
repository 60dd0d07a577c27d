package actors

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport"
)

// Guest is a plugin that the host does not start: it has come by itself, over a connection
// that is open. Several instances of one plugin may be guests at the same time.
type Guest struct {
	// Manifest says who it is and what it requires.
	Manifest *manifest.Manifest
	// Instance tells it apart from others of its name; it must not be "".
	Instance string
	// Dialect is what the records of Conn mean.
	Dialect protocol.Dialect
	// Conn is the host's once Join has taken the guest; of one that is refused it stays the
	// caller's to close. Its end is the guest's own wish to leave: the session is stopped,
	// and is no crash.
	Conn transport.Conn
	// Circle names those who tell each other events themselves: of one that has Call.Told
	// the others there are not told by the host. "" for nobody.
	Circle string
	// Start is how it goes on to ready.
	Start StartOptions
	// Failed is told why its session fails, before anybody else hears of that: from then on
	// it may join again, and begins when this session has made room. nil is for nobody. It
	// must not block.
	Failed func(reason error)
	// Configured is told of each configuration that the guest has taken from somebody else
	// than the host, once the session has it. nil is for nobody. It must not block.
	Configured func(protocol.Config)
	// Schema is what the guest says that its configuration has to be like, nil for nothing.
	// It is shown, and nobody is held to it but by the guest itself.
	Schema json.RawMessage
	// Ended, if set, is called once when the session is over and forgotten, so that the same
	// instance can join again: with what it failed of, or nil. It must not block.
	Ended func(failed error)
}

// Join makes a session for a guest and takes it towards ready. It returns as soon as there
// is a session; settled gets its outcome, as that of Start, once. A guest whose name is
// that of a plugin which the host has itself, or whose instance is there already, is refused;
// if that one is about to end, it is waited for, until ctx ends.
//
// A guest that leaves is forgotten, and so is one that has failed, as soon as that is told:
// only it can come again. Guests fail when the host starts a plugin of their name.
func (h *Host) Join(ctx context.Context, g Guest) (session string, settled <-chan error, err error) {
	if err := g.check(); err != nil {
		return "", nil, err
	}
	who, loaded, err := h.begin(ctx, g.Manifest, begin{start: &g.Start, guest: &g})
	if err != nil {
		return "", nil, err
	}
	answer := make(chan error, 1)
	who.self.tell(initialize{opts: g.Start, reply: answer, starts: true})
	out := make(chan error, 1)
	go func() {
		_, err := h.outcome(context.Background(), who, loaded)
		if err == nil {
			_, err = h.outcome(context.Background(), who, answer)
		}
		out <- err
	}()
	return who.Session, out, nil
}

func (g Guest) check() error {
	switch {
	case g.Manifest == nil || g.Dialect == nil || g.Conn == nil:
		return errors.New("a guest: expected a manifest, a dialect and a connection")
	case g.Manifest.PluginName() == capability.HostOwner.Plugin:
		return failure(protocol.CodeInvalid, capability.HostOwner.Plugin, "plugin "+capability.HostOwner.Plugin+" is the host itself: a guest needs another name")
	case g.Instance == "":
		return fmt.Errorf("plugin %s: instance: expected one, for others of its name may come", g.Manifest.PluginName())
	}
	return nil
}

// guestKey is under which a guest's supervisor is kept: no plugin's name has a NUL in it.
func guestKey(plugin, instance string) string { return plugin + "\x00" + instance }

// ownerKey is under which the supervisor of who owns an offer is kept.
func ownerKey(o capability.Owner) string {
	if o.Instance == "" {
		return o.Plugin
	}
	return guestKey(o.Plugin, o.Instance)
}

// keyName is a key for people.
func keyName(key string) string {
	if plugin, instance, guest := strings.Cut(key, "\x00"); guest {
		return plugin + " (" + instance + ")"
	}
	return key
}

// key tells a plugin of the host's own, or one instance of a guest, from all others.
func (h *handle) key() string { return ownerKey(h.owner()) }

// instance is "" for a plugin of the host's own.
func (h *handle) instance() string {
	if h.guest == nil {
		return ""
	}
	return h.guest.Instance
}

// circle is who tells each other their events; "" for nobody.
func (h *handle) circle() string {
	if h.guest == nil {
		return ""
	}
	return h.guest.Circle
}

// openGuest makes the peer over the connection with which a guest came.
func (s *session) openGuest() {
	p := newPeer(s.host, s.h, s.dialect, s.h.guest.Conn)
	p.listen()
	s.onLinked(linked{link: p})
}

// onAbsent degrades what is offered while the peer cannot do it.
func (s *session) onAbsent(m absent) {
	if s.end != living || s.away == m.reason {
		return
	}
	s.away = m.reason
	switch {
	case m.reason != "":
		if s.phase == lifecycle.Degraded || lifecycle.Session.Can(s.phase, lifecycle.SessionDegraded) {
			s.toDegraded(m.reason)
			s.register(setOffers{owner: s.owner(), to: lifecycle.CapDegraded, reason: m.reason}, func() {})
		}
	case s.phase == lifecycle.Degraded:
		s.register(setOffers{owner: s.owner(), to: lifecycle.CapReady}, s.recover)
	}
}

// recover takes a session back to ready that lacks nothing any more; of one that lacks
// something else it tells that.
func (s *session) recover() {
	switch {
	case s.end != living || s.phase != lifecycle.Degraded:
	case s.away != "":
		s.h.because(s.away)
	case !s.met:
		s.h.because(missing(s.needs.Unmet(s.host.snapshot())))
	case s.enter(lifecycle.Ready, ""):
		s.say(protocol.Moment{What: protocol.MomentRecovered})
	}
}

// toDegraded degrades a session. Of one that is so already the reason changes, unless it
// would hide that its peer is away.
func (s *session) toDegraded(reason string) {
	switch {
	case s.phase == lifecycle.Degraded:
		s.h.because(cmp.Or(s.away, reason))
	case s.enter(lifecycle.Degraded, reason):
		s.say(protocol.Moment{What: protocol.MomentDegraded, Reason: reason})
	}
}

// onDisplaced: the host has a plugin of its own of that name now.
func (s *session) onDisplaced() { s.fail(namesake(s.h.Plugin)) }

// namesake is why a guest is not taken, or stays no longer.
func namesake(name string) error {
	return failure(protocol.CodeInvalid, name, "plugin "+name+" is one of the host's own: a guest needs another name")
}

// displace ends the guests of a name that the host has a plugin of.
func (h *Host) displace(name string) {
	h.mu.Lock()
	all := slices.Clone(h.guests[name])
	h.mu.Unlock()
	for _, who := range all {
		who.self.tell(displaced{})
	}
}

// absent tells that the peer cannot do what it offers, and why; "" that it can again.
type absent struct{ reason string }

// displaced tells that the host has started a plugin of the guest's name.
type displaced struct{}

// unsaid stands where a peer says that it is absent, and not why.
const unsaid = "it does not say why"

// Hears tells whether any plugin outside a circle would hear an event, so that one that
// nobody hears need not be made.
func (h *Host) Hears(key, circle string) bool {
	return slices.ContainsFunc(h.audience(context.Background(), protocol.Call{Key: key}), func(who *handle) bool {
		return circle == "" || who.circle() != circle
	})
}

// Wants tells whether anybody listens to a kind of events.
func (h *Host) Wants(k Kind) bool { return h.wants(k) }
