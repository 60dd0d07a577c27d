package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
	"github.com/airi-host/airi-host/transport/memory"
)

func TestRoster_readsManifestsAnew(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plugin.json")
	write := func(name, rest string) {
		t.Helper()
		require.NoError(t, os.WriteFile(file, []byte(`{
			"apiVersion": "v1", "kind": "manifest.plugin.airi.moeru.ai", "name": "`+name+`",
			"entrypoints": {"go": "builtin:greeter"}`+rest+`}`), 0o600))
	}
	write("a", "")
	opts := manifest.Options{Builtins: []string{"greeter"}}
	r := newRoster(manifest.Discover([]string{file}, opts).Manifests, opts)
	require.Equal(t, []string{"a"}, r.list())

	write("a", `, "airi-host": {"scope": "acme"}`)
	m, err := r.reread("a")
	require.NoError(t, err)
	require.Equal(t, "acme", m.Host.Scope)
	require.Same(t, m, r.get("a"))

	write("a", `, "airi-host": {"skope": "acme"}`)
	_, err = r.reread("a")
	require.ErrorContains(t, err, "plugin a was left as it is, its manifest has problems: ")
	require.Equal(t, protocol.CodeInvalid, protocol.CodeOf(err))
	require.ErrorContains(t, err, "airi-host.skope")
	write("b", "")
	_, err = r.reread("a")
	require.EqualError(t, err, "plugin a was left as it is: "+file+" is not its manifest any more")
	require.Equal(t, protocol.CodeInvalid, protocol.CodeOf(err))
	require.Same(t, m, r.get("a"))

	_, err = r.reread("nobody")
	require.ErrorContains(t, err, "none of those that this host was told to run")
	require.Nil(t, r.get("nobody"))
}

func TestRoster_oneAtATimeHasAPlugin(t *testing.T) {
	r := newRoster(nil, manifest.Options{})
	release, err := r.hold(t.Context(), "a")
	require.NoError(t, err)
	tired, giveUp := context.WithCancelCause(t.Context())
	giveUp(errors.New("enough"))
	_, err = r.hold(tired, "a")
	require.EqualError(t, err, "plugin a is being started: enough")
	require.Len(t, r.turns, 1)

	var others sync.WaitGroup
	held := 0
	for range 10 {
		others.Go(func() {
			release, err := r.hold(t.Context(), "a")
			if err == nil {
				held++
				release()
			}
		})
	}
	release()
	others.Wait()
	require.Equal(t, 10, held)
	require.Empty(t, r.turns, "what nobody wants is not kept")
}

// rosterHouse runs a compiled-in plugin named p, whose setup is given the house's state.
func rosterHouse(t *testing.T, setup func(*state)) (*house, *state) {
	t.Helper()
	c := &cli{stateGiven: t.TempDir(), settings: &settings{}, logLevel: "info", err: newOutput(io.Discard), out: newOutput(io.Discard)}
	st, err := c.openState(t.Context(), false)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "plugin.json")
	require.NoError(t, os.WriteFile(file, []byte(`{
		"apiVersion": "v1", "kind": "manifest.plugin.airi.moeru.ai", "name": "p", "entrypoints": {"go": "builtin:p"}}`), 0o600))
	host, err := actors.New(actors.Options{Programs: map[string]protocol.Program{
		"p": plugin.Define("p").OnSetup(func(context.Context, *plugin.Session) error {
			setup(st)
			return nil
		}),
	}})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, host.Shutdown(context.Background()))
		require.NoError(t, st.close())
	})
	opts := manifest.Options{Builtins: []string{"p"}}
	return &house{
		Host: host, configs: &st.configs, disabled: &st.disabled, roster: newRoster(manifest.Discover([]string{file}, opts).Manifests, opts),
	}, st
}

