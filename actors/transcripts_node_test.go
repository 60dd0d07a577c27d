package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
	"github.com/airi-host/airi-host/protocol/airi/bridge"
	"github.com/airi-host/airi-host/transport/process"
)

// What modules in Node can do to a host and to each other.

// mixed is a host with modules in Node and programs in memory.
type mixed struct {
	t    *testing.T
	host *actors.Host
	sub  *actors.Subscription
}

// startMixed makes a host and starts a greeter in Go beside whatever follows.
func startMixed(t *testing.T, adjust func(*actors.Options)) *mixed {
	t.Helper()
	return startMixedWith(t, newNode(t), adjust)
}

func startMixedWith(t *testing.T, node *bridge.Node, adjust func(*actors.Options)) *mixed {
	t.Helper()
	opts := actors.Options{
		Dialects: []protocol.Dialect{airi.Dialect{}},
		Programs: map[string]protocol.Program{"greeter": greeterProgram()},
		Launch:   actors.CommandLauncher(node.Command),
	}
	if adjust != nil {
		adjust(&opts)
	}
	host, err := actors.New(opts)
	require.NoError(t, err)
	m := &mixed{t: t, host: host, sub: host.Subscribe(actors.KindPhase|actors.KindCapability, 0)}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), labPatience)
		defer cancel()
		require.NoError(t, host.Shutdown(ctx))
	})
	info, err := host.Start(t.Context(), &manifest.Manifest{
		Dialect: manifest.DialectAIRI, Name: "greeter", Entrypoints: manifest.Entrypoints{Go: new("builtin:greeter")},
	}, actors.StartOptions{})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Ready, info.Phase)
	return m
}

// greeterProgram greets, and doubles with another plugin's help.
func greeterProgram() *plugin.Definition {
	p := plugin.Define("greeter")
	type person struct{ Name string }
	plugin.Tool(p, "greet", func(_ context.Context, who person) (plugin.Result, error) {
		return plugin.Text("Hello, " + who.Name + "!"), nil
	})
	type number struct {
		N int `json:"n"`
	}
	plugin.Tool(p, "quadruple", func(ctx context.Context, in number) (plugin.Result, error) {
		var twice struct{ Data int }
		for range 2 {
			if err := plugin.From(ctx).Call(ctx, "tool:double", in, &twice); err != nil {
				return plugin.Result{}, err
			}
			in.N = twice.Data
		}
		return plugin.Result{Data: in.N}, nil
	})
	return p
}

// module describes a plugin of testdata/modules that is called like its file.
func module(t *testing.T, name string) *manifest.Manifest {
	t.Helper()
	return &manifest.Manifest{
		Dialect: manifest.DialectAIRI, APIVersion: manifest.APIVersionAIRI, Kind: manifest.KindAIRI,
		Name: name, Dir: modules(t), Entrypoints: manifest.Entrypoints{Node: new("./" + name + ".mjs")},
	}
}

func (m *mixed) start(name string) (actors.SessionInfo, error) {
	m.t.Helper()
	return m.host.Start(m.t.Context(), module(m.t, name), actors.StartOptions{})
}

func (m *mixed) startReady(name string) actors.SessionInfo {
	m.t.Helper()
	info, err := m.start(name)
	require.NoError(m.t, err)
	require.Equal(m.t, lifecycle.Ready, info.Phase)
	return info
}

func (m *mixed) call(key, input string) (string, error) {
	result, err := m.host.Invoke(m.t.Context(), protocol.Call{Key: key, Input: json.RawMessage(input)})
	return string(result), err
}

func (m *mixed) wantCall(key, input, want string) {
	m.t.Helper()
	got, err := m.call(key, input)
	require.NoError(m.t, err)
	require.JSONEq(m.t, want, got)
}

