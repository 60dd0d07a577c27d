package actors

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
)

// Host runs plugins. All its methods may be called from any goroutine; what they
// return is the caller's own.
type Host struct {
	id       string
	version  string
	mark     string
	log      *slog.Logger
	dialects map[string]protocol.Dialect
	programs map[string]protocol.Program
	launch   Launcher
	// observe is told of calls that are over; nil where nobody is.
	observe func(CallEnded)
	// permits tells what a plugin was granted to call, denied is told of what it may not
	// have; each may be nil.
	permits func(plugin string, key capability.Key) bool
	denied  func(Denial)
	// trace makes calls a part of a trace; nil leaves them as they are.
	trace func(protocol.Call) (string, func(error))
	// connect reaches what is not compiled in: startWorker, but in tests.
	connect  connector
	runtime  manifest.Runtime
	versions protocol.VersionRequest
	// bounds are those of the sessions that begin.
	bounds atomic.Pointer[bounds]
	// memory keeps crashes for the next host; nil if nobody does.
	memory CrashMemory
	// unstarted knows of the offers of plugins that were not started; nil if nobody does.
	unstarted func(key, plugin string) string
	// logEvents are the kinds of events that go to the log.
	logEvents Kind

	sys      *system
	router   *ref
	registry *ref
	caps     *capability.Registry
	// wanted is the union of what subscribers want, kept by the router.
	wanted atomic.Uint32
	// news are on their way to the router.
	news news
	// pool holds calls that are over, to be used again.
	pool sync.Pool
	// formers counts the sessions of plugins that crashed under the former host.
	formers atomic.Int64
	// roots numbers calls to which no other led.
	roots atomic.Uint64
	// routes counts those of all sessions.
	routes routeTally
	// nextIndex numbers sessions.
	nextIndex atomic.Int64

	// isDown is set under mu, and read by every call without it.
	isDown atomic.Bool

	// methods are the services of each dialect's wire.
	methods map[string]map[string]protocol.Service
	// jobs stands before the owners of jobs, if anything does.
	jobs atomic.Pointer[protocol.Service]
	// services are the host's own, by key. Every call looks there, and hardly anybody
	// changes them, which happens under mu.
	services atomic.Pointer[map[string]protocol.Service]

	mu          sync.Mutex
	supervisors map[string]*ref
	// left are what plugins offered that have stopped since, by their names.
	left     map[string][]string
	sessions map[string]*handle   // by session id
	plugins  map[string]*handle   // the newest session of each plugin of the host's own
	guests   map[string][]*handle // those of each name, the newest last
	logs     map[string]*logRing
}

// New makes a host and starts its registry and router. Call Shutdown when done.
func New(opts Options) (*Host, error) {
	h := &Host{
		id: opts.ID, log: opts.Log, logEvents: opts.LogEvents, programs: opts.Programs, launch: opts.Launch, observe: opts.Observe, trace: opts.Trace, runtime: opts.Runtime,
		permits: opts.MayInvoke, denied: opts.Denied,
		versions: opts.Versions, memory: opts.Memory, unstarted: opts.Unstarted, version: opts.Version, mark: opts.Owner,
		dialects: map[string]protocol.Dialect{}, supervisors: map[string]*ref{}, left: map[string][]string{}, sessions: map[string]*handle{},
		plugins: map[string]*handle{}, guests: map[string][]*handle{}, logs: map[string]*logRing{},
	}
	h.SetBounds(Bounds{Timeouts: opts.Timeouts, Limits: opts.Limits, Ladder: opts.Ladder, Restart: opts.Restart})
	h.connect = h.startWorker
	h.fillDefaults()
	for i, d := range opts.Dialects {
		if d == nil {
			return nil, fmt.Errorf("dialect %d of those given is nil", i)
		}
		if h.dialects[d.Name()] != nil {
			return nil, fmt.Errorf("the dialect %s is given twice", d.Name())
		}
		h.dialects[d.Name()] = d
	}
	h.boot()
	if opts.Methods != nil {
		h.methods = opts.Methods(plugins{h})
	}
	h.addServices(opts.Services)
	return h, h.bringServices(opts.Dialects)
}

func (h *Host) fillDefaults() {
	if h.id == "" {
		h.id = rand.Text()
	}
	if h.version == "" {
		h.version = "dev"
	}
	if h.log == nil {
		h.log, h.logEvents = slog.New(slog.DiscardHandler), 0
	} else if h.logEvents == 0 {
		h.logEvents = KindsUsual
	}
	if h.runtime == "" {
		h.runtime = manifest.Node
	}
	if v := h.versions; v.Protocol == "" && v.API == "" {
		h.versions.Protocol, h.versions.API = "v1", "v1"
	}
}

func (h *Host) boot() {
	h.sys = newSystem()
	h.caps = capability.New(capability.Options{})
	h.news.wake = func() { h.router.tell(look{}) }
	h.router = h.sys.spawn(func(self *ref) behavior {
		return &router{log: h.log, self: self, news: &h.news, wanted: &h.wanted}
	})
	h.registry = h.sys.spawn(func(self *ref) behavior {
		return newRegistry(h, self)
	})
}

// bringServices takes over what the dialects' modules expect of a host.
func (h *Host) bringServices(dialects []protocol.Dialect) error {
	for _, d := range dialects {
		serving, ok := d.(protocol.Serving)
		if !ok {
			continue
		}
		for _, offer := range serving.Services(h) {
			if err := h.SetService(context.Background(), offer); err != nil {
				return err
			}
		}
	}
	return nil
}

// ID names the host among others.
func (h *Host) ID() string { return h.id }

// Negotiate settles the versions of protocol and API with a peer that asks for some, as
// with a plugin of the host's own.
func (h *Host) Negotiate(asked protocol.VersionRequest) protocol.VersionResult {
	return protocol.VersionResult(lifecycle.Negotiate(proposal(h.versions), proposal(asked)))
}

// SetService makes the host answer calls of a key itself, before any plugin
// does. A listed one is also a ready capability of the host's own.
func (h *Host) SetService(ctx context.Context, offer protocol.ServiceOffer) error {
	if err := h.alive(); err != nil {
		return err
	}
	h.addServices(map[string]protocol.Service{offer.Key: offer.Service})
	if !offer.Listed {
		return nil
	}
	_, err := h.SetCapability(ctx, offer.Key, lifecycle.CapReady, offer.Metadata)
	return err
}

func (h *Host) service(key string) protocol.Service {
	if all := h.services.Load(); all != nil {
		return (*all)[key]
	}
	return nil
}

func (h *Host) addServices(more map[string]protocol.Service) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make(map[string]protocol.Service, len(more))
	if now := h.services.Load(); now != nil {
		maps.Copy(all, *now)
	}
	maps.Copy(all, more)
	h.services.Store(&all)
}
