package actors_test

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// startLate begins the start of a module that prepares itself until release is
// called. What it offers is announced when this returns.
func (m *mixed) startLate(env map[string]string) (release func(), started <-chan error) {
	m.t.Helper()
	late, file := module(m.t, "late"), filepath.Join(m.t.TempDir(), "release")
	late.Host.Env = map[string]string{"RELEASE": file}
	maps.Copy(late.Host.Env, env)
	done := make(chan error, 1)
	go func() {
		_, err := m.host.Start(m.t.Context(), late, actors.StartOptions{})
		done <- err
	}()
	announced := await(m, func(e actors.CapabilityChanged) bool { return e.Key == "tool:late" })
	require.Equal(m.t, lifecycle.CapAnnounced, announced.To)
	return func() { require.NoError(m.t, os.WriteFile(file, nil, 0o600)) }, done
}

// callWithin calls a tool that may not be ready yet.
func (m *mixed) callWithin(key string, d time.Duration) (string, error) {
	result, err := m.host.Invoke(m.t.Context(), protocol.Call{Key: key, Deadline: time.Now().Add(d)})
	return string(result), err
}

// What a module offers while it prepares itself is announced, not ready.
func TestModule_announcedIsNotReady(t *testing.T) {
	t.Parallel()
	m := startMixed(t, nil)
	release, started := m.startLate(nil)

	err := overdue(t, m.host, protocol.Call{Key: "tool:late"})
	require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err))
	require.ErrorContains(t, err, "tool:late of plugin late is not ready: preparing")
	release()
	result, err := m.callWithin("tool:late", labPatience)
	require.NoError(t, err)
	require.JSONEq(t, `{"data":{"early":[]}}`, result, "nothing reached the module before it was ready")
	require.NoError(t, <-started)
}

// When its init fails, what it offered is withdrawn with init's own words, and was
// never ready.
func TestModule_announcedIsWithdrawnWhenInitFails(t *testing.T) {
	t.Parallel()
	m := startMixed(t, nil)
	release, started := m.startLate(map[string]string{"FAIL": "no luck today"})
	release()
	_, err := m.callWithin("tool:late", labPatience)
	require.ErrorContains(t, err, "no luck today")
	require.EqualError(t, <-started, "no luck today")
	withdrawn := await(m, func(e actors.CapabilityChanged) bool { return e.Key == "tool:late" })
	require.Equal(t, lifecycle.CapWithdrawn, withdrawn.To)
	require.Contains(t, withdrawn.Reason, "no luck today")
}
