package actors

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// configured is a plugin that counts how often it was set up.
func configured(setups *int) *plugin.Definition {
	return offering("a", "tool:a").OnSetup(hook(func(context.Context) error { *setups++; return nil }))
}

// apply gives a session its configuration.
func apply(t *testing.T, h *Host, session string) SessionInfo {
	t.Helper()
	info, err := h.ApplyConfiguration(t.Context(), session, protocol.Config{ID: "mine"})
	require.NoError(t, err)
	return info
}

func TestConfiguration_isAskedForByManifestOrByOption(t *testing.T) {
	const reason = "Host requested configuration before activation."
	for name, test := range map[string]struct {
		required bool
		opts     StartOptions
	}{
		"manifest": {true, StartOptions{}},
		"option":   {false, StartOptions{RequireConfiguration: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				setups := 0
				h := startHost(t, configured(&setups))
				m := manifestFor("a")
				m.Host.Configuration.Required = test.required
				info, err := h.Start(t.Context(), m, test.opts)
				require.NoError(t, err, "the start ends here, and well")
				require.Equal(t, lifecycle.ConfigurationNeeded, info.Phase)
				require.Equal(t, reason, info.Reason)
				require.Zero(t, setups)
				wantOffers(t, h, "tool:a announced")
				_, err = callKey(t, h, "tool:a")
				wantCode(t, err, protocol.CodeNotReady, "tool:a of plugin a is not ready: configuration-needed ("+reason+")")
				time.Sleep(time.Hour)

				require.Equal(t, lifecycle.Ready, apply(t, h, info.ID).Phase)
				require.Equal(t, 1, setups)
				wantCall(t, h, "tool:a", `"a"`)
			})
		})
	}
}

func TestConfiguration_givenAtTheStartIsAsGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		setups := 0
		h := startHost(t, configured(&setups))
		info, err := h.Start(t.Context(), manifestFor("a", needsConfiguration), StartOptions{Config: &protocol.Config{ID: "mine"}})
		require.NoError(t, err)
		require.Equal(t, lifecycle.Ready, info.Phase)
		require.Equal(t, 1, setups)
	})
}

func TestConfiguration_canBeAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		setups := 0
		h := startHost(t, configured(&setups))
		info := startReady(t, h, manifestFor("a"))
		events := listen(t, h, KindPhase|KindCapability, nil)
		info, err := h.MarkConfigurationNeeded(t.Context(), info.ID, "the key has expired")
		require.NoError(t, err)
		require.Equal(t, lifecycle.ConfigurationNeeded, info.Phase)
		_, err = callKey(t, h, "tool:a")
		wantCode(t, err, protocol.CodeNotReady, "tool:a of plugin a is not ready: configuration-needed (the key has expired)")
		_, err = h.MarkConfigurationNeeded(t.Context(), info.ID, "again")
		require.EqualError(t, err, "Session plugin-session-0 cannot move to configuration-needed from configuration-needed.")

		require.Equal(t, lifecycle.Ready, apply(t, h, info.ID).Phase)
		require.Equal(t, 2, setups, "setup runs again")
		wantCall(t, h, "tool:a", `"a"`)
		require.Equal(t, []string{
			"a: ready → configuration-needed the key has expired",
			"a tool:a: ready → announced plugin a needs its configuration",
			"a: configuration-needed → configured",
			"a tool:a: announced → ready",
			"a: configured → ready",
		}, events.all())
	})
}

func TestConfiguration_isRefusedWhereItHasNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"), plugin.Define("bad").OnInit(hook(func(context.Context) error { return errors.New("no luck") })))
		info, err := h.Load(t.Context(), manifestFor("a"), StartOptions{})
		require.NoError(t, err)
		try := func(phase lifecycle.State) {
			t.Helper()
			_, err := h.ApplyConfiguration(t.Context(), info.ID, protocol.Config{})
			require.EqualError(t, err, "Session "+info.ID+" cannot accept configuration during phase "+string(phase)+".")
			if phase == lifecycle.Ready {
				return
			}
			_, err = h.MarkConfigurationNeeded(t.Context(), info.ID, "x")
			require.EqualError(t, err, "Session "+info.ID+" cannot move to configuration-needed from "+string(phase)+".")
		}
		try(lifecycle.Loaded)
		info, err = h.Init(t.Context(), info.ID, StartOptions{})
		require.NoError(t, err)
		try(lifecycle.Ready)
		info, err = h.Start(t.Context(), manifestFor("bad"), StartOptions{})
		require.Error(t, err)
		try(lifecycle.Failed)
	})
}

func TestConfiguration_aSessionOnItsWayOutSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a").OnStop(lasts(time.Second)))
		info := startReady(t, h, manifestFor("a"))
		over := begun(func() (SessionInfo, error) { return h.Stop(t.Context(), info.ID) })
		require.Equal(t, lifecycle.Ready, h.Sessions()[0].Phase)
		for what, err := range map[string]error{
			"takes no configuration":     second(h.ApplyConfiguration(t.Context(), info.ID, protocol.Config{})),
			"takes no configuration ":    second(h.CommitConfiguration(t.Context(), info.ID, protocol.Config{Full: []byte(`{}`)})),
			"asks for no configuration ": second(h.MarkConfigurationNeeded(t.Context(), info.ID, "x")),
		} {
			wantCode(t, err, protocol.CodeNotReady, "plugin a is being stopped and "+strings.TrimSpace(what)+": its session is ending")
			require.ErrorIs(t, err, ErrEnding)
		}
		require.NoError(t, (<-over).err)
		_, has := h.SessionConfiguration(info.ID)
		require.False(t, has)
	})
}

