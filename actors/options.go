package actors

import (
	"context"
	"log/slog"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport/process"
)

// Options are what a host is made of. The zero value works: a host that runs
// only what it is given in code, with the default limits.
type Options struct {
	// ID names the host among others; "" makes one up.
	ID string
	// Version is the host's, which some plugins are told; "" means "dev".
	Version string
	// Owner marks the worker processes as this host's, in their environment, so that
	// process.Sweep can end those that a host leaves behind which is killed: 16 to
	// 128 characters that nobody can guess; "" is made up, and proves nothing later.
	Owner string
	// Log gets the host's own records and the plugins'; nil discards them.
	Log *slog.Logger
	// LogEvents are the kinds of events that Log gets as well; 0 means
	// KindsUsual.
	LogEvents Kind
	// Dialects are the ecosystems that the host speaks.
	Dialects []protocol.Dialect
	// Programs are the plugins compiled in, by the NAME of a manifest's
	// "builtin:NAME".
	Programs map[string]protocol.Program
	// Launch says how a module that is not compiled in is run; nil refuses such
	// plugins, saying so.
	Launch Launcher
	// Runtime picks the entrypoint of manifests that have several; "" means node.
	Runtime manifest.Runtime
	// Services are what the host offers to plugins beside the dialects' own, by
	// key. They answer before plugins do.
	Services map[string]protocol.Service
	// Methods makes the services that plugins of one ecosystem call by the methods of
	// their own wire, by dialect and method; others cannot call them. It is called
	// once, by New. Methods of the ecosystem's product that are nobody's here can be
	// added to what a package of services makes.
	Methods func(protocol.Plugins) map[string]map[string]protocol.Service
	// Observe is told of every call of a capability that is over, whoever made it and
	// whatever became of it: on the caller's goroutine, before the caller goes on, so that
	// it must be quick. Nil for nobody.
	Observe func(CallEnded)
	// MayInvoke tells whether a plugin was granted a call of another one's capability
	// that its manifest lists in "airi-host".invoke; nil grants all of them. It is asked
	// for every such call, so that it must be quick.
	MayInvoke func(plugin string, key capability.Key) bool
	// Denied is told of everything that a plugin asked for and may not have. It is called
	// where the plugin is answered, and must be quick. Nil for nobody.
	Denied func(Denial)
	// Trace makes every call of a capability a part of a trace: it is given the call, with
	// the trace that the caller has, if any, and returns the one that the callee is told,
	// and what is told of the call's error, or nil, when it is over. Both are on the
	// caller's goroutine and must be quick. Nil leaves traces as callers have them.
	Trace func(protocol.Call) (traceparent string, ended func(error))
	// Versions are the protocol and API versions that the host speaks, the most
	// wanted first; the zero value means v1 for both.
	Versions protocol.VersionRequest
	// Timeouts bound every wait.
	Timeouts Timeouts
	// Limits bound every queue.
	Limits Limits
	// Ladder says how patiently a worker process is ended; zero means the
	// defaults of package process.
	Ladder process.Ladder
	// Restart says what follows when a plugin crashes.
	Restart RestartPolicy
	// Memory keeps how plugins have crashed from one host to the next; nil for nobody.
	Memory CrashMemory
	// Unstarted says which plugins would offer a key that nobody does, of those that were
	// not started, and what to do; "" for none. It is asked for a call that finds nobody,
	// with the plugin that the call names, "" for any, and may be called from several
	// goroutines. nil knows of none.
	Unstarted func(key, plugin string) string
}

// Launcher makes the worker process of a plugin's module. It must not block
// beyond ctx.
type Launcher func(ctx context.Context, m *manifest.Manifest, entry manifest.Entry) (process.Spec, error)

