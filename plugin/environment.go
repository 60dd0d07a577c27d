package plugin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// kindEnvironment begins the keys of the hooks of environment drivers.
const kindEnvironment = "environment:"

// EnvironmentHooks are what an environment driver can do; a hook that is nil it cannot. The
// names are Paperclip's.
type EnvironmentHooks struct {
	// ValidateConfig looks at an environment's configuration.
	ValidateConfig func(context.Context, EnvironmentConfig) (EnvironmentVerdict, error)
	// Probe looks at an environment.
	Probe func(context.Context, EnvironmentCall) (EnvironmentProbed, error)

	// AcquireLease, ResumeLease, ReleaseLease and DestroyLease are the life of a lease. The
	// last two may answer nil.
	AcquireLease func(context.Context, EnvironmentAcquire) (EnvironmentLease, error)
	ResumeLease  func(context.Context, EnvironmentResume) (EnvironmentLease, error)
	ReleaseLease func(context.Context, EnvironmentEnd) (*EnvironmentEnded, error)
	DestroyLease func(context.Context, EnvironmentEnd) (*EnvironmentEnded, error)
	// RealizeWorkspace makes the directory in which commands run.
	RealizeWorkspace func(context.Context, EnvironmentRealize) (EnvironmentWorkspace, error)

	// Execute runs a command. What it writes goes to the log, while it runs. The context
	// ends at the command's time limit, when its caller gives up, where the wire tells, and
	// with the worker: the handler ends all that it has started before it returns. An error
	// that is context.DeadlineExceeded, at that limit, is a result with TimedOut.
	Execute func(context.Context, EnvironmentExecution, *ExecutionLog) (EnvironmentExecuted, error)
	// Log bounds that log.
	Log ExecutionLogOptions

	// SyncIn and SyncOut move files.
	SyncIn  func(context.Context, EnvironmentSync) (EnvironmentSynced, error)
	SyncOut func(context.Context, EnvironmentSync) (EnvironmentSynced, error)
	// RunnerIngressEndpoint tells how a port of a lease is reached.
	RunnerIngressEndpoint func(context.Context, EnvironmentIngress) (EnvironmentEndpoint, error)

	// StartInteractiveSetup and those that follow let somebody make a template.
	StartInteractiveSetup  func(context.Context, EnvironmentSetup) (EnvironmentSetupSession, error)
	GetInteractiveSetup    func(context.Context, EnvironmentSetupQuery) (EnvironmentSetupSession, error)
	CaptureTemplate        func(context.Context, EnvironmentCapture) (EnvironmentTemplate, error)
	CancelInteractiveSetup func(context.Context, EnvironmentSetupCancel) (EnvironmentSetupCancelled, error)
	DeleteTemplate         func(context.Context, EnvironmentTemplateDelete) (EnvironmentTemplateDeleted, error)

	// Terminal serves a pseudo-terminal for a login, Channel a program that talks in bytes.
	// See [Route] for what they have to do. A host calls them for plugins that run as
	// workers alone.
	Terminal func(context.Context, TerminalRequest, *Route) (Exit, error)
	Channel  func(context.Context, ChannelRequest, *Route) (Exit, error)
}

// Environment makes the plugin an environment driver. Each hook but the last two is offered
// as "environment:DRIVER.hook", e.g. "environment:workshop.acquireLease". The driver's key
// must stand in the manifest, among its environmentDrivers, for a Paperclip host to use it.
// A driver that is there already panics, as an offer would.
func Environment(d *Definition, driver string, hooks EnvironmentHooks) {
	if _, again := d.environments[driver]; again {
		panic(fmt.Sprintf("plugin %s has the environment driver %s twice", d.name, driver))
	}
	if d.environments == nil {
		d.environments = map[string]EnvironmentHooks{}
	}
	d.environments[driver] = hooks
	hooks.offer(d, driver)
}

