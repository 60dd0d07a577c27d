package actors

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport/process"
)

// Host runs plugins. All its methods may be called from any goroutine; what they
// return is the caller's own.
type Host struct {
	id       string
	log      *slog.Logger
	dialects map[string]protocol.Dialect
	programs map[string]protocol.Program
	launch   Launcher
	// connect reaches what is not compiled in: startWorker, but in tests.
	connect  connector
	runtime  manifest.Runtime
	versions protocol.VersionRequest
	timeouts Timeouts
	limits   Limits
	ladder   process.Ladder
	restart  RestartPolicy
	// logEvents are the kinds of events that go to the log.
	logEvents Kind

	sys      *system
	router   *ref
	registry *ref
	caps     *capability.Registry
	// wanted is the union of what subscribers want, kept by the router.
	wanted atomic.Uint32
	// pool holds calls that are over, to be used again.
	pool sync.Pool
	// nextIndex numbers sessions.
	nextIndex atomic.Int64

	// isDown is set under mu, and read by every call without it.
	isDown atomic.Bool

	// services holds a protocol.Service by key.
	services sync.Map

	mu          sync.Mutex
	supervisors map[string]*ref
	sessions    map[string]*handle // by session id
	plugins     map[string]*handle // the newest session of each plugin
	logs        map[string]*logRing
}

// New makes a host and starts its registry and router. Call Shutdown when done.
func New(opts Options) (*Host, error) {
	h := &Host{
		id: opts.ID, log: opts.Log, logEvents: opts.LogEvents, programs: opts.Programs, launch: opts.Launch, runtime: opts.Runtime,
		versions: opts.Versions, timeouts: opts.Timeouts.withDefaults(), limits: opts.Limits.withDefaults(), ladder: opts.Ladder,
		restart:  opts.Restart.withDefaults(),
		dialects: map[string]protocol.Dialect{}, supervisors: map[string]*ref{}, sessions: map[string]*handle{},
		plugins: map[string]*handle{}, logs: map[string]*logRing{},
	}
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
	for key, service := range opts.Services {
		h.services.Store(key, service)
	}
	return h, h.bringServices(opts.Dialects)
}