// wantUnharmed: the plugin in Go has noticed nothing. The short limits that a test gives
// its host are not for this call.
func (m *mixed) wantUnharmed() {
	m.t.Helper()
	got, err := m.host.Invoke(m.t.Context(), protocol.Call{
		Key: "tool:greet", Input: json.RawMessage(`{"name":"you"}`), Idle: labPatience, Deadline: time.Now().Add(labPatience),
	})
	require.NoError(m.t, err)
	require.JSONEq(m.t, `{"content":"Hello, you!"}`, string(got))
}

// await returns the next event that matches.
func await[E actors.Event](m *mixed, matches func(E) bool) E {
	m.t.Helper()
	patience := time.After(labPatience)
	for {
		select {
		case e := <-m.sub.C:
			if e, ok := e.(E); ok && matches(e) {
				return e
			}
		case <-patience:
			m.t.Fatal("the event did not come")
		}
	}
}

func (m *mixed) awaitPhase(plugin string, to lifecycle.State) actors.PhaseChanged {
	m.t.Helper()
	return await(m, func(e actors.PhaseChanged) bool { return e.Plugin == plugin && e.To == to })
}

func (m *mixed) inspect(name string) actors.Inspection {
	m.t.Helper()
	found, err := m.host.Inspect(name)
	require.NoError(m.t, err)
	return found
}

func TestModule_floodHarmsNothing(t *testing.T) {
	t.Parallel()
	m := startMixed(t, func(o *actors.Options) { o.Limits.LogLines = 100 })
	m.startReady("flood")
	for range 2 {
		m.wantCall("tool:flood", `{"lines":20000}`, `{"content":"20000 lines"}`)
	}
	m.wantUnharmed()
	found := m.inspect("flood")
	require.Equal(t, lifecycle.Ready, found.Phase)
	require.Len(t, m.host.Logs("flood", 0), 100, "the kept log is bounded")
	require.Zero(t, found.Dropped["bad-frame"], "what is printed is not taken for frames")
}

func TestModule_exitInInitFailsItAlone(t *testing.T) {
	t.Parallel()
	m := startMixed(t, nil)
	info, err := m.start("exits")
	require.ErrorContains(t, err, `plugin exits: the worker exited with code 3 after `)
	require.Equal(t, lifecycle.Failed, info.Phase)
	require.Equal(t, err.Error(), info.Reason)
	m.wantUnharmed()
}

func TestModule_unhandledRejectionFailsItWithItsPlace(t *testing.T) {
	t.Parallel()
	m := startMixed(t, nil)
	m.startReady("rejects")
	m.wantCall("tool:reject", `{}`, `{"content":"soon"}`)
	failed := m.awaitPhase("rejects", lifecycle.Failed)
	require.Equal(t, "plugin rejects: unhandled rejection at rejects.mjs:12:9: nobody caught this", failed.Reason)
	_, err := m.call("tool:reject", `{}`)
	require.Equal(t, protocol.CodeNotReady, protocol.CodeOf(err), err)
	require.ErrorContains(t, err, "nobody caught this")
	m.wantUnharmed()
}

func TestModule_hangingInitFailsAtItsDeadline(t *testing.T) {
	t.Parallel()
	m := startMixed(t, func(o *actors.Options) {
		o.Ladder = process.Ladder{CloseStdin: 50 * time.Millisecond, Term: 50 * time.Millisecond}
	})
	m.startReady("handlers")
	hanging := module(t, "hangs")
	hanging.Host.Timeouts.Init = 500 * time.Millisecond
	loaded, err := m.host.Load(t.Context(), hanging, actors.StartOptions{})
	require.NoError(t, err)
	require.NotNil(t, loaded.Process)
	started := make(chan error, 1)
	go func() {
		_, err := m.host.Init(t.Context(), loaded.ID, actors.StartOptions{})
		started <- err
	}()
	m.awaitPhase("hangs", lifecycle.Preparing)
	m.wantCall("tool:double", `{"n":21}`, `{"data":42}`)
	err = <-started
	require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err), err)
	require.ErrorContains(t, err, "init of plugin hangs did not finish within 500ms")
	_, err = m.host.Stop(t.Context(), loaded.ID)
	require.NoError(t, err)
	require.ErrorIs(t, syscall.Kill(loaded.Process.PID, 0), syscall.ESRCH, "its process is gone")
	m.wantUnharmed()
}