func (h EnvironmentHooks) offer(d *Definition, driver string) {
	hook(d, driver, "validateConfig", h.ValidateConfig)
	hook(d, driver, "probe", h.Probe)
	hook(d, driver, "acquireLease", h.AcquireLease)
	hook(d, driver, "resumeLease", h.ResumeLease)
	hook(d, driver, "releaseLease", h.ReleaseLease)
	hook(d, driver, "destroyLease", h.DestroyLease)
	hook(d, driver, "realizeWorkspace", h.RealizeWorkspace)
	hook(d, driver, "syncIn", h.SyncIn)
	hook(d, driver, "syncOut", h.SyncOut)
	hook(d, driver, "runnerIngressEndpoint", h.RunnerIngressEndpoint)
	hook(d, driver, "startInteractiveSetup", h.StartInteractiveSetup)
	hook(d, driver, "getInteractiveSetup", h.GetInteractiveSetup)
	hook(d, driver, "captureTemplate", h.CaptureTemplate)
	hook(d, driver, "cancelInteractiveSetup", h.CancelInteractiveSetup)
	hook(d, driver, "deleteTemplate", h.DeleteTemplate)
	if h.Execute != nil {
		hook(d, driver, "execute", h.execute)
	}
}

// hookInput is a pointer to the parameters of a hook.
type hookInput[In any] interface {
	*In
	complete(ctx context.Context, driver string)
}

// hook offers one hook of a driver, if it is there.
func hook[In any, P hookInput[In], Out any](d *Definition, driver, name string, handle func(context.Context, In) (Out, error)) {
	if handle == nil {
		return
	}
	Handle(d, kindEnvironment+driver+"."+name, typed(func(ctx context.Context, in In) (Out, error) {
		P(&in).complete(ctx, driver)
		return handle(ctx, in)
	}))
}

// execute runs a command and completes its result.
func (h EnvironmentHooks) execute(ctx context.Context, e EnvironmentExecution) (EnvironmentExecuted, error) {
	limited := ctx
	if most := e.timeout(); most > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, most)
		defer cancel()
	}
	log := newExecutionLog(limited, h.Log)
	done, err := h.Execute(limited, e, log)
	log.end(ctx)
	if err != nil && errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && limited.Err() != nil {
		done, err = EnvironmentExecuted{TimedOut: true}, nil
	}
	if err != nil {
		return EnvironmentExecuted{}, err
	}
	return log.complete(done)
}

// Exit is how the program of a terminal or a channel ended; see [Exited].
type Exit = protocol.Exit

// Exited is the exit with a status.
func Exited(code int) Exit { return Exit{Code: code, HasCode: true} }

// ErrNotOffered tells that the host knows no such thing, as one into which the plugin is
// compiled knows no event streams.
var ErrNotOffered = errors.New("not offered by this host")

// notOffered says what a host does not know.
func notOffered(plugin, what string) error {
	return &protocol.Error{Code: protocol.CodeNotFound, Plugin: plugin, Message: what, Err: ErrNotOffered}
}

// environmentMethod is the wire's method of a hook's key, "" for another key.
func environmentMethod(key string) string {
	name, ok := strings.CutPrefix(key, kindEnvironment)
	dot := strings.LastIndexByte(name, '.')
	if !ok || dot <= 0 || dot == len(name)-1 {
		return ""
	}
	hook := name[dot+1:]
	return strings.TrimSuffix(kindEnvironment, ":") + strings.ToUpper(hook[:1]) + hook[1:]
}

// environmentKey is the key of a driver's hook by the wire's method.
func environmentKey(driver, method string) string {
	hook := strings.TrimPrefix(method, strings.TrimSuffix(kindEnvironment, ":"))
	return kindEnvironment + driver + "." + strings.ToLower(hook[:1]) + hook[1:]
}

// routeMethods are the wire's methods of terminals and channels that some driver has: both
// words that releases have for a terminal.
func (d *Definition) routeMethods() (methods []string) {
	has := func(h func(EnvironmentHooks) bool) bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(d.environments)), h)
	}
	if has(func(h EnvironmentHooks) bool { return h.Terminal != nil }) {
		methods = append(methods, "setupTokenPtyOpen", "setupTokenPtyInput", "setupTokenPtyStop", "setupTokenPtyClose",
			"loginPtyOpen", "loginPtyInput", "loginPtyStop", "loginPtyClose")
	}
	if has(func(h EnvironmentHooks) bool { return h.Channel != nil }) {
		methods = append(methods, "duplexChannelOpen", "duplexChannelWrite", "duplexChannelStop", "duplexChannelClose")
	}
	return methods
}
