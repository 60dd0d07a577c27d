package peers

import (
	"encoding/json"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport/process"
)

// misbehaves makes a rogue do a deed in its setup.
func misbehaves(id, deed string, timeouts map[string]any) Changes {
	return Changes{ID: id, Host: map[string]any{"env": map[string]string{"ROGUE": deed}, "timeouts": timeouts}}
}

func TestHost_tellsWhyAWorkerDoesNotBegin(t *testing.T) {
	t.Parallel()
	h := openHome(t, Paperclip, "", func(o *actors.Options) { o.Restart = actors.RestartPolicy{First: 4 * time.Minute} })
	begins := func(t *testing.T, id, deed string, timeouts map[string]any) (actors.SessionInfo, error) {
		t.Helper()
		_, err := h.try(t, Fixture(t, h.modules, "rogue", misbehaves(id, deed, timeouts)))
		is := h.session(t, id)
		require.Equal(t, lifecycle.Failed, is.Phase)
		require.Equal(t, is.Reason, err.Error())
		return is, err
	}
	t.Run("an error is not tried again", func(t *testing.T) {
		is, err := begins(t, "thrower", `throw {"message":"not today","code":7}`, map[string]any{})
		wantPeerError(t, err, "7", `Worker initialize failed for "thrower": not today`)
		require.Zero(t, is.Worker.Crashes)
	})
	t.Run("an exit is a crash", func(t *testing.T) {
		is, err := begins(t, "quitter", `exit {"code":3}`, map[string]any{})
		require.Regexp(t, `^plugin quitter: the worker exited with code 3 after [0-9.]+m?s$`, err.Error())
		require.Equal(t, 1, is.Worker.Crashes)
		require.WithinDuration(t, time.Now().Add(4*time.Minute), is.Worker.NextRestart, 2*time.Minute)
	})
	t.Run("a setup that hangs has a limit", func(t *testing.T) {
		is, err := begins(t, "sleeper", `hang`, map[string]any{"setup": 500})
		require.EqualError(t, err, "setup of plugin sleeper did not finish within 500ms: mend its hook, or raise airi-host.timeouts.setup in its manifest")
		require.Zero(t, is.Worker.Crashes)
	})
}

// configured gives the kitchen another configuration, and tells where it stands then.
func (h *home) configured(t *testing.T, config string) actors.SessionInfo {
	t.Helper()
	before := h.session(t, "kitchen")
	if before.Phase == lifecycle.Ready {
		_, err := h.MarkConfigurationNeeded(t.Context(), before.ID, "another one")
		require.NoError(t, err)
	}
	is, err := h.ApplyConfiguration(t.Context(), before.ID, protocol.Config{ID: "c", Revision: 2, SchemaVersion: 1, Full: json.RawMessage(config)})
	require.NoError(t, err)
	return is
}

func TestHost_configuresWorkers(t *testing.T) {
	t.Parallel()
	h := openHome(t, Paperclip916, `{"plugins":{"kitchen":{"config":{"mode":"bad"}}}}`, nil)
	is, err := h.try(t, Fixture(t, h.modules, "kitchen", Changes{}))
	require.NoError(t, err)
	require.Equal(t, lifecycle.ConfigurationNeeded, is.Phase)
	require.Equal(t, "plugin kitchen refuses its configuration: mode is bad", is.Reason)
	_, err = h.tries(t, protocol.Call{Key: "job:sync"})
	require.Equal(t, protocol.CodeNotReady, protocol.CodeOf(err))

	_, err = h.ApplyConfiguration(t.Context(), is.ID, protocol.Config{Full: json.RawMessage(`{"mode":"worse"}`)})
	require.Equal(t, protocol.CodeConfiguration, protocol.CodeOf(err), "the manifest's schema: %v", err)
	require.Equal(t, lifecycle.ConfigurationNeeded, h.configured(t, `{"mode":"bad","greeting":"no"}`).Phase)
	require.Equal(t, lifecycle.Ready, h.configured(t, `{"mode":"good"}`).Phase)
	require.Equal(t, lifecycle.Ready, h.configured(t, `{"mode":"odd"}`).Phase, "a warning is none of our business")
	require.Equal(t, []map[string]any{{"mode": "good"}, {"mode": "odd"}}, h.seen(t).Configs)
	require.Equal(t, is.ID, h.session(t, "kitchen").ID, "it is the same worker all the time")

	changes := func(company, greeting string) error {
		_, err := h.tries(t, protocol.Call{Key: "paperclip:configChanged", Plugin: "kitchen", Input: json.RawMessage(
			`{"companyId":"` + company + `","config":{"greeting":"` + greeting + `"}}`)})
		return err
	}
	require.NoError(t, changes("acme", "Moin"))
	require.NoError(t, changes("globex", "Moin"), "the same configuration is no other tenant's")
	wantPeerError(t, changes("acme", "Hey"), "-32006", `configChanged: refusing to overwrite configuration for company "globex" with a different `+
		`configuration for company "acme". This plugin is single-tenant and cannot safely serve multiple companies from one worker. `+
		`If multi-company support is intended, set multiCompanyConfig: true on the plugin definition and key per-company state on context.companyId.`)
}

// begin makes a call that takes its time; its outcome comes through the channel.
func (h *home) begin(t *testing.T, c protocol.Call) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := h.Invoke(t.Context(), c)
		done <- err
	}()
	eventually(t, func() bool { return h.session(t, c.Plugin).InFlight > 0 }, "no call in flight")
	return done
}

