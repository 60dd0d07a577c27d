package actors_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// A module that is killed is back, under another session, and all that it offers
// with it.
func TestModule_killedIsBack(t *testing.T) {
	t.Parallel()
	m := startMixed(t, func(o *actors.Options) {
		o.Restart = actors.RestartPolicy{First: 2 * time.Second, Jitter: -1}
		o.Programs["needy"] = plugin.Define("needy")
	})
	old := m.startReady("mortal")
	_, err := m.host.Start(t.Context(), builtin("needy"), actors.StartOptions{Requires: []string{"tool:pid"}})
	require.NoError(t, err)
	watcher := m.host.Subscribe(actors.KindCapability|actors.KindPhase|actors.KindLog|actors.KindRestart, 0)
	defer watcher.Close()
	m.sub = watcher

	inFlight := make(chan error, 1)
	go func() {
		_, err := m.call("tool:hang", `{}`)
		inFlight <- err
	}()
	await(m, func(e actors.Logged) bool { return e.Text == "hanging" })
	require.NoError(t, syscall.Kill(old.Process.PID, syscall.SIGKILL))
	err = <-inFlight
	require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf(err), err)
	answered := time.Now()

	var seen []string
	note := func(e actors.Event) {
		switch e := e.(type) {
		case actors.CapabilityChanged:
			seen = append(seen, fmt.Sprintf("%s %s → %s", e.Key, e.From, e.To))
		case actors.PhaseChanged:
			if e.Plugin == "needy" {
				seen = append(seen, fmt.Sprintf("%s %s → %s", e.Plugin, e.From, e.To))
			}
		}
	}
	crash := await(m, func(e actors.Event) bool { note(e); return e.Kind() == actors.KindRestart }).(actors.Restart)
	require.Equal(t, 1, crash.InARow)
	require.Contains(t, crash.Reason, "plugin mortal: the worker was killed by SIGKILL")
	require.Less(t, answered, crash.Next, "it does not wait for the next session")
	_, err = m.call("tool:pid", `{}`)
	require.Equal(t, protocol.CodeNotReady, protocol.CodeOf(err), err)
	require.ErrorContains(t, err, "; the next try is in ")
	require.Less(t, time.Now(), crash.Next, "nor does it wait")

	result, err := m.host.Invoke(t.Context(), protocol.Call{Key: "tool:pid", Wait: true})
	require.NoError(t, err)
	now, err := m.host.Inspect("mortal")
	require.NoError(t, err)
	require.Equal(t, lifecycle.Ready, now.Phase)
	require.NotEqual(t, old.ID, now.ID)
	require.JSONEq(t, fmt.Sprintf(`{"data":%d}`, now.Process.PID), string(result))
	require.ErrorIs(t, syscall.Kill(old.Process.PID, 0), syscall.ESRCH)
	for range 5 {
		m.wantCall("tool:greet-back", `{}`, `{"content":"Hello yourself."}`)
	}
	_, err = m.host.Inspect(old.ID)
	require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(err), err)

	ready := map[string]bool{}
	await(m, func(e actors.Event) bool {
		note(e)
		if phase, ok := e.(actors.PhaseChanged); ok && phase.To == lifecycle.Ready {
			ready[phase.Plugin] = true
		}
		return ready["mortal"] && ready["needy"]
	})
	require.ElementsMatch(t, []string{
		"tool:pid ready → degraded", "tool:greet-back ready → degraded", "tool:hang ready → degraded", "needy ready → degraded",
		"tool:pid degraded → ready", "tool:greet-back degraded → ready", "tool:hang degraded → ready", "needy degraded → ready",
	}, seen)
	m.wantUnharmed()
}
