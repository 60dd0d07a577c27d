package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/paperclip"
	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/memory"
	"github.com/airi-host/airi-host/transport/process"
)

// newborn is a far end that speaks Paperclip: its wire wants to be told at birth who
// it is. born counts how often it was connected to.
type newborn struct {
	far
	born int
	// dial, if set, is what connecting waits for.
	dial func(context.Context) error
}

func expecting(t *testing.T, opts Options, p paperclip.Plugin) *newborn {
	t.Helper()
	opts.ID, opts.Version = "h", "v"
	opts.Dialects = append(opts.Dialects, paperclip.Dialect{Plugin: func(protocol.Settings) paperclip.Plugin { return p }})
	n := &newborn{far: far{t: t, host: startHostWith(t, opts)}}
	n.host.connect = func(ctx context.Context, _ *handle, _ manifest.Entry) (transport.Conn, *process.Process, error) {
		n.born++
		if n.dial != nil {
			if err := n.dial(ctx); err != nil {
				return nil, nil, err
			}
		}
		var near *memory.Conn
		near, n.conn = memory.Pipe(memory.Options{})
		return near, nil, nil
	}
	return n
}

const newbornManifest = `{"id":"far","apiVersion":1}`

func newbornFields(fields ...field) *manifest.Manifest {
	m := farManifest()
	m.Dialect, m.Paperclip = manifest.DialectPaperclip, &manifest.Paperclip{ID: "far", Raw: json.RawMessage(newbornManifest)}
	for _, set := range fields {
		set(m)
	}
	return m
}

// starts begins the start of the worker, with a configuration or none.
func (n *newborn) starts(config string, fields ...field) <-chan outcomeOf {
	n.t.Helper()
	var opts StartOptions
	if config != "" {
		opts.Config = &protocol.Config{ID: "c", Revision: 1, Full: json.RawMessage(config)}
	}
	done := make(chan outcomeOf, 1)
	go func() {
		info, err := n.host.Start(context.Background(), newbornFields(fields...), opts)
		done <- outcomeOf{result: string(info.Phase), err: err}
	}()
	settle()
	return done
}