func TestHouse_reloadsAsOftenAsItIsAsked(t *testing.T) {
	setups := make(chan bool, 100)
	h, _ := rosterHouse(t, func(*state) { setups <- true })
	_, err := h.start(t.Context(), "p")
	require.NoError(t, err)
	var all sync.WaitGroup
	failed := make(chan error, 20)
	for range 20 {
		all.Go(func() {
			_, err := h.reload(t.Context(), "p")
			failed <- err
		})
	}
	all.Wait()
	for range 20 {
		require.NoError(t, <-failed)
	}
	require.Len(t, setups, 21)
}

func TestHouse_startsWhatIsStoppedAlone(t *testing.T) {
	h, _ := rosterHouse(t, func(*state) {})
	starts := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := h.start(t.Context(), "p")
			starts <- err
		}()
	}
	one, two := <-starts, <-starts
	if one != nil {
		one, two = two, one
	}
	require.NoError(t, one)
	require.EqualError(t, two, "plugin p is not stopped: it is ready (plugin-session-0); to start it anew, reload it")
	require.Equal(t, protocol.CodeInvalid, protocol.CodeOf(two))
}

func TestHouse_startsNothingThatIsDisabled(t *testing.T) {
	begun := 0
	disable := func(*state) {}
	h, st := rosterHouse(t, func(st *state) {
		begun++
		disable(st)
	})
	wantRefused := func(_ actors.SessionInfo, err error) {
		t.Helper()
		require.EqualError(t, err, "plugin p is disabled: enable it, which starts it too")
		require.Equal(t, protocol.CodeInvalid, protocol.CodeOf(err))
		require.Empty(t, h.Sessions())
	}
	_, err := h.start(t.Context(), "p")
	require.NoError(t, err)

	// While it is started anew: who disabled it had found the session before, or none.
	disable = func(st *state) { require.NoError(t, st.disabled.set(t.Context(), st.db, "p", true)) }
	wantRefused(h.reload(t.Context(), "p"))
	require.Equal(t, 2, begun)

	// While its turn was awaited.
	wantRefused(h.start(t.Context(), "p"))
	wantRefused(h.reload(t.Context(), "p"))
	_, _, err = h.renew(t.Context(), h.roster.get("p"), true)
	wantRefused(actors.SessionInfo{}, err)
	require.Equal(t, 2, begun)

	disable = func(*state) {}
	require.NoError(t, st.disabled.set(t.Context(), st.db, "p", false))
	_, err = h.start(t.Context(), "p")
	require.NoError(t, err)
}

// A guest may have the name of a plugin that comes: it is none of that one's sessions.
func TestHouse_takesNoGuestForItsOwn(t *testing.T) {
	for name, begin := range map[string]func(*house, context.Context) (string, error){
		"start": func(h *house, ctx context.Context) (string, error) {
			_, err := h.start(ctx, "p")
			return actionStarted, err
		},
		"reload": func(h *house, ctx context.Context) (string, error) {
			_, err := h.reload(ctx, "p")
			return actionStarted, err
		},
		"renew": func(h *house, ctx context.Context) (string, error) {
			done, _, err := h.renew(ctx, h.roster.get("p"), true)
			return done, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, _ := rosterHouse(t, func(*state) {})
			h.configs.running = h.runs
			near, far := memory.Pipe(memory.Options{})
			defer func() { _ = far.Close() }()
			require.NoError(t, far.Send(airi.AppendNote(nil, airi.Note{Verb: airi.NoteAnnounced, Data: []byte(`{"possibleEvents":[]}`)})))
			failed := make(chan error, 1)
			_, settled, err := h.Join(t.Context(), actors.Guest{
				Manifest: guestCalled("p"), Instance: "1", Dialect: airi.Remote{}, Conn: near, Failed: func(err error) { failed <- err },
			})
			require.NoError(t, err)
			require.NoError(t, <-settled)
			done, err := begin(h, t.Context())
			require.NoError(t, err)
			require.Equal(t, actionStarted, done)
			require.ErrorContains(t, <-failed, "plugin p is one of the host's own: a guest needs another name")
			require.True(t, h.runs("p"))
		})
	}
}