// Timeouts are the limits on time. Zero means the default; there is no
// "unlimited". A manifest's "airi-host".timeouts beats them for its plugin.
type Timeouts struct {
	// Load bounds reading a plugin's code, its process's start included: 30 s.
	Load time.Duration
	// Init bounds the plugin's init hook: 30 s.
	Init time.Duration
	// Setup bounds the plugin's setup hook: 30 s.
	Setup time.Duration
	// Stop bounds the plugin's stop hook: 5 s.
	Stop time.Duration
	// Drain bounds how long a plugin that is stopped is left to end the calls in
	// flight, before it is told to stop: 10 s.
	Drain time.Duration
	// Call bounds a call whose caller names no deadline: 30 s.
	Call time.Duration
	// Idle bounds a call's wait for its next intermediate item, or for its result, where
	// the caller says nothing of it: none.
	Idle time.Duration
	// Capabilities bounds a wait for required capabilities: 15 s.
	Capabilities time.Duration
	// RouteExit is for how long what comes of a route is still taken when its program has
	// ended, since a wire may bring it behind that: 250 ms. Then the route is closed.
	RouteExit time.Duration
}

const (
	defaultHookTimeout       = 30 * time.Second
	defaultStopTimeout       = 5 * time.Second
	defaultDrainTimeout      = 10 * time.Second
	defaultCallTimeout       = 30 * time.Second
	defaultCapabilityTimeout = 15 * time.Second
	defaultRouteExitTimeout  = 250 * time.Millisecond
)

func (t Timeouts) withDefaults() Timeouts {
	return Timeouts{
		Load:         orDefault(t.Load, defaultHookTimeout),
		Init:         orDefault(t.Init, defaultHookTimeout),
		Setup:        orDefault(t.Setup, defaultHookTimeout),
		Stop:         orDefault(t.Stop, defaultStopTimeout),
		Drain:        orDefault(t.Drain, defaultDrainTimeout),
		Call:         orDefault(t.Call, defaultCallTimeout),
		Idle:         max(t.Idle, 0),
		Capabilities: orDefault(t.Capabilities, defaultCapabilityTimeout),
		RouteExit:    orDefault(t.RouteExit, defaultRouteExitTimeout),
	}
}

// step returns the limit for a step of a plugin's life.
func (t Timeouts) step(s protocol.Step) time.Duration {
	switch s {
	case protocol.StepLoad:
		return t.Load
	case protocol.StepInit:
		return t.Init
	case protocol.StepSetup:
		return t.Setup
	case protocol.StepStop:
		return t.Stop
	default:
		return t.Init
	}
}

// Limits bound what plugins can make the host hold. Zero means the default.
type Limits struct {
	// Pending is how many calls may be in flight at one session, in each
	// direction; the next fails as overloaded: 4096.
	Pending int
	// LogLines is how many log lines of each plugin are kept: 1000.
	LogLines int
	// Facts is how many facts of one peer (offers made and taken back) may wait
	// for its session before the host stops reading from it: 256.
	Facts int
	// Frame is the largest frame of a peer in bytes: 64 MiB.
	Frame int
	// StreamItems is how many items of one call may wait for whoever takes them: those
	// that a peer sends to a caller who follows, and those of a peer's request stream:
	// 1024. StreamBytes is how many bytes they may have, beside one item: 8 MiB. A peer
	// that sends more ends its call as overloaded; compiled-in code waits. From half of
	// it on the host reads from the peer no faster than they are taken, for 20 ms and
	// 50 µs an item.
	StreamItems, StreamBytes int
	// Events is how many events may wait for a compiled-in subscriber behind the one
	// that it is at: 1024. EventBytes is how many bytes the payloads of all may have,
	// beside one event: 8 MiB. The next event is not for it, counted as dropped, and
	// its emitter does not wait for it. What waits for a peer is bounded by Pending.
	Events, EventBytes int
	// OwedFrames is how many frames may wait for a peer that reads too slowly and has to
	// get them all the same, answers to what it asked and the steps of its life: 65,536.
	// OwedBytes is how many bytes they may have, beside one frame: 16 MiB. It is the
	// peer that decides how much it asks for at once: one that goes on without reading
	// is ended.
	OwedFrames, OwedBytes int
	// PhaseRequests is how often a session may ask within a minute to be prepared or
	// configured anew (protocol.Heeding): 10. What it asks beyond is not followed, counted
	// as dropped.
	PhaseRequests int
	// ChannelEvents is how many events of its channel, and steps, may wait for a compiled-in
	// program's slow listener: 1024. The next event is dropped and counted.
	ChannelEvents int
	// CallDepth is how many calls there may be one within the other, each made by a plugin
	// for the sake of the one that it serves: 32, at most 64. The next one is refused, so
	// that plugins that call each other in a circle come to an end.
	CallDepth int
	// RouteChunks is how many chunks of one route may wait for whoever reads it, where short
	// ones are one up to 4 KiB: 1024.
	// RouteBytes is how many bytes they may have, beside one chunk: 8 MiB. A peer that sends
	// more ends the route as overloaded. From half of it on the host reads from the peer no
	// faster than they are read, for 20 ms, 50 µs a chunk and 15 ns a byte.
	RouteChunks, RouteBytes int
}