func TestModule_handlersAreCapabilities(t *testing.T) {
	t.Parallel()
	m := startMixed(t, nil)
	m.startReady("handlers")
	m.wantCall("tool:double", `{"n":21}`, `{"data":42}`)
	_, err := m.call("tool:break", `{}`)
	broke, ok := errors.AsType[*protocol.PeerError](err)
	require.True(t, ok, err)
	require.Equal(t, "it broke", broke.Message)
	require.Equal(t, "RangeError", broke.Name)
	require.Equal(t, "handlers.mjs:22:9", broke.At)
	m.wantUnharmed()
}

func TestModule_removedHandlerIsWithdrawn(t *testing.T) {
	t.Parallel()
	m := startMixed(t, nil)
	m.startReady("handlers")
	m.wantCall("tool:passing", `{}`, `{"content":"still here"}`)
	m.wantCall("tool:withdraw", `{}`, `{"content":"gone"}`)
	gone := await(m, func(e actors.CapabilityChanged) bool {
		return e.Key == "tool:passing" && e.To == lifecycle.CapWithdrawn
	})
	require.Equal(t, lifecycle.CapReady, gone.From)
	require.Equal(t, "handlers", gone.Plugin)
	_, err := m.call("tool:passing", `{}`)
	require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(err), err)
	m.wantCall("tool:double", `{"n":1}`, `{"data":2}`)
}

func TestModule_callsProgramsAndIsCalledByThem(t *testing.T) {
	t.Parallel()
	m := startMixed(t, nil)
	m.startReady("handlers")
	m.wantCall("tool:introduce", `{"name":"Ada"}`, `{"content":"Hello, Ada! You are in Node."}`)
	m.wantCall("tool:quadruple", `{"n":10}`, `{"data":40}`)
}

func TestModule_withoutNodeSaysSo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	m := startMixedWith(t, &bridge.Node{}, nil)
	info, err := m.start("handlers")
	require.ErrorIs(t, err, bridge.ErrNoNode)
	require.EqualError(t, err, "plugin handlers: no Node.js on PATH: install version 20.6.0 or newer to run AIRI modules")
	require.Equal(t, lifecycle.Failed, info.Phase)
	require.Equal(t, err.Error(), info.Reason)
	m.wantUnharmed()
}

// What was told to be ready can be called in that moment.
func TestModule_readyMeansCallable(t *testing.T) {
	t.Parallel()
	m := startMixed(t, nil)
	for range 10 {
		started := make(chan error, 1)
		go func() {
			_, err := m.start("handlers")
			started <- err
		}()
		ready := m.awaitPhase("handlers", lifecycle.Ready)
		m.wantCall("tool:double", `{"n":2}`, `{"data":4}`)
		require.NoError(t, <-started)
		_, err := m.host.Stop(t.Context(), ready.Session)
		require.NoError(t, err)
	}
}

// A module finds its files where its manifest is.
func TestModule_runsInItsDirectory(t *testing.T) {
	t.Parallel()
	m := startMixed(t, nil)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "here.mjs"), []byte(`
import { readFileSync } from 'node:fs'
import { defineInvokeEventa, defineInvokeHandler } from '@moeru/eventa'
export const setupModules = ({ channels }) => {
  defineInvokeHandler(channels.host, defineInvokeEventa('tool:read'), () => ({ content: readFileSync('data.txt', 'utf8') }))
}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data.txt"), []byte("found"), 0o600))
	here := module(t, "here")
	here.Dir = dir
	_, err := m.host.Start(t.Context(), here, actors.StartOptions{})
	require.NoError(t, err)
	m.wantCall("tool:read", `{}`, `{"content":"found"}`)
}
