package actors

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// The words in which this package's tests are written. Nearly every test runs in a
// bubble of fake time, so that it may wait for hours, and everybody in it is idle
// when settle returns.

// update rewrites the golden files: go test ./actors -update.
var update = flag.Bool("update", false, "rewrite the golden files below testdata")

// settle returns when nobody in the bubble has anything to do.
func settle() { synctest.Wait() }

// startHost makes a host with plugins compiled in under their names. It is shut
// down at the end; then the actor library's dead letters are let go.
func startHost(t *testing.T, plugins ...*plugin.Definition) *Host {
	t.Helper()
	return startHostWith(t, Options{}, plugins...)
}

// deadLettersLive is for how long the actor library keeps a goroutine after a
// message to an actor that is gone; a bubble must not end before.
const deadLettersLive = 2 * time.Second

func startHostWith(t *testing.T, opts Options, plugins ...*plugin.Definition) *Host {
	t.Helper()
	if opts.Programs == nil {
		opts.Programs = map[string]protocol.Program{}
	}
	for _, p := range plugins {
		opts.Programs[p.Name()] = p
	}
	h, err := New(opts)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, h.Shutdown(context.Background()))
		time.Sleep(deadLettersLive)
	})
	return h
}

// field changes a manifest.
type field func(*manifest.Manifest)

// manifestFor describes a plugin that is compiled in.
func manifestFor(name string, fields ...field) *manifest.Manifest {
	builtin := "builtin:" + name
	m := &manifest.Manifest{
		Dialect: manifest.DialectAIRI, Name: name, File: name + "/plugin.json",
		Entrypoints: manifest.Entrypoints{Go: &builtin},
	}
	for _, set := range fields {
		set(m)
	}
	return m
}

// requires adds requirements; "a|b" is any of the two.
func requires(keys ...string) field {
	return func(m *manifest.Manifest) {
		for _, any := range keys {
			var need capability.Requirement
			for key := range strings.SplitSeq(any, "|") {
				need.AnyOf = append(need.AnyOf, capability.Key(key))
			}
			m.Host.Requires = append(m.Host.Requires, need)
		}
	}
}

func promises(keys ...capability.Key) field {
	return func(m *manifest.Manifest) { m.Host.Offers = keys }
}

func priority(n int) field {
	return func(m *manifest.Manifest) { m.Host.Priority = n }
}

func named(name string) field {
	return func(m *manifest.Manifest) { m.Name = name }
}

func needsConfiguration(m *manifest.Manifest) { m.Host.Configuration.Required = true }

func bounded(set func(*manifest.Timeouts)) field {
	return func(m *manifest.Manifest) { set(&m.Host.Timeouts) }
}

// start brings a plugin to where its start ends, in good order.
func start(t *testing.T, h *Host, m *manifest.Manifest) SessionInfo {
	t.Helper()
	info, err := h.Start(t.Context(), m, StartOptions{})
	require.NoError(t, err)
	return info
}

// startReady brings a plugin to ready.
func startReady(t *testing.T, h *Host, m *manifest.Manifest) SessionInfo {
	t.Helper()
	info := start(t, h, m)
	require.Equal(t, lifecycle.Ready, info.Phase)
	return info
}

// outcomeOf is what came of something that was begun.
type outcomeOf struct {
	info   SessionInfo
	result string
	err    error
}

// begun begins something that ends later.
func begun(do func() (SessionInfo, error)) <-chan outcomeOf {
	done := make(chan outcomeOf, 1)
	go func() {
		info, err := do()
		done <- outcomeOf{info: info, err: err}
	}()
	settle()
	return done
}

// beginStart starts a plugin and returns when there is nothing to do but wait.
func beginStart(t *testing.T, h *Host, m *manifest.Manifest) <-chan outcomeOf {
	t.Helper()
	return begun(func() (SessionInfo, error) { return h.Start(t.Context(), m, StartOptions{}) })
}

// beginCall does the same with a call.
func beginCall(t *testing.T, h *Host, c protocol.Call) <-chan outcomeOf {
	t.Helper()
	done := make(chan outcomeOf, 1)
	go func() {
		result, err := h.Invoke(t.Context(), c)
		done <- outcomeOf{result: said(result), err: err}
	}()
	settle()
	return done
}

// callKey calls a key and returns its result.
func callKey(t *testing.T, h *Host, key string) (string, error) {
	t.Helper()
	result, err := h.Invoke(t.Context(), protocol.Call{Key: key})
	return said(result), err
}

// wantCall calls a key that answers.
func wantCall(t *testing.T, h *Host, key, result string) {
	t.Helper()
	got, err := callKey(t, h, key)
	require.NoError(t, err)
	require.Equal(t, result, got)
}

// wantCode checks an error of the host's own.
func wantCode(t *testing.T, err error, code protocol.Code, text string) {
	t.Helper()
	require.EqualError(t, err, text)
	require.Equal(t, code, protocol.CodeOf(err))
}

// wantPhase checks where a plugin stands.
func wantPhase(t *testing.T, h *Host, name string, phase lifecycle.State) Inspection {
	t.Helper()
	got, err := h.Inspect(name)
	require.NoError(t, err)
	require.Equal(t, phase, got.Phase, "%s: %s", name, got.Reason)
	return got
}

