package admin

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// PluginList has all plugins: those that the host is to run in their order, then
// others, and guests, an entry for each instance. One that has no session is in the phase stopped and has no session's id.
type PluginList struct {
	Plugins []PluginInfo `json:"plugins"`
}

// PluginInfo is a plugin and its newest session.
type PluginInfo struct {
	actors.SessionInfo
	// Disabled tells that the host does not start it.
	Disabled bool `json:"disabled,omitempty"`
	// Unapproved are the grants that it asks for and that wait to be approved.
	Unapproved []string `json:"unapproved,omitempty"`
}

// PluginDetail is all that is known about a plugin.
type PluginDetail struct {
	actors.Inspection
	// Disabled is PluginInfo's, Unapproved too.
	Disabled   bool     `json:"disabled,omitempty"`
	Unapproved []string `json:"unapproved,omitempty"`
	// LogFile is where its log is kept; nil for nowhere.
	LogFile *LogFile `json:"logFile,omitempty"`
}

// CapabilityList has what is offered, and by whom.
type CapabilityList struct {
	Capabilities []capability.Offer `json:"capabilities"`
}

func (s *Server) getHost(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, http.StatusOK, s.info())
}

func (s *Server) getPlugins(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, http.StatusOK, PluginList{s.plugins()})
}

// plugins lists the newest session of each plugin.
func (s *Server) plugins() []PluginInfo {
	newest := map[string]actors.SessionInfo{}
	told := s.roster()
	var others []string
	var guests []PluginInfo
	for _, one := range s.host.Sessions() { // the oldest first
		if isGuest(one) {
			guests = append(guests, s.told(one))
			continue
		}
		if _, seen := newest[one.Plugin]; !seen && !contains(told, one.Plugin) {
			others = append(others, one.Plugin)
		}
		newest[one.Plugin] = one
	}
	list := make([]PluginInfo, 0, len(newest))
	for _, name := range slices.Concat(told, others) {
		one, ok := newest[name]
		if !ok {
			one = stopped(name)
		}
		list = append(list, s.told(one))
	}
	return append(list, guests...)
}

// pluginNames are the names of all plugins, each once.
func (s *Server) pluginNames() (names []string) {
	seen := map[string]bool{}
	for _, one := range s.plugins() {
		if !seen[one.Plugin] {
			seen[one.Plugin] = true
			names = append(names, one.Plugin)
		}
	}
	return names
}

// roster has the names of those that the host is to run.
func (s *Server) roster() []string {
	if s.opts.Roster != nil {
		return s.opts.Roster()
	}
	return s.opts.Plugins
}

// told is what the API tells of a session.
func (s *Server) told(one actors.SessionInfo) PluginInfo {
	return PluginInfo{one, !isGuest(one) && s.disabled(one.Plugin), s.unapproved(one)}
}

func (s *Server) disabled(plugin string) bool {
	return s.opts.Disabled != nil && s.opts.Disabled(plugin)
}

// stopped is a plugin that has no session.
func stopped(plugin string) actors.SessionInfo {
	return actors.SessionInfo{Plugin: plugin, Phase: lifecycle.Stopped, Worker: actors.WorkerInfo{State: lifecycle.WorkerStopped}}
}

// find looks for a plugin by its name, a guest's with its instance where there are
// several, or by a session's id.
func (s *Server) find(name string) (PluginInfo, error) { return oneOf(s.plugins(), name) }

// findAny is find for what is the same for all instances of a guest.
func (s *Server) findAny(name string) (PluginInfo, error) {
	list := s.plugins()
	one, err := oneOf(list, name)
	if protocol.CodeOf(err) == protocol.CodeAmbiguous {
		i := slices.IndexFunc(list, func(one PluginInfo) bool { return one.Plugin == name })
		return list[i], nil
	}
	return one, err
}

// maxNames is how many names an error lists.
const maxNames = 20

func (s *Server) getPlugin(w http.ResponseWriter, r *http.Request) error {
	one, err := s.find(r.PathValue("name"))
	if err != nil {
		return err
	}
	detail, err := s.host.Inspect(cmp.Or(one.ID, one.Plugin))
	if err != nil { // it is stopped
		detail = actors.Inspection{SessionInfo: one.SessionInfo, Offers: []capability.Offer{}, Log: s.host.Logs(one.Plugin, inspectedLines)}
	}
	return answer(w, http.StatusOK, PluginDetail{detail, one.Disabled, one.Unapproved, s.fileOf(one.Plugin)})
}

