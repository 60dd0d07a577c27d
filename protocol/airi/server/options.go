package server

import (
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// Options are what a server is made with. The zero value works.
type Options struct {
	// Instance is the server's own id, which every event that it makes has; "" means
	// "airi-host". Version is what it says of itself; "" leaves it out.
	Instance, Version string
	// NewID makes the ids of events; nil counts. An id has no need to be hard to guess.
	NewID func() string
	// Verify tells whether a token is one of the host's, and whose: two connections with
	// one credential may replace each other. It is "" of who authenticates without one. It has
	// to compare in constant time. nil means that no token is configured: everybody is
	// authenticated, and all are equal.
	Verify func(token string) (credential string, ok bool)
	// Negotiate settles the versions of protocol and API; nil agrees to whatever is asked
	// for.
	Negotiate func(Proposal) Agreement
	// Policy says who may get what is routed.
	Policy Policy
	// NoBypass refuses devtools peers the right to pass by destinations, delivery and policy.
	NoBypass bool
	// Pong is the message of a heartbeat's answer; "" means "💛".
	Pong string

	// Authentication is how long a peer may take to authenticate; 0 means 10 s.
	Authentication time.Duration
	// Beat is how long a peer may be silent; 0 means 60 s. It is looked after at each
	// fifth of that, but at most each 5 s: see [Server].
	Beat time.Duration
	// SyncEvery is how often the list of modules is sent to those who did not just ask
	// for it, at most; 0 means 200 ms.
	SyncEvery time.Duration
	// Grace is how long a session waits for its peer to come back; 0 means 10 s.
	Grace time.Duration

	Limits Limits
}

// Limits bound what a server keeps. 0 means the default in each.
type Limits struct {
	// Conns is how many connections there may be; 0 means 10,000. One more is closed at
	// once, with [CodeTryLater].
	Conns int
	// Modules is how many modules one connection may announce; 0 means 64. The next one
	// is refused.
	Modules int
	// Sessions is how many sessions there may be, with those whose peer is away; 0 means
	// 10,000. The next announcement is refused.
	Sessions int
	// Away is how many sessions may wait for their peer to come back; 0 means 1,000. One
	// more is over when its peer goes.
	Away int
	// Registry is how many bytes the list of modules may have; 0 means 4 MiB. An
	// announcement that would make it longer is refused.
	Registry int
	// Acted is how many bytes a frame may have that the server acts on itself, with
	// configurations and what modules say of their lives; 0 means 1 MiB. A longer one is
	// refused. What is only passed on has the transport's limit.
	Acted int
	// Announcement is how many bytes the data of an announcement may have, which everybody
	// gets, and that of a request for compatibility; 0 means 256 KiB. A longer one is refused.
	Announcement int
	// Identity is how many bytes an identity may have; 0 means 4 KiB. A longer one is
	// refused, and as the source of an event it is not taken over.
	Identity int
	// Text is how many bytes a name, an id, a group or an event's name may have; 0 means
	// 256. A longer one is refused.
	Text int
	// Aliases is how many ids of its own choice a connection may have; 0 means 8. The next
	// one is refused.
	Aliases int
	// Consumers is how many events a connection may register for; 0 means 256. The next
	// registration is refused.
	Consumers int
	// Sticky is how many keys a group of consumers remembers; 0 means 1,024. The oldest is
	// forgotten for a new one.
	Sticky int
	// Terms is how many expressions the destinations of one event may have together, and
	// Depth how deep they may nest; 0 means 256 and 16. An event with more is refused.
	Terms, Depth int
	// Destination is how many bytes one text in the destinations may have; 0 means 1,024.
	// An event with a longer one is refused, and so is one whose destinations have more
	// than Terms times Destination bytes.
	Destination int
}

// Policy says who may get what is routed. With a policy destinations do not count, as at
// the reference server. Lists that are empty say nothing.
type Policy struct {
	// AllowPlugins and DenyPlugins are ids of plugins, or of extensions.
	AllowPlugins, DenyPlugins []string
	// AllowLabels and DenyLabels are selectors, "key" or "key=value", all of which have
	// to hold.
	AllowLabels, DenyLabels []string
}

func (p Policy) empty() bool {
	return len(p.AllowPlugins)+len(p.DenyPlugins)+len(p.AllowLabels)+len(p.DenyLabels) == 0
}

// Proposal is what a peer asks for, in module:compatibility:request.
type Proposal struct {
	Protocol, API                   string
	SupportedProtocol, SupportedAPI []string
}

// Agreement is what is answered, in module:compatibility:result.
type Agreement struct {
	Protocol, API string
	// Mode is "exact", "downgraded" or "rejected"; Reason says why it is rejected.
	Mode, Reason string
}

const (
	second = time.Second
	// leastCheck is how often heartbeats are looked after at most.
	leastCheck = 5 * second
)

func (o Options) withDefaults() Options {
	orText(&o.Instance, "airi-host")
	orText(&o.Pong, "💛")
	orTime(&o.Authentication, 10*second)
	orTime(&o.Beat, 60*second)
	orTime(&o.SyncEvery, 200*time.Millisecond)
	orTime(&o.Grace, 10*second)
	if o.Negotiate == nil {
		o.Negotiate = func(p Proposal) Agreement { return Agreement{Protocol: p.Protocol, API: p.API, Mode: "exact"} }
	}
	o.Limits = o.Limits.withDefaults()
	return o
}

func (l Limits) withDefaults() Limits {
	for _, one := range []struct {
		limit *int
		usual int
	}{
		{&l.Conns, 10_000},
		{&l.Modules, 64},
		{&l.Sessions, 10_000},
		{&l.Away, 1_000},
		{&l.Registry, 4 << 20},
		{&l.Acted, 1 << 20},
		{&l.Announcement, 256 << 10},
		{&l.Identity, 4 << 10},
		{&l.Text, 256},
		{&l.Aliases, 8},
		{&l.Consumers, 256},
		{&l.Sticky, 1_024},
		{&l.Terms, 256},
		{&l.Depth, 16},
		{&l.Destination, 1_024},
	} {
		if *one.limit <= 0 {
			*one.limit = one.usual
		}
	}
	return l
}

func orText(s *string, usual string) {
	if *s == "" {
		*s = usual
	}
}

func orTime(d *time.Duration, usual time.Duration) {
	if *d <= 0 {
		*d = usual
	}
}

// check is how often heartbeats are looked after.
func (o Options) check() time.Duration { return max(leastCheck, o.Beat/5) }

// source is the metadata.source of the server's own events: both generations of the
// reference server speak of themselves as of a plugin.
func (o Options) source() []byte {
	out := []byte(`{"kind":"plugin","plugin":{"id":"proj-airi:server-runtime"`)
	if o.Version != "" {
		out = append(out, `,"version":`...)
		out = protocol.AppendText(out, o.Version)
	}
	out = append(out, `},"id":`...)
	return append(protocol.AppendText(out, o.Instance), '}')
}