func initializeFrame(config string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"manifest":` + newbornManifest + `,"config":` + config +
		`,"instanceInfo":{"instanceId":"h","hostVersion":"v"},"apiVersion":1,"databaseNamespace":null}}`
}

// answers answers a call of the host's.
func (n *newborn) answers(id, result string) {
	n.t.Helper()
	n.says(`{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`)
}

// grown is a worker that is ready.
func grown(t *testing.T, opts Options, p paperclip.Plugin, supported string, fields ...field) *newborn {
	t.Helper()
	n := expecting(t, opts, p)
	done := n.starts("", fields...)
	n.hears(initializeFrame("{}"))
	n.answers("1", `{"ok":true,"supportedMethods":`+supported+`}`)
	require.Equal(t, outcomeOf{result: "ready"}, <-done)
	return n
}

// configures gives the session a configuration; it need not be waiting for one.
func (n *newborn) configures(config string) <-chan error {
	n.t.Helper()
	configured := make(chan error, 1)
	go func() {
		_, err := n.host.ApplyConfiguration(context.Background(), "plugin-session-0", protocol.Config{Full: json.RawMessage(config)})
		configured <- err
	}()
	settle()
	return configured
}

func TestBirth_aWorkerIsTheLastToCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := expecting(t, Options{}, paperclip.Plugin{})
		done := n.starts("", requires("service:late"), needsConfiguration)
		wantPhase(t, n.host, "far", lifecycle.WaitingDeps)
		_, err := n.host.SetCapability(t.Context(), "service:late", lifecycle.CapReady, nil)
		require.NoError(t, err)
		require.Equal(t, outcomeOf{result: "configuration-needed"}, <-done)
		require.Zero(t, n.born, "nothing is settled yet")

		configured := n.configures(`{"a":9007199254740993}`)
		require.Equal(t, 1, n.born)
		n.hears(initializeFrame(`{"a":9007199254740993}`))
		wantPhase(t, n.host, "far", lifecycle.Configured)
		n.answers("1", `{"ok":true}`)
		require.NoError(t, <-configured)
		wantPhase(t, n.host, "far", lifecycle.Ready)
	})
}

func TestBirth_aChangedConfigurationIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := grown(t, Options{}, paperclip.Plugin{}, `[]`)
		_, err := n.host.MarkConfigurationNeeded(t.Context(), "plugin-session-0", "another one")
		require.NoError(t, err)
		configured := n.configures(`{"a":1}`)
		n.hears(`{"jsonrpc":"2.0","id":2,"method":"configChanged","params":{"config":{"a":1}}}`)
		wantPhase(t, n.host, "far", lifecycle.Configured)
		n.answers("2", "null")
		require.NoError(t, <-configured)
		wantPhase(t, n.host, "far", lifecycle.Ready)
		require.Equal(t, 1, n.born)
	})
}

func TestBirth_aRefusedConfigurationIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := expecting(t, Options{}, paperclip.Plugin{ValidateConfig: true})
		done := n.starts(`{"a":1}`)
		n.hears(initializeFrame(`{"a":1}`))
		n.answers("1", `{"ok":true,"supportedMethods":["validateConfig"]}`)
		n.hears(`{"jsonrpc":"2.0","id":2,"method":"validateConfig","params":{"config":{"a":1}}}`)
		n.answers("2", `{"ok":false,"errors":["a: expected 2"]}`)
		require.Equal(t, outcomeOf{result: "configuration-needed"}, <-done)
		require.Equal(t, "plugin far refuses its configuration: a: expected 2",
			wantPhase(t, n.host, "far", lifecycle.ConfigurationNeeded).Reason)

		configured := n.configures(`{"a":2}`)
		n.hears(`{"jsonrpc":"2.0","id":3,"method":"validateConfig","params":{"config":{"a":2}}}`)
		n.answers("3", `{"ok":true}`)
		n.hears(`{"jsonrpc":"2.0","id":4,"method":"configChanged","params":{"config":{"a":2}}}`)
		n.answers("4", "null")
		require.NoError(t, <-configured)
		wantPhase(t, n.host, "far", lifecycle.Ready)
	})
}

func TestBirth_aConfigurationThatComesMeanwhileIsTheOneTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := expecting(t, Options{}, paperclip.Plugin{})
		n.dial = func(context.Context) error { time.Sleep(time.Second); return nil }
		done := n.starts("")
		configured := n.configures(`{"a":1}`)
		time.Sleep(2 * time.Second)
		settle()
		n.hears(initializeFrame(`{"a":1}`))
		n.answers("1", `{"ok":true}`)
		require.Equal(t, outcomeOf{result: "ready"}, <-done)
		require.NoError(t, <-configured)
		require.Equal(t, 1, n.born)
	})
}

func TestBirth_fails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := expecting(t, Options{}, paperclip.Plugin{})
		n.dial = func(context.Context) error { return errors.New("no node on PATH") }
		require.EqualError(t, (<-n.starts("")).err, "no node on PATH")
		wantPhase(t, n.host, "far", lifecycle.Failed)
	})
}

func TestBirth_initializeHasItsOwnLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := expecting(t, Options{}, paperclip.Plugin{})
		began, done := time.Now(), n.starts("")
		n.hears(initializeFrame("{}"))
		require.EqualError(t, (<-done).err,
			"setup of plugin far did not finish within 15s: mend its hook, or raise airi-host.timeouts.setup in its manifest")
		require.Equal(t, 15*time.Second, time.Since(began))
	})
}

func TestBirth_aStopComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := expecting(t, Options{}, paperclip.Plugin{})
		n.dial = func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
		done := n.starts("")
		_, err := n.host.Stop(t.Context(), "plugin-session-0")
		require.NoError(t, err)
		wantCode(t, (<-done).err, protocol.CodeCancelled, "plugin far was stopped")
		require.Empty(t, n.host.Sessions())
	})
}

func TestBirth_aManifestThatWasNotEvaluated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := expecting(t, Options{}, paperclip.Plugin{})
		done := n.starts("", func(m *manifest.Manifest) { m.File = "far/package.json" })
		require.NotNil(t, done)
		n.hears(initializeFrame("{}"))
		m := newbornFields(named("raw"))
		m.Paperclip.Raw = nil
		_, err := n.host.Start(t.Context(), m, StartOptions{})
		require.EqualError(t, err, "plugin raw: far/plugin.json: the manifest has no apiVersion: expected the number 1; was its module evaluated?")
	})
}

func TestBirth_shutdownIsAStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := grown(t, Options{}, paperclip.Plugin{}, `[]`)
		gone := make(chan error, 1)
		go func() {
			_, err := n.host.Stop(context.Background(), "plugin-session-0")
			gone <- err
		}()
		settle()
		n.hears(`{"jsonrpc":"2.0","id":2,"method":"shutdown","params":{}}`)
		n.answers("2", "null")
		require.NoError(t, <-gone)
		n.hearsTheEnd()
	})
}

func TestUndeclared_handlersAreReachedThroughTheirPlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := grown(t, Options{}, paperclip.Plugin{}, `[]`)
		done := beginCall(t, n.host, protocol.Call{Key: "data:x", Plugin: "far"})
		n.hears(`{"jsonrpc":"2.0","id":2,"method":"getData","params":{"key":"x","params":{}}}`)
		n.answers("2", "7")
		require.Equal(t, outcomeOf{result: "7"}, <-done)

		_, err := callKey(t, n.host, "data:x")
		wantCode(t, err, protocol.CodeNotFound, "nobody offers data:x: if a plugin has it that announces no such thing, name the plugin")
		_, err = n.host.Invoke(t.Context(), protocol.Call{Key: "tool:x", Plugin: "far"})
		wantCode(t, err, protocol.CodeNotFound, "plugin far does not offer tool:x")

		done = beginCall(t, n.host, protocol.Call{Key: "paperclip:health", Plugin: "far"})
		n.hears(`{"jsonrpc":"2.0","id":3,"method":"health","params":{}}`)
		n.answers("3", `{"status":"ok"}`)
		require.Equal(t, outcomeOf{result: `{"status":"ok"}`}, <-done)
		_, err = n.host.Invoke(t.Context(), protocol.Call{Key: "paperclip:health", Plugin: "far", Caller: "other"})
		wantCode(t, err, protocol.CodeNotFound, "plugin far does not offer paperclip:health")
	})
}

func TestUndeclared_callsWaitForAPluginThatStartsAndNotForOneThatStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := expecting(t, Options{}, paperclip.Plugin{})
		started := n.starts("")
		done := beginCall(t, n.host, protocol.Call{Key: "data:x", Plugin: "far"})
		n.hears(initializeFrame("{}"))
		n.answers("1", `{"ok":true}`)
		<-started
		n.hears(`{"jsonrpc":"2.0","id":2,"method":"getData","params":{"key":"x","params":{}}}`)

		go func() { _, _ = n.host.Stop(context.Background(), "plugin-session-0") }()
		settle()
		_, err := n.host.Invoke(t.Context(), protocol.Call{Key: "data:x", Plugin: "far"})
		wantCode(t, err, protocol.CodeNotReady, "plugin far is being stopped: data:x was not called")
		n.answers("2", "1")
		require.Equal(t, outcomeOf{result: "1"}, <-done)
		n.hears(`{"jsonrpc":"2.0","id":3,"method":"shutdown","params":{}}`)
		n.answers("3", "null")
	})
}

func TestTiming_ofTheEcosystemHoldsUnlessSomebodySaysOtherwise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := grown(t, Options{}, paperclip.Plugin{}, `[]`, func(m *manifest.Manifest) {
			m.Paperclip.Jobs = []manifest.PaperclipJob{{Key: "sync"}}
		})
		began := time.Now()
		_, err := callKey(t, n.host, "job:sync")
		wantCode(t, err, protocol.CodeTimeout,
			"job:sync of plugin far did not answer before the deadline (the limit of paperclip for such calls)")
		require.Equal(t, 5*time.Minute, time.Since(began))

		h := startHostWith(t, Options{Dialects: []protocol.Dialect{paperclip.Dialect{}}, Timeouts: Timeouts{Stop: time.Second}})
		m := newbornFields(bounded(func(own *manifest.Timeouts) { own.Setup = time.Minute }))
		require.Equal(t, time.Minute, h.timeoutsOf(m, h.bounds.Load()).Setup, "the manifest's")
		require.Equal(t, time.Second, h.timeoutsOf(m, h.bounds.Load()).Stop, "the host's")
		require.Equal(t, 15*time.Second, h.timeoutsOf(newbornFields(), h.bounds.Load()).Setup, "the ecosystem's")
	})
}

func TestConfig_isToldToCompiledInPlugins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		p := plugin.Define("a").OnSetup(func(_ context.Context, s *plugin.Session) error {
			config := struct{ N int }{-1}
			err := s.Config(&config)
			seen = append(seen, fmt.Sprint(config.N))
			return err
		})
		h := startHost(t, p)
		info, err := h.Start(t.Context(), manifestFor("a"), StartOptions{Config: &protocol.Config{Full: json.RawMessage(`{"n":1}`)}})
		require.NoError(t, err)
		_, err = h.MarkConfigurationNeeded(t.Context(), info.ID, "another one")
		require.NoError(t, err)
		_, err = h.ApplyConfiguration(t.Context(), info.ID, protocol.Config{Full: json.RawMessage(`{"n":2}`)})
		require.NoError(t, err)
		_, err = h.Reload(t.Context(), info.ID, StartOptions{})
		require.NoError(t, err)
		require.Equal(t, []string{"1", "2", "-1"}, seen, "none leaves it as it is")
	})
}
