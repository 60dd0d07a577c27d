package paperclip

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

var (
	_ protocol.Initializer = Dialect{}
	_ protocol.Timing      = Dialect{}
	_ protocol.Undeclared  = Dialect{}
	_ protocol.Framing     = Dialect{}
)

// Initialize returns the parameters of the method initialize. The database's
// namespace is null: there is no database.
func (Dialect) Initialize(b protocol.Birth) (json.RawMessage, error) {
	version := member(b.Manifest, "apiVersion")
	if version == nil {
		return nil, errors.New("the manifest has no apiVersion: expected the number 1; was its module evaluated?")
	}
	config := b.Config.Full
	if config == nil {
		config = json.RawMessage(`{}`)
	}
	host := newObject().str("instanceId", b.Host).str("hostVersion", b.Version)
	o := newObject().raw("manifest", b.Manifest).raw("config", config).raw("instanceInfo", host.done()).raw("apiVersion", version)
	return o.raw("databaseNamespace", json.RawMessage("null")).done(), nil
}

// MaxFrame is 128 MiB: the reference host takes as many UTF-16 units.
func (Dialect) MaxFrame() int { return 128 << 20 }

// Environment is what the reference host gives to the worker of a plugin beside what
// every worker gets here, of the host's own environment where lookup finds it there.
func Environment(plugin string, lookup func(string) (string, bool)) map[string]string {
	env := map[string]string{"NODE_PATH": "", "NODE_ENV": "production", "TZ": "UTC"}
	for name := range env {
		if value, ok := lookup(name); ok {
			env[name] = value
		}
	}
	env["PAPERCLIP_PLUGIN_ID"] = plugin
	return env
}

// The limits on time of the reference host, where nobody names another.
const (
	// InitializeTimeout is for initialize, with the questions about the
	// configuration that follow it.
	InitializeTimeout = 15 * time.Second
	// ShutdownTimeout is for shutdown.
	ShutdownTimeout = 10 * time.Second
	// JobTimeout is for one run of a job.
	JobTimeout = 5 * time.Minute
	// EnvironmentGrace is what a hook of an environment gets beyond the time that
	// it is asked to take, or beyond the usual time.
	EnvironmentGrace = 30 * time.Second
	// MaxCallTimeout bounds the usual time of a call. A caller may name a longer one.
	MaxCallTimeout = 15 * time.Minute
)

// StepTimeout is as in the reference host.
func (Dialect) StepTimeout(step protocol.Step) time.Duration {
	switch step {
	case protocol.StepSetup:
		return InitializeTimeout
	case protocol.StepStop:
		return ShutdownTimeout
	default:
		return 0
	}
}

// CallTimeout is as in the reference host. A hook of an environment may say itself,
// by "timeoutMs", how long it will take.
func (Dialect) CallTimeout(c protocol.Call, usual time.Duration) time.Duration {
	usual = min(usual, MaxCallTimeout)
	switch kind, _, _ := strings.Cut(c.Key, ":"); kind {
	case kindJob:
		return JobTimeout
	case kindEnvironment:
		if asked := milliseconds(member(c.Input, "timeoutMs")); asked > 0 {
			usual = asked
		}
		return usual + EnvironmentGrace
	default:
		return usual
	}
}

// milliseconds reads a timeout as the reference host does: a finite number above 0,
// without its fraction, at least 1 ms and at most what a timer of Node takes. 0
// stands for anything else.
func milliseconds(value json.RawMessage) time.Duration {
	var ms float64
	if value == nil || json.Unmarshal(value, &ms) != nil || ms <= 0 {
		return 0
	}
	return time.Duration(min(max(math.Trunc(ms), 1), math.MaxInt32)) * time.Millisecond
}

// Answers tells that a worker may have any data and any action, since it registers
// them with itself alone; the host may call any method of the wire besides.
func (Dialect) Answers(c protocol.Call) bool {
	switch kind, _, _ := strings.Cut(c.Key, ":"); kind {
	case kindData, kindAction:
		return true
	default:
		return c.Caller == "" && strings.HasPrefix(c.Key, MethodPrefix)
	}
}