func (h *Host) fillDefaults() {
	if h.id == "" {
		h.id = rand.Text()
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
	h.router = h.sys.spawn(func(self *ref) behavior {
		return &router{log: h.log, self: self, wanted: &h.wanted}
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

// SetService makes the host answer calls of a key itself, before any plugin
// does. A listed one is also a ready capability of the host's own.
func (h *Host) SetService(ctx context.Context, offer protocol.ServiceOffer) error {
	if err := h.alive(); err != nil {
		return err
	}
	h.services.Store(offer.Key, offer.Service)
	if !offer.Listed {
		return nil
	}
	_, err := h.SetCapability(ctx, offer.Key, lifecycle.CapReady, offer.Metadata)
	return err
}

func (h *Host) service(key string) protocol.Service {
	service, _ := h.services.Load(key)
	s, _ := service.(protocol.Service)
	return s
}

// Load makes a session for a manifest and reads the plugin's code. It returns
// when that is done; a session whose load failed is returned with the error, and
// stays listed. A plugin that has a session already is refused.
func (h *Host) Load(ctx context.Context, m *manifest.Manifest, opts StartOptions) (SessionInfo, error) {
	who, loaded, err := h.begin(ctx, m, opts.Runtime, nil)
	if err != nil {
		return SessionInfo{}, err
	}
	return h.outcome(ctx, who, loaded)
}

// begin makes a session; the channel gets the outcome of its load. start, if any,
// is how the caller will take it to ready then.
func (h *Host) begin(ctx context.Context, m *manifest.Manifest, runtime manifest.Runtime, start *StartOptions) (*handle, <-chan error, error) {
	if runtime == "" {
		runtime = h.runtime
	}
	loaded := make(chan error, 1)
	if ctx.Err() != nil { // else there would be a session of which its caller knows nothing
		return nil, nil, context.Cause(ctx)
	}
	for {
		sup, err := h.supervisor(m)
		if err != nil {
			return nil, nil, err
		}
		got, err := ask(ctx, sup, func(reply chan<- made) any {
			return begin{man: m, runtime: runtime, start: start, made: reply, loaded: loaded}
		})
		if err == nil {
			err = got.err
		}
		if err != errGone { //nolint:errorlint // the value itself: the plugin was removed meanwhile
			return got.h, loaded, err
		}
	}
}

// outcome waits for what a session answers.
func (h *Host) outcome(ctx context.Context, who *handle, answer <-chan error) (SessionInfo, error) {
	select {
	case err := <-answer:
		return who.info(), err
	case <-ctx.Done():
		return who.info(), fmt.Errorf("plugin %s is still %s: %w", who.Plugin, who.phaseNow(), context.Cause(ctx))
	case <-who.self.gone:
	}
	select {
	case err := <-answer:
		return who.info(), err
	default:
		return who.info(), errStopped(who.Plugin)
	}
}

// Init takes a loaded session towards ready. It returns when the session is
// ready, or waits for its configuration, or has failed.
func (h *Host) Init(ctx context.Context, session string, opts StartOptions) (SessionInfo, error) {
	who, err := h.known(session, "Unable to initialize plugin session: %s")
	if err != nil {
		return SessionInfo{}, err
	}
	return h.request(ctx, who, func(reply chan<- error) any { return initialize{opts, reply} })
}

func (h *Host) request(ctx context.Context, who *handle, build func(chan<- error) any) (SessionInfo, error) {
	answer := make(chan error, 1)
	who.self.tell(build(answer))
	return h.outcome(ctx, who, answer)
}

// Start is Load and Init. A plugin that crashes on the way fails the start, and is
// started again by its supervisor (Options.Restart).
func (h *Host) Start(ctx context.Context, m *manifest.Manifest, opts StartOptions) (SessionInfo, error) {
	who, loaded, err := h.begin(ctx, m, opts.Runtime, &opts)
	if err != nil {
		return SessionInfo{}, err
	}
	return h.finishStart(ctx, who, loaded, opts)
}

// Outcome is how one of several starts ended.
type Outcome struct {
	Manifest *manifest.Manifest
	Info     SessionInfo
	Err      error
}

// StartAll starts many plugins side by side; their sessions are numbered in the
// order given. options gives each its own; nil means the defaults. done is
// called once a plugin, as each start ends, from several goroutines; it may be
// nil. StartAll returns all outcomes, in the order given.
func (h *Host) StartAll(ctx context.Context, list []*manifest.Manifest, options func(*manifest.Manifest) StartOptions, done func(Outcome)) []Outcome {
	outcomes := make([]Outcome, len(list))
	var all sync.WaitGroup
	for i, m := range list {
		var opts StartOptions
		if options != nil {
			opts = options(m)
		}
		who, loaded, err := h.begin(ctx, m, opts.Runtime, &opts)
		all.Go(func() {
			o := Outcome{Manifest: m, Err: err}
			if err == nil {
				o.Info, o.Err = h.finishStart(ctx, who, loaded, opts)
			}
			outcomes[i] = o
			if done != nil {
				done(o)
			}
		})
	}
	all.Wait()
	return outcomes
}

func (h *Host) finishStart(ctx context.Context, who *handle, loaded <-chan error, opts StartOptions) (SessionInfo, error) {
	info, err := h.outcome(ctx, who, loaded)
	if err != nil {
		return info, err
	}
	return h.Init(ctx, info.ID, opts)
}

// Stop ends a session in good order: its stop hook, its capabilities, its
// process; or cancels its restart, if it has crashed. It returns when nothing of
// the plugin runs any more. A session that is not there is no error.
func (h *Host) Stop(ctx context.Context, session string) (SessionInfo, error) {
	who := h.find(session)
	if who == nil {
		return SessionInfo{}, nil
	}
	info, err := h.request(ctx, who, func(reply chan<- error) any { return stop{reply} })
	if err != nil && protocol.CodeOf(err) != protocol.CodeCancelled { // it may have ended while we asked
		return info, err
	}
	// The supervisor knows of the end by now, and whether another session had just
	// taken the place of this one.
	heir, err := ask(ctx, who.sup, func(reply chan<- *handle) any { return heirOf{who.Session, reply} })
	if err == nil && heir != nil {
		return h.Stop(ctx, heir.Session)
	}
	return who.info(), nil
}

// Reload stops a session and starts its manifest again, as a new session.
func (h *Host) Reload(ctx context.Context, session string, opts StartOptions) (SessionInfo, error) {
	who, err := h.known(session, "Unable to reload missing plugin session: %s")
	if err != nil {
		return SessionInfo{}, err
	}
	if info, err := h.Stop(ctx, session); err != nil {
		return info, err
	}
	return h.Start(ctx, who.man, opts)
}

// ApplyConfiguration gives a session its configuration. It returns when the
// session is ready with it, or has failed.
func (h *Host) ApplyConfiguration(ctx context.Context, session string, c protocol.Config) (SessionInfo, error) {
	who, err := h.known(session, "Unable to configure plugin session: %s")
	if err != nil {
		return SessionInfo{}, err
	}
	return h.request(ctx, who, func(reply chan<- error) any { return configure{c, reply} })
}

// MarkConfigurationNeeded sends a session back to configuration-needed: until it
// gets one, nothing of it can be called.
func (h *Host) MarkConfigurationNeeded(ctx context.Context, session, reason string) (SessionInfo, error) {
	who, err := h.known(session, "Unable to update plugin session: %s")
	if err != nil {
		return SessionInfo{}, err
	}
	return h.request(ctx, who, func(reply chan<- error) any { return needConfiguration{reason, reply} })
}

// Sessions lists all sessions that are not stopped, oldest first.
func (h *Host) Sessions() []SessionInfo {
	list := h.handles()
	infos := make([]SessionInfo, len(list))
	for i, who := range list {
		infos[i] = who.info()
	}
	return infos
}

func (h *Host) handles() []*handle {
	h.mu.Lock()
	list := make([]*handle, 0, len(h.sessions))
	for _, who := range h.sessions {
		list = append(list, who)
	}
	h.mu.Unlock()
	slices.SortFunc(list, func(a, b *handle) int { return a.module.Index - b.module.Index })
	return list
}

// modules lists what registry:modules:sync tells.
func (h *Host) modules() []protocol.Module {
	list := h.handles()
	modules := make([]protocol.Module, len(list))
	for i, who := range list {
		modules[i] = who.module
	}
	return modules
}

// Inspection is all that is known about a plugin.
type Inspection struct {
	SessionInfo
	// Offers are its capabilities.
	Offers []capability.Offer `json:"offers"`
	// Requires is what it needs.
	Requires []string `json:"requires,omitempty"`
	// Log is the end of its log.
	Log []Logged `json:"log,omitempty"`
}

// Inspect tells all about a plugin, by its name or a session's id. An unknown
// one is a *protocol.Error with CodeNotFound.
func (h *Host) Inspect(name string) (Inspection, error) {
	who := h.find(name)
	if who == nil {
		who = h.current(name)
	}
	if who == nil {
		return Inspection{}, failure(protocol.CodeNotFound, name, "no plugin and no session is called "+name)
	}
	return Inspection{
		SessionInfo: who.info(),
		Offers:      h.offersOf(who.Plugin),
		Requires:    who.requires().Strings(),
		Log:         h.Logs(who.Plugin, inspectedLogLines),
	}, nil
}

// inspectedLogLines is how much of a plugin's log an inspection shows.
const inspectedLogLines = 20

func (h *Host) offersOf(plugin string) []capability.Offer {
	return slices.DeleteFunc(h.Offers(), func(o capability.Offer) bool { return o.Owner.Plugin != plugin })
}

// Capabilities lists one descriptor a key, in the order in which keys came up.
func (h *Host) Capabilities() []capability.Descriptor { return h.snapshot().List() }

// Offers lists every offer of every owner.
func (h *Host) Offers() []capability.Offer { return h.snapshot().Offers() }

func (h *Host) snapshot() *capability.Snapshot { return h.caps.Snapshot() }

// Wait returns when the capability is ready. A timeout of 0 or less means the
// host's limit (Timeouts.Capabilities).
func (h *Host) Wait(ctx context.Context, timeout time.Duration, key string) (capability.Descriptor, error) {
	if err := h.alive(); err != nil {
		return capability.Descriptor{}, err
	}
	d, err := h.caps.Wait(ctx, capability.Key(key), orDefault(timeout, h.timeouts.Capabilities))
	if errors.Is(err, capability.ErrClosed) {
		err = ErrShutdown
	}
	return d, err
}

// WaitAll returns when each of the capabilities has been ready; each has the full
// timeout, as in Wait.
func (h *Host) WaitAll(ctx context.Context, timeout time.Duration, keys ...string) error {
	if err := h.alive(); err != nil {
		return err
	}
	list := make([]capability.Key, len(keys))
	for i, k := range keys {
		list[i] = capability.Key(k)
	}
	err := h.caps.WaitAll(ctx, list, orDefault(timeout, h.timeouts.Capabilities))
	if errors.Is(err, capability.ErrClosed) {
		err = ErrShutdown
	}
	return err
}

// WaitCapability and CapabilitySnapshot are what a dialect's services use.
func (h *Host) WaitCapability(ctx context.Context, key string, timeout time.Duration) (json.RawMessage, error) {
	d, err := h.Wait(ctx, timeout, key)
	if err != nil {
		return nil, err
	}
	return json.Marshal(d)
}

// CapabilitySnapshot returns all descriptors as a JSON array.
func (h *Host) CapabilitySnapshot() (json.RawMessage, error) { return json.Marshal(h.Capabilities()) }

var _ protocol.Registry = (*Host)(nil)

// known returns the session with the id, or the refusal in the reference host's
// words, while the host may still be asked for something.
func (h *Host) known(session, refusal string) (*handle, error) {
	if err := h.alive(); err != nil {
		return nil, err
	}
	if who := h.find(session); who != nil {
		return who, nil
	}
	return nil, inReferenceWords(refusal, session)
}

// find returns the session with the id, or nil.
func (h *Host) find(session string) *handle {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[session]
}

// newest returns the session that has taken this one's place, or this one.
func (h *Host) newest(who *handle) *handle {
	if now := h.current(who.Plugin); now != nil {
		return now
	}
	return who
}

// current returns the newest session of a plugin, or nil.
func (h *Host) current(plugin string) *handle {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.plugins[plugin]
}

// remember lists a session, in place of the one that it succeeds, if any; once the
// host shuts down none is added.
func (h *Host) remember(who, old *handle) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.isDown.Load() {
		return ErrShutdown
	}
	if old != nil {
		delete(h.sessions, old.Session)
	}
	h.sessions[who.Session] = who
	h.plugins[who.Plugin] = who
	return nil
}

func (h *Host) forget(who *handle) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, who.Session)
	if h.plugins[who.Plugin] == who {
		delete(h.plugins, who.Plugin)
	}
}

func (h *Host) alive() error {
	if h.isDown.Load() {
		return ErrShutdown
	}
	return nil
}

// supervisor returns the one of the manifest's plugin, making it if need be.
func (h *Host) supervisor(m *manifest.Manifest) (*ref, error) {
	if m == nil {
		return nil, errors.New("expected a manifest, got nil")
	}
	name := m.PluginName()
	if name == "" {
		return nil, fmt.Errorf("%s: name: a plugin must have a name that is not blank", place(m))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.isDown.Load() {
		return nil, ErrShutdown
	}
	if sup := h.supervisors[name]; sup != nil {
		return sup, nil
	}
	sup := h.sys.spawn(func(self *ref) behavior {
		return newSupervisor(h, name, self)
	})
	h.supervisors[name] = sup
	return sup, nil
}

func (h *Host) newHandle(m *manifest.Manifest) *handle {
	index := int(h.nextIndex.Add(1) - 1)
	name := m.PluginName()
	return &handle{
		Origin:   Origin{Session: fmt.Sprintf("plugin-session-%d", index), Plugin: name},
		module:   protocol.Module{Name: m.Name, Index: index, ID: fmt.Sprintf("%s-%d", name, index), Plugin: name},
		man:      m,
		timeouts: h.timeoutsOf(m),
		pending:  orDefault(m.Host.Limits.PendingCalls, h.limits.Pending),
		needs:    m.Host.Requires,
		phase:    lifecycle.Session.Initial(),
		since:    time.Now(),
	}
}

// timeoutsOf lays a manifest's own limits over the host's.
func (h *Host) timeoutsOf(m *manifest.Manifest) Timeouts {
	own := m.Host.Timeouts
	return Timeouts{
		Load:         orDefault(own.Load, h.timeouts.Load),
		Init:         orDefault(own.Init, h.timeouts.Init),
		Setup:        orDefault(own.Setup, h.timeouts.Setup),
		Stop:         orDefault(own.Stop, h.timeouts.Stop),
		Call:         orDefault(own.Call, h.timeouts.Call),
		Capabilities: orDefault(own.Capabilities, h.timeouts.Capabilities),
	}
}