// inspectedLines is how much of a stopped plugin's log is shown, as Host.Inspect does.
const inspectedLines = 20

func (s *Server) getCapabilities(w http.ResponseWriter, r *http.Request) error {
	q, err := queryOf(r, "plugin", "kind")
	if err != nil {
		return err
	}
	if q.kind != "" && !slices.Contains(capability.Kinds(), capability.Kind(q.kind)) {
		return invalid("?kind=%s: expected one of %s", q.kind, join(capability.Kinds()))
	}
	owner, err := s.owner(q.plugin)
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(s.host.Offers(), func(o capability.Offer) bool {
		return owner.Plugin != "" && o.Owner.Plugin != owner.Plugin || owner.Instance != "" && o.Owner.Instance != owner.Instance ||
			q.kind != "" && string(o.Key.Kind()) != q.kind
	})
	return answer(w, http.StatusOK, CapabilityList{slices.Concat([]capability.Offer{}, list)})
}

// owner is whose offers are asked for: a plugin with all its instances, by its name, one of
// them, or the host; "" is for all.
func (s *Server) owner(name string) (capability.Owner, error) {
	if name == "" || name == capability.HostOwner.Plugin {
		return capability.Owner{Plugin: name}, nil
	}
	one, err := s.findAny(name)
	switch {
	case err == nil && one.Plugin == name:
		return capability.Owner{Plugin: name}, nil
	case err != nil:
		return capability.Owner{}, &protocol.Error{Code: codeNotFound, Message: fmt.Sprintf("%v, and the host itself, %s", err, capability.HostOwner.Plugin)}
	}
	return capability.Owner{Plugin: one.Plugin, Instance: one.Instance}, nil
}

func join(kinds []capability.Kind) string {
	names := make([]string, len(kinds))
	for i, one := range kinds {
		names[i] = string(one)
	}
	return strings.Join(names, ", ")
}

// command makes an order to a plugin a handler.
func (s *Server) command(name string, order func(context.Context, actors.SessionInfo) (actors.SessionInfo, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		one, err := s.find(r.PathValue("name"))
		if err != nil {
			return err
		}
		if err := mayOrder(name, one.SessionInfo); err != nil {
			return err
		}
		ctx, cancel := s.ordered(r)
		defer cancel()
		after, err := order(ctx, one.SessionInfo)
		if s.opts.Ordered != nil {
			s.opts.Ordered(name, one.Plugin, err)
		}
		if err != nil {
			return about(one.Plugin, err)
		}
		if after.Plugin == "" { // it went meanwhile
			after = stopped(one.Plugin)
			after.Instance = one.Instance
		}
		return answer(w, http.StatusOK, s.told(after))
	}
}

// ordered is the context of an order: one that was given is carried out, also when whoever
// gave it does not wait for that.
func (s *Server) ordered(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.WithoutCancel(r.Context()), s.limits.Command, &protocol.Error{
		Code: protocol.CodeTimeout, Message: fmt.Sprintf("the control API waits for %s at most", s.limits.Command),
	})
}

func (s *Server) start(ctx context.Context, one actors.SessionInfo) (actors.SessionInfo, error) {
	switch one.Phase {
	case lifecycle.Stopped, lifecycle.Failed:
	default:
		return one, invalid("plugin %s is not stopped: it is %s (%s); to start it anew, reload it", one.Plugin, one.Phase, one.ID)
	}
	if s.disabled(one.Plugin) {
		return one, invalid("plugin %s is disabled: enable it, which starts it too", one.Plugin)
	}
	if s.opts.Start == nil || !contains(s.roster(), one.Plugin) {
		return one, invalid("plugin %s cannot be started from here: it is none of those that this host was told to run", one.Plugin)
	}
	s.byHand.set(one.Plugin, false)
	return s.opts.Start(ctx, one.Plugin)
}

func (s *Server) stop(ctx context.Context, one actors.SessionInfo) (actors.SessionInfo, error) {
	if !isGuest(one) {
		s.byHand.set(one.Plugin, true)
	}
	if one.ID == "" {
		return one, nil
	}
	return s.host.Stop(ctx, one.ID)
}

func (s *Server) reload(ctx context.Context, one actors.SessionInfo) (actors.SessionInfo, error) {
	switch {
	case one.ID == "" || s.disabled(one.Plugin):
		return s.start(ctx, one) // or its refusal
	case s.opts.Reload == nil:
		return one, invalid("plugin %s cannot be reloaded from here", one.Plugin)
	}
	s.byHand.set(one.Plugin, false)
	return s.opts.Reload(ctx, one.Plugin, one.ID)
}