func second(_ SessionInfo, err error) error { return err }

func TestConfiguration_aSessionThatFailsSaysSoUntilItsPhaseDoes(t *testing.T) {
	s := &session{h: &handle{Origin: Origin{Plugin: "a"}}, phase: lifecycle.Ready}
	require.NoError(t, s.leavingWithout("sleeps"))
	s.end = failing
	wantCode(t, s.leavingWithout("sleeps"), protocol.CodeNotReady, "plugin a has just failed and sleeps: its session is ending")
	s.phase = lifecycle.Failed
	require.NoError(t, s.leavingWithout("sleeps"))
	s.end = stopping
	require.Error(t, s.leavingWithout("sleeps"))
}

func TestConfiguration_askedForWhileInitRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		setups := 0
		h := startHost(t, configured(&setups).OnInit(lasts(time.Second)))
		set(t, h, "cap:x", lifecycle.CapReady)
		started := beginStart(t, h, manifestFor("a", requires("cap:x")))
		info, err := h.MarkConfigurationNeeded(t.Context(), "plugin-session-0", "a key")
		require.NoError(t, err)
		require.Empty(t, started, "init still runs")
		got := <-started
		require.NoError(t, got.err)
		require.Equal(t, lifecycle.ConfigurationNeeded, got.info.Phase)
		require.Zero(t, setups)
		require.Equal(t, lifecycle.Ready, apply(t, h, info.ID).Phase)
		require.Equal(t, 1, setups)
	})
}

func TestConfiguration_givenWhileInitRunsIsTakenAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		setups := 0
		h := startHost(t, configured(&setups).OnInit(lasts(time.Second)))
		set(t, h, "cap:x", lifecycle.CapReady)
		started := beginStart(t, h, manifestFor("a", requires("cap:x")))
		require.Equal(t, lifecycle.Ready, apply(t, h, "plugin-session-0").Phase)
		require.NoError(t, (<-started).err)
		require.Equal(t, 1, setups)
	})
}

func TestConfiguration_changedWhileSetupRunsSetsUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		setups := 0
		p := offering("a", "tool:a").OnSetup(func(ctx context.Context, s *plugin.Session) error {
			setups++
			return lasts(time.Second)(ctx, s)
		})
		h := startHost(t, p)
		started := beginStart(t, h, manifestFor("a"))
		wantPhase(t, h, "a", lifecycle.Configured)
		_, err := h.MarkConfigurationNeeded(t.Context(), "plugin-session-0", "another key")
		require.NoError(t, err)
		got := <-started
		require.NoError(t, got.err)
		require.Equal(t, lifecycle.ConfigurationNeeded, got.info.Phase)
		require.Equal(t, lifecycle.Ready, apply(t, h, "plugin-session-0").Phase)
		require.Equal(t, 2, setups)
	})
}

// TestConfiguration_crossesWithReady asks for a configuration, or gives another,
// in the moment between the end of setup and ready, from within the mailbox.
func TestConfiguration_crossesWithReady(t *testing.T) {
	for name, test := range map[string]struct {
		message func(reply chan<- error) any
		want    lifecycle.State
		offer   string
	}{
		"asked for": {func(reply chan<- error) any { return needConfiguration{"x", reply} }, lifecycle.ConfigurationNeeded, "announced"},
		"given":     {func(reply chan<- error) any { return configure{protocol.Config{}, reply, false} }, lifecycle.Configured, "announced"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startHost(t, offering("a", "tool:a").OnSetup(lasts(time.Second)))
				info, err := h.Load(t.Context(), manifestFor("a"), StartOptions{})
				require.NoError(t, err)
				reply, crossed := make(chan error, 2), make(chan struct{})
				self := h.find(info.ID).self
				self.tell(initialize{reply: reply})
				settle()
				gen := 0 // nothing was void so far
				self.tell(registered{func() {
					self.tell(ran{gen, protocol.StepSetup, nil})
					self.tell(test.message(reply))
					close(crossed)
				}})
				<-crossed
				settle()
				wantPhase(t, h, "a", test.want)
				wantOffers(t, h, "tool:a "+test.offer)
			})
		})
	}
}

func TestConfiguration_aPluginThatRefusesItFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a").OnSetup(hook(func(context.Context) error { return errors.New("wrong key") })))
		info := start(t, h, manifestFor("a", needsConfiguration))
		info, err := h.ApplyConfiguration(t.Context(), info.ID, protocol.Config{})
		require.EqualError(t, err, "wrong key")
		require.Equal(t, lifecycle.Failed, info.Phase)
	})
}

func TestConfiguration_theStartAnswersOnceTheRegistryKnows(t *testing.T) {
	var setups int
	h := startHost(t, configured(&setups))
	for range 200 {
		info, err := h.Start(t.Context(), manifestFor("a"), StartOptions{RequireConfiguration: true})
		require.NoError(t, err)
		_, err = h.Invoke(t.Context(), protocol.Call{Key: "tool:a"})
		require.Equal(t, protocol.CodeNotReady, protocol.CodeOf(err), "%v", err)
		_, err = h.Stop(t.Context(), info.ID)
		require.NoError(t, err)
	}
	require.Zero(t, setups)
}
