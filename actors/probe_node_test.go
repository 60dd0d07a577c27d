package actors_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// Deadlines, idle limits and deaths, with a module in Node, in real time.

// ledger is a file to which handlers append.
func ledger(t *testing.T) (path string, lines func() string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "ledger")
	return path, func() string {
		t.Helper()
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}
}

func TestProbe_aModuleIsToldOfADeadlineOnce(t *testing.T) {
	t.Parallel()
	m := startMixed(t, nil)
	m.startReady("probes")
	path, lines := ledger(t)
	waitFor := func(name string, within time.Duration) (answer, time.Duration) {
		began := time.Now()
		got, err := m.host.Invoke(t.Context(), protocol.Call{
			Key: "model:WAIT", Input: fmt.Appendf(nil, `{"file":%q,"name":%q}`, path, name), Deadline: began.Add(within),
		})
		return answer{string(got), err}, time.Since(began)
	}
	got, took := waitFor("a", 100*time.Millisecond)
	require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(got.err))
	require.EqualError(t, got.err, "model:WAIT of plugin probes did not answer before the deadline (the call's own deadline)")
	require.GreaterOrEqual(t, took, 100*time.Millisecond)
	require.Less(t, took, 250*time.Millisecond)

	newer := make(chan answer, 1)
	go func() {
		got, _ := waitFor("b", labPatience)
		newer <- got
	}()
	require.Eventually(t, func() bool { return lines() == "a\nb\n" }, labPatience, time.Millisecond)
	m.wantCall("model:RELEASE", `{}`, `["a"]`)
	require.Equal(t, answer{`"b"`, nil}, <-newer, "the late answer is not its own")
	m.wantCall("model:RELEASE", `{}`, `["a"]`)
	require.Equal(t, map[string]uint64{"late-answer": 1}, m.inspect("probes").Dropped)
	require.Equal(t, "a\nb\n", lines(), "none is run again")
	m.wantUnharmed()
}

func TestProbe_aModulesProgressKeepsACallAlive(t *testing.T) {
	t.Parallel()
	const idle = 300 * time.Millisecond
	m := startMixed(t, func(o *actors.Options) { o.Timeouts.Idle = idle })
	m.startReady("probes")
	for _, follows := range []bool{true, false} {
		began, items := time.Now(), 0
		c := protocol.Call{
			Key: "model:STEADY", Input: fmt.Appendf(nil, `{"ms":%d,"n":1000}`, (idle / 2).Milliseconds()),
			Deadline: began.Add(5*idle + idle/3),
		}
		if follows {
			c.Progress = func(json.RawMessage) error { items++; return nil }
		}
		_, err := m.host.Invoke(t.Context(), c)
		require.EqualError(t, err, "model:STEADY of plugin probes did not answer before the deadline (the call's own deadline)")
		require.InDelta(t, 5*idle+idle/3, time.Since(began), float64(150*time.Millisecond))
		if follows {
			require.Greater(t, items, 5)
		}
	}
	began := time.Now()
	_, err := m.host.Invoke(t.Context(), protocol.Call{Key: "model:STEADY", Input: []byte(`{"ms":60000,"n":1}`)})
	require.EqualError(t, err, "model:STEADY of plugin probes made no progress for 300ms (the host's limit timeouts.idle)")
	require.InDelta(t, idle, time.Since(began), float64(150*time.Millisecond))
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
		"none":              {0, 0, "made no progress for 200ms (the host's limit timeouts.idle)"},
		"no idle limit":     {-1, 0, "did not answer before the deadline (the host's limit timeouts.call)"},
		"its own":           {100 * time.Millisecond, 0, "made no progress for 100ms (the call's own idle limit)"},
		"the deadline wins": {time.Hour, 150 * time.Millisecond, "did not answer before the deadline (the call's own deadline)"},
		"is over already":   {0, -time.Second, "was not called before the deadline (the call's own deadline)"},
	} {
		c := protocol.Call{Key: "model:STEADY", Input: []byte(`{"ms":60000,"n":1}`), Idle: row.idle}
		if row.deadline != 0 {
			c.Deadline = time.Now().Add(row.deadline)
		}
		_, err := m.host.Invoke(t.Context(), c)
		require.EqualError(t, err, "model:STEADY of plugin probes "+row.want, name)
	}
	m.wantUnharmed()
}