const (
	defaultLogLines    = 1000
	defaultFacts       = 256
	defaultStreamItems = 1024
	defaultStreamBytes = 8 << 20
	defaultEvents      = 1024
	defaultEventBytes  = 8 << 20
	defaultOwedFrames  = 65_536
	defaultOwedBytes   = 16 << 20

	defaultPhaseRequests = 10
	defaultChannel       = 1024
	defaultCallDepth     = 32

	defaultRouteChunks = 1024
	defaultRouteBytes  = 8 << 20
)

func (l Limits) withDefaults() Limits {
	return Limits{
		Pending:  orDefault(l.Pending, protocol.DefaultMaxPending),
		LogLines: orDefault(l.LogLines, defaultLogLines),
		Facts:    orDefault(l.Facts, defaultFacts),
		Frame:    l.Frame,

		StreamItems: orDefault(l.StreamItems, defaultStreamItems),
		StreamBytes: orDefault(l.StreamBytes, defaultStreamBytes),

		Events:     orDefault(l.Events, defaultEvents),
		EventBytes: orDefault(l.EventBytes, defaultEventBytes),

		OwedFrames: orDefault(l.OwedFrames, defaultOwedFrames),
		OwedBytes:  orDefault(l.OwedBytes, defaultOwedBytes),

		PhaseRequests: orDefault(l.PhaseRequests, defaultPhaseRequests),
		ChannelEvents: orDefault(l.ChannelEvents, defaultChannel),
		CallDepth:     min(orDefault(l.CallDepth, defaultCallDepth), maxCallDepth),

		RouteChunks: orDefault(l.RouteChunks, defaultRouteChunks),
		RouteBytes:  orDefault(l.RouteBytes, defaultRouteBytes),
	}
}

func orDefault[T int | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}

// StartOptions say how one session is started.
type StartOptions struct {
	// Runtime picks the entrypoint; "" means the host's.
	Runtime manifest.Runtime
	// RequireConfiguration stops the session in configuration-needed unless
	// Config is given. A manifest may require it too.
	RequireConfiguration bool
	// Resume is for a start that nobody asks for by hand: that of all plugins when a host
	// begins. What Options.Memory has of the plugin holds: one that was given up fails at
	// once, one that was to be started again later waits until then as after a crash,
	// and its crashes are counted on. Other starts begin from nothing.
	Resume bool
	// Config is the configuration to start with; nil means an empty default.
	Config *protocol.Config
	// Compatibility lists what the peer supports; its preferred versions are
	// the host's own.
	Compatibility protocol.VersionRequest
	// Requires are awaited beside what the manifest requires.
	Requires []string
	// Wait bounds the wait for what is required; zero means the limit in force.
	Wait time.Duration
}
