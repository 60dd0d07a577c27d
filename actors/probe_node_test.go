package actors_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/internal/need"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// Deadlines, idle limits and deaths, with a module in Node, in real time. How exact the
// times are is tried in fake time (TestProbe_aDeadlineIsToldOnce and those that follow
// it): on a machine that has much else to do everybody is late, the test as well.

// overdue makes a call whose deadline passes while it is under way, and not before it is
// made.
func overdue(t *testing.T, host *actors.Host, c protocol.Call) (err error) {
	t.Helper()
	need.Time(100*time.Millisecond, func(limit time.Duration) bool {
		c.Deadline = time.Now().Add(limit)
		_, err = host.Invoke(t.Context(), c)
		require.False(t, time.Now().Before(c.Deadline), "the deadline has not come: %v", err)
		return err == nil || !strings.Contains(err.Error(), " was not called before the deadline ")
	})
	return err
}

// ledger is a file to which handlers append.
func ledger(t *testing.T) (path string, lines func() string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "ledger")
	return path, func() string {
		t.Helper()
		text, err := os.ReadFile(path)
		if !errors.Is(err, os.ErrNotExist) { // nobody has written yet
			require.NoError(t, err)
		}
		return string(text)
	}
}

func TestProbe_aModuleIsToldOfADeadlineOnce(t *testing.T) {
	t.Parallel()
	m := startMixed(t, nil)
	m.startReady("probes")
	path, lines := ledger(t)
	waitAs := func(name string) protocol.Call {
		return protocol.Call{Key: "model:WAIT", Input: fmt.Appendf(nil, `{"file":%q,"name":%q}`, path, name), Deadline: time.Now().Add(labPatience)}
	}
	err := overdue(t, m.host, waitAs("a"))
	require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err))
	require.EqualError(t, err, "model:WAIT of plugin probes did not answer before the deadline (the call's own deadline)")

	newer := make(chan answer, 1)
	go func() {
		got, err := m.host.Invoke(t.Context(), waitAs("b"))
		newer <- answer{string(got), err}
	}()
	require.Eventually(t, func() bool { return lines() == "a\nb\n" }, labPatience, time.Millisecond)
	m.wantCall("model:RELEASE", `{}`, `["a"]`)
	require.Equal(t, answer{`"b"`, nil}, <-newer, "the late answer is not its own")
	m.wantCall("model:RELEASE", `{}`, `["a"]`)
	require.Equal(t, map[string]uint64{"late-answer": 1}, m.inspect("probes").Dropped)
	require.Equal(t, "a\nb\n", lines(), "none is run again")
	m.wantUnharmed()
}

// steadily makes a call that the module reports on twice in the idle limit, and whose
// deadline comes after five of them.
func (m *mixed) steadily(idle time.Duration, follows bool) (items int, err error) {
	m.t.Helper()
	need.Time(idle, func(idle time.Duration) bool {
		items = 0
		c := protocol.Call{
			Key: "model:STEADY", Input: fmt.Appendf(nil, `{"ms":%d,"n":1000}`, (idle / 2).Milliseconds()),
			Idle: idle, Deadline: time.Now().Add(5*idle + idle/3),
		}
		if follows {
			c.Progress = func(json.RawMessage) error { items++; return nil }
		}
		_, err = m.host.Invoke(m.t.Context(), c)
		return err == nil || !strings.Contains(err.Error(), " made no progress for ") // the module was late
	})
	return items, err
}

func TestProbe_aModulesProgressKeepsACallAlive(t *testing.T) {
	t.Parallel()
	const idle = 300 * time.Millisecond
	m := startMixed(t, func(o *actors.Options) { o.Timeouts.Idle = idle })
	m.startReady("probes")
	for _, follows := range []bool{true, false} {
		items, err := m.steadily(idle, follows)
		require.EqualError(t, err, "model:STEADY of plugin probes did not answer before the deadline (the call's own deadline)")
		if follows {
			require.GreaterOrEqual(t, items, 5, "no two of them are further apart than the limit")
		}
	}
	_, err := m.host.Invoke(t.Context(), protocol.Call{Key: "model:STEADY", Input: []byte(`{"ms":60000,"n":1}`)})
	require.EqualError(t, err, "model:STEADY of plugin probes made no progress for 300ms (the host's limit timeouts.idle)")
	m.wantUnharmed()
}

func TestProbe_aModuleThatDiesDoesNothingTwice(t *testing.T) {
	t.Parallel()
	m := startMixed(t, func(o *actors.Options) { o.Restart = actors.RestartPolicy{First: 50 * time.Millisecond, Jitter: -1} })
	old := m.startReady("probes")
	path, lines := ledger(t)
	for n, c := range []protocol.Call{{}, {Wait: true}, {Wait: true, Progress: func(json.RawMessage) error { return nil }}} {
		c.Key, c.Input = "model:DIE", fmt.Appendf(nil, `{"file":%q}`, path)
		_, err := m.host.Invoke(t.Context(), c)
		require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf(err), err)
		m.awaitPhase("probes", lifecycle.Ready)
		result, err := m.host.Invoke(t.Context(), protocol.Call{Key: "model:PID", Wait: true})
		require.NoError(t, err)
		require.NotEqual(t, fmt.Sprint(old.Process.PID), string(result))
		require.Equal(t, "once\n", lines(), "call %d", n)
		require.NoError(t, os.Truncate(path, 0))
	}
	require.Empty(t, lines())
	m.wantUnharmed()
}

func TestProbe_aTimeThatIsNoneIsTheDefaultOfAModule(t *testing.T) {
	t.Parallel()
	const usual, idle = 600 * time.Millisecond, 200 * time.Millisecond
	m := startMixed(t, func(o *actors.Options) { o.Timeouts = actors.Timeouts{Call: usual, Idle: idle} })
	still := module(t, "probes")
	still.Host.Timeouts.Call, still.Host.Timeouts.Idle = 0, -time.Second
	_, err := m.host.Start(t.Context(), still, actors.StartOptions{})
	require.NoError(t, err)
	for name, row := range map[string]struct {
		idle, deadline time.Duration
		want           string
	}{
		"none":            {0, 0, "made no progress for 200ms (the host's limit timeouts.idle)"},
		"no idle limit":   {-1, 0, "did not answer before the deadline (the host's limit timeouts.call)"},
		"its own":         {100 * time.Millisecond, 0, "made no progress for 100ms (the call's own idle limit)"},
		"is over already": {0, -time.Second, "was not called before the deadline (the call's own deadline)"},
	} {
		c := protocol.Call{Key: "model:STEADY", Input: []byte(`{"ms":60000,"n":1}`), Idle: row.idle}
		if row.deadline != 0 {
			c.Deadline = time.Now().Add(row.deadline)
		}
		_, err := m.host.Invoke(t.Context(), c)
		require.EqualError(t, err, "model:STEADY of plugin probes "+row.want, name)
	}
	err = overdue(t, m.host, protocol.Call{Key: "model:STEADY", Input: []byte(`{"ms":60000,"n":1}`), Idle: time.Hour})
	require.EqualError(t, err, "model:STEADY of plugin probes did not answer before the deadline (the call's own deadline)", "its own deadline wins")
	m.wantUnharmed()
}