func TestHost_stopsWorkers(t *testing.T) {
	t.Parallel()
	h := openHome(t, Paperclip, "", func(o *actors.Options) {
		o.Ladder = process.Ladder{CloseStdin: 50 * time.Millisecond, Term: 50 * time.Millisecond}
	})
	t.Run("when the calls in flight are over", func(t *testing.T) {
		dir := h.start(t, "waiter", Changes{Record: true})
		slow := h.begin(t, protocol.Call{Key: "data:slow", Plugin: "waiter", Input: json.RawMessage(`{"ms":300}`)})
		_, err := h.Stop(t.Context(), h.session(t, "waiter").ID)
		require.NoError(t, err)
		require.NoError(t, <-slow)
		all := frames(t, dir, Received)
		require.Equal(t, "shutdown", all[len(all)-1].Method)
		answers := frames(t, dir, Sent)
		require.JSONEq(t, `{"slept":300}`, string(answers[len(answers)-2].Result))
	})
	t.Run("by force at last", func(t *testing.T) {
		h.start(t, "rogue", Changes{Host: map[string]any{"timeouts": map[string]any{"stop": 100}}})
		for _, deed := range []string{"ignore-term", "ignore-shutdown"} {
			h.calls(t, protocol.Call{Key: "data:" + deed, Plugin: "rogue"})
		}
		is := h.session(t, "rogue")
		_, err := h.Stop(t.Context(), is.ID)
		require.NoError(t, err)
		require.ErrorIs(t, syscall.Kill(is.Process.PID, 0), syscall.ESRCH)
		require.Contains(t, h.journal.String(), `"msg":"the worker has ended","plugin":"rogue","session":"`+is.ID+`","step":"`+string(process.StepKill)+`"`)
	})
}

func TestHost_tellsHowAWorkerEnded(t *testing.T) {
	t.Parallel()
	h := openHome(t, Paperclip916, "", nil)
	for name, row := range map[string]struct{ deed, params, reason string }{
		"exits":  {"exit", `{"code":3}`, `the worker exited with code 3 after [0-9.]+m?s`},
		"killed": {"kill", `{}`, `the worker was killed by SIGKILL after [0-9.]+m?s; its last words: "x{9}"`},
		"throws": {"throw-later", `{}`, `the worker exited with code 1 after [0-9.]+m?s`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h.start(t, "rogue", Changes{ID: name})
			if name == "killed" {
				h.calls(t, protocol.Call{Key: "data:stderr", Plugin: name, Input: json.RawMessage(`{"bytes":10,"line":10}`)})
			}
			old := h.session(t, name).ID
			_, err := h.tries(t, protocol.Call{Key: "data:" + row.deed, Plugin: name, Input: json.RawMessage(row.params)})
			if row.deed != "throw-later" {
				require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf(err))
				require.Regexp(t, `^plugin `+name+` ended while the call of data:`+row.deed+` was in flight; it may have run: plugin `+name+`: `+row.reason+`$`, err.Error())
			}
			eventually(t, func() bool { return h.session(t, name).ID != old && h.session(t, name).Phase == lifecycle.Ready }, name)
			require.Regexp(t, `^plugin `+name+`: `+row.reason+`$`, h.session(t, name).Worker.LastCrash)
		})
	}
}

// phases tells whenever a plugin becomes ready.
func (h *home) phases(t *testing.T, plugin string) <-chan actors.Event {
	t.Helper()
	sub := h.Subscribe(actors.KindPhase, 0)
	t.Cleanup(sub.Close)
	ready := make(chan actors.Event)
	go func() {
		defer close(ready)
		for e := range sub.C {
			if p, ok := e.(actors.PhaseChanged); ok && p.Plugin == plugin && p.To == lifecycle.Ready {
				select {
				case ready <- e:
				case <-t.Context().Done():
					return
				}
			}
		}
	}()
	return ready
}

// The moment that a worker is said to be ready, what it offers can be called, and it
// hears what it has subscribed to; after every reload anew.
func TestHost_meansReadyWhenItSaysSo(t *testing.T) {
	t.Parallel()
	h := openHome(t, Paperclip916, `{"companies":["globex"]}`, nil)
	ready := h.phases(t, "waiter")
	dir := Fixture(t, h.modules, "waiter", Changes{})
	started := make(chan error, 1)
	go func() {
		_, err := h.try(t, dir)
		started <- err
	}()
	sessions := map[string]bool{}
	for n := range 10 {
		if n > 0 {
			go func() { started <- h.reload(t, "waiter") }()
		}
		is := (<-ready).(actors.PhaseChanged)
		sessions[is.Session] = true
		h.calls(t, protocol.Call{Key: "event:season.spring", Scope: "acme"})
		require.JSONEq(t, `{"content":"soup"}`, h.calls(t, protocol.Call{Key: "tool:serve", Scope: "acme", Input: json.RawMessage(`{"dish":"soup"}`)}))
		require.JSONEq(t, `{"waiter":{}}`, h.calls(t, protocol.Call{Key: "data:echo", Plugin: "waiter"}))
		var heard []struct{}
		eventually(t, func() bool {
			require.NoError(t, json.Unmarshal([]byte(h.calls(t, protocol.Call{Key: "data:heard", Plugin: "waiter"})), &heard))
			return len(heard) == 2
		}, h.journal)
		require.NoError(t, <-started)
	}
	require.Len(t, sessions, 10, "each start is a session of its own")
	require.Equal(t, filepath.Join(dir, "package.json"), h.session(t, "waiter").File)
}