// wantNoSession checks that a plugin has none.
func wantNoSession(t *testing.T, h *Host, name string) {
	t.Helper()
	_, err := h.Inspect(name)
	wantCode(t, err, protocol.CodeNotFound, "no plugin and no session is called "+name)
}

// wantOffers checks all offers, as "key state".
func wantOffers(t *testing.T, h *Host, want ...string) {
	t.Helper()
	settle()
	got := []string{}
	for _, o := range h.Offers() {
		got = append(got, fmt.Sprintf("%s %s", o.Key, o.State))
	}
	require.Equal(t, append([]string{}, want...), got)
}

// answers is a handler with one answer.
func answers(result string) plugin.Handler {
	return func(context.Context, json.RawMessage) (json.RawMessage, error) { return asData(result), nil }
}

// asData is an answer as a tool gives it: the tests say what its data is.
func asData(result string) json.RawMessage {
	if result == "" || strings.HasPrefix(result, "{") {
		return json.RawMessage(result)
	}
	return json.RawMessage(`{"data":` + result + `}`)
}

// said is what asData was given.
func said(result json.RawMessage) string {
	text, ok := strings.CutPrefix(string(result), `{"data":`)
	if !ok || strings.HasPrefix(text, "{") {
		return string(result)
	}
	return strings.TrimSuffix(text, "}")
}

// offering is a plugin that offers keys, each answering `"NAME"`.
func offering(name string, keys ...string) *plugin.Definition {
	p := plugin.Define(name)
	for _, key := range keys {
		plugin.Handle(p, key, answers(`"`+name+`"`))
	}
	return p
}

// hook is a hook that needs no session.
func hook(f func(context.Context) error) plugin.Hook {
	return func(ctx context.Context, _ *plugin.Session) error { return f(ctx) }
}

// lasts is a hook that takes a while, and heeds its context.
func lasts(d time.Duration) plugin.Hook {
	return hook(func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// deaf is a hook that waits for release and does not heed its context.
func deaf(release <-chan struct{}) plugin.Hook {
	return hook(func(context.Context) error { <-release; return nil })
}

// record collects a host's events as lines.
type record struct {
	sub *Subscription
	// look, if set, sees each event as it comes.
	look func(Event)

	mu    sync.Mutex
	lines []string
}

// listen collects events of these kinds from now on.
func listen(t *testing.T, h *Host, kinds Kind, look func(Event)) *record {
	t.Helper()
	r := &record{sub: h.Subscribe(kinds, 0), look: look}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range r.sub.C {
			r.add(e)
		}
	}()
	t.Cleanup(func() { r.sub.Close(); <-done })
	return r
}

func (r *record) add(e Event) {
	if r.look != nil {
		r.look(e)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line(e))
}

// line is an event for people.
func line(e Event) string {
	switch e := e.(type) {
	case PhaseChanged:
		return trimmed("%s: %s → %s %s", e.Plugin, e.From, e.To, e.Reason)
	case Waiting:
		return trimmed("%s waits for %v %s %s", e.Plugin, e.For, strings.Join(e.Cycle, ">"), strings.Join(e.Because, "; "))
	case CapabilityChanged:
		return trimmed("%s %s: %s → %s %s", e.Plugin, e.Key, e.From, e.To, e.Reason)
	case Logged:
		return trimmed("%s logs %s %s", e.Plugin, e.Level, e.Text)
	case Dropped:
		return trimmed("%s drops %s %d %s", e.Plugin, e.What, e.Count, e.Detail)
	case Channel:
		return trimmed("%s channel %v %s %s", e.Plugin, e.FromPlugin, e.Name, e.Payload)
	case Restart:
		return trimmed("%s crashed %d in a row, %d in all, given up %v: %s", e.Plugin, e.InARow, e.Crashes, e.GivenUp, e.Reason)
	case Wire:
		return trimmed("%s wire %v %v", e.Plugin, e.FromPlugin, e.Message)
	default:
		return fmt.Sprintf("%T", e)
	}
}

func trimmed(format string, args ...any) string {
	return strings.TrimRight(fmt.Sprintf(format, args...), " ")
}

// all returns the lines so far.
func (r *record) all() []string {
	settle()
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

// of returns those of a plugin.
func (r *record) of(name string) []string {
	return slices.DeleteFunc(r.all(), func(line string) bool {
		return !strings.HasPrefix(line, name+":") && !strings.HasPrefix(line, name+" ")
	})
}

// phases returns where a plugin went, and why.
func (r *record) phases(name string) []string {
	var list []string
	for _, line := range r.of(name) {
		if _, to, found := strings.Cut(line, " → "); found && strings.HasPrefix(line, name+":") {
			list = append(list, to)
		}
	}
	return list
}

// notebook is a log that can be read.
type notebook struct {
	mu   sync.Mutex
	text strings.Builder
}

func (n *notebook) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(b)
}

func (n *notebook) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

// logger writes records without their times.
func (n *notebook) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(n, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

// wantGolden compares with a file below testdata, or rewrites it.
func wantGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to write it")
	require.Equal(t, string(want), got)
}

// spied is an actor that a test can look into.
type spied struct{ behavior }

func (s spied) receive(msg any) {
	if look, ok := msg.(func()); ok {
		look()
		return
	}
	s.behavior.receive(msg)
}

// peek looks into a spied actor between two messages.
func peek(actor *ref, look func()) {
	settle()
	done := make(chan struct{})
	actor.tell(func() { defer close(done); look() })
	<-done
}
