package actors_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// callWithin calls a tool that may not be ready yet.
func (m *mixed) callWithin(key string, d time.Duration) (string, error) {
	result, err := m.host.Invoke(m.t.Context(), protocol.Call{Key: key, Deadline: time.Now().Add(d)})
	return string(result), err
}

// What a module offers while it prepares itself is announced, not ready.
func TestModule_announcedIsNotReady(t *testing.T) {
	t.Parallel()
	m := startMixed(t, nil)
	started := make(chan error, 1)
	go func() {
		_, err := m.start("late")
		started <- err
	}()
	announced := await(m, func(e actors.CapabilityChanged) bool { return e.Key == "tool:late" })
	require.Equal(t, lifecycle.CapAnnounced, announced.To)

	_, err := m.callWithin("tool:late", 200*time.Millisecond)
	require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err))
	require.ErrorContains(t, err, "tool:late of plugin late is not ready: preparing")
	result, err := m.callWithin("tool:late", 10*time.Second)
	require.NoError(t, err)
	require.JSONEq(t, `{"data":{"early":[]}}`, result, "nothing reached the module before it was ready")
	require.NoError(t, <-started)
}

// When its init fails, what it offered is withdrawn with init's own words, and was
// never ready.
func TestModule_announcedIsWithdrawnWhenInitFails(t *testing.T) {
	t.Parallel()
	m := startMixed(t, nil)
	late := module(t, "late")
	late.Host.Env = map[string]string{"FAIL": "no luck today"}
	started := make(chan error, 1)
	go func() {
		_, err := m.host.Start(t.Context(), late, actors.StartOptions{})
		started <- err
	}()
	await(m, func(e actors.CapabilityChanged) bool { return e.Key == "tool:late" })
	_, err := m.callWithin("tool:late", 10*time.Second)
	require.ErrorContains(t, err, "no luck today")
	require.EqualError(t, <-started, "no luck today")
	withdrawn := await(m, func(e actors.CapabilityChanged) bool { return e.Key == "tool:late" })
	require.Equal(t, lifecycle.CapWithdrawn, withdrawn.To)
	require.Contains(t, withdrawn.Reason, "no luck today")
}