// enable has a plugin started with the host from now on, and starts it where it is down.
func (s *Server) enable(ctx context.Context, one actors.SessionInfo) (actors.SessionInfo, error) {
	if err := s.setDisabled(ctx, one.Plugin, false); err != nil {
		return one, err
	}
	switch one.Phase {
	case lifecycle.Stopped, lifecycle.Failed:
		return s.start(ctx, one)
	default:
		return one, nil
	}
}

// disable stops a plugin, for this host and the next ones. First it is remembered: what
// cannot be kept changes nothing.
func (s *Server) disable(ctx context.Context, one actors.SessionInfo) (actors.SessionInfo, error) {
	if err := s.setDisabled(ctx, one.Plugin, true); err != nil {
		return one, err
	}
	if now, err := s.find(one.Plugin); err == nil { // it may have been started meanwhile
		one = now.SessionInfo
	}
	return s.stop(ctx, one)
}

func (s *Server) setDisabled(ctx context.Context, plugin string, is bool) error {
	switch {
	case s.opts.SetDisabled == nil:
		return invalid("plugin %s: this host keeps nothing for the next one: stop and start are what it can do", plugin)
	case !contains(s.roster(), plugin):
		return notTold(plugin)
	}
	return s.opts.SetDisabled(ctx, plugin, is)
}

// stoppedByHand has the plugins that somebody has stopped: nobody waits for those to be
// ready. The zero value has none.
type stoppedByHand struct {
	mu    sync.Mutex
	names map[string]bool
}

func (b *stoppedByHand) set(plugin string, is bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.names == nil {
		b.names = map[string]bool{}
	}
	if is {
		b.names[plugin] = true
	} else {
		delete(b.names, plugin)
	}
}

func (b *stoppedByHand) has(plugin string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.names[plugin]
}

// Readiness tells whether every plugin is ready or degraded, but for those that are
// disabled or were stopped by hand, and for guests, whom nobody awaits.
type Readiness struct {
	Ready bool `json:"ready"`
	// Starting tells that the host does not know its plugins yet: it reads their manifests.
	Starting bool `json:"starting,omitempty"`
	// Plugins is how many are awaited.
	Plugins int `json:"plugins"`
	// NotReady are those that are not there yet, with the reason where one is known.
	NotReady []NotReady `json:"notReady,omitempty"`
	// Unapproved are those that run without some of what they ask for, until it is
	// approved; they may be ready.
	Unapproved []Unapproved `json:"unapproved,omitempty"`
}

// NotReady is a plugin that is neither ready nor degraded.
type NotReady struct {
	Plugin string          `json:"plugin"`
	Phase  lifecycle.State `json:"phase"`
	Reason string          `json:"reason,omitempty"`
	// Waits are the capabilities that it lacks; NextTry is when it will be started
	// again, where it has crashed.
	Waits   []string  `json:"waits,omitempty"`
	NextTry time.Time `json:"nextTry,omitzero"`
	// GivenUp tells that it crashed too often, and is not started but by hand.
	GivenUp bool `json:"givenUp,omitempty"`
}

func (s *Server) readiness() Readiness {
	var r Readiness
	for _, one := range s.plugins() {
		if isGuest(one.SessionInfo) || one.Disabled || s.byHand.has(one.Plugin) && one.ID == "" {
			continue
		}
		r.Plugins++
		if len(one.Unapproved) > 0 {
			r.Unapproved = append(r.Unapproved, Unapproved{one.Plugin, one.Unapproved})
		}
		if one.Phase != lifecycle.Ready && one.Phase != lifecycle.Degraded {
			r.NotReady = append(r.NotReady, NotReady{
				one.Plugin, one.Phase, one.Reason, one.Waits, one.Worker.NextRestart, one.Worker.GivenUp,
			})
		}
	}
	r.Ready = len(r.NotReady) == 0
	return r
}

func (s *Server) getReady(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, http.StatusOK, s.readiness())
}

// getReadyz says by its status what getReady says in its body.
func (s *Server) getReadyz(w http.ResponseWriter, _ *http.Request) error {
	r := s.readiness()
	status := http.StatusOK
	if !r.Ready {
		status = http.StatusServiceUnavailable
	}
	return answer(w, status, r)
}

// Health says that the host answers.
type Health struct {
	Status string `json:"status"`
}

func (s *Server) getHealth(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, http.StatusOK, Health{"ok"})
}
