package load_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/peers/load"
)

// open starts the test binary as a subject.
func open(t *testing.T, kind string, event func(json.RawMessage)) *load.Client {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), asSubject+"="+kind)
	c, err := load.Open(cmd, event)
	require.NoError(t, err)
	return c
}

// within is a context for what must not take long.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestClient_ordersASubject(t *testing.T) {
	c := open(t, "parrot", nil)
	ctx := within(t)
	require.NoError(t, c.Do(ctx, "workers", map[string]any{"workers": []load.Worker{{Dir: "/x"}}}, nil))
	var r load.Result
	require.NoError(t, c.Do(ctx, "run", map[string]any{"load": load.Load{Kind: load.Echo, Flight: 2, Calls: 9}}, &r))
	require.Equal(t, 9, r.Calls)
	require.NoError(t, c.Close())
}

func TestClient_tellsMemory(t *testing.T) {
	if _, err := load.Memory(); err != nil {
		require.ErrorContains(t, err, "resident memory: ")
		return
	}
	c := open(t, "parrot", nil)
	var m struct{ Bytes int64 }
	require.NoError(t, c.Do(within(t), "memory", nil, &m))
	require.Greater(t, m.Bytes, int64(1<<20))
	require.NoError(t, c.Close())
}

func TestClient_tellsWhatASubjectCouldNotDo(t *testing.T) {
	c := open(t, "parrot", nil)
	ctx := within(t)
	var failed *load.Failure
	require.ErrorAs(t, c.Do(ctx, "workers", nil, nil), &failed)
	require.Equal(t, load.Failure{Op: "workers", Message: "no workers"}, *failed)
	require.EqualError(t, c.Do(ctx, "dance", nil, nil), `dance: unknown operation "dance": expected workers, run or memory`)
	require.NoError(t, c.Close())
}

func TestClient_tellsHowTheProcessEnded(t *testing.T) {
	c := open(t, "dies", nil)
	err := c.Do(within(t), "memory", nil, nil)
	require.ErrorContains(t, err, "memory: ")
	require.ErrorContains(t, c.Close(), "exit status 3; it said: no strength left")
	require.ErrorContains(t, c.Do(within(t), "memory", nil, nil), "memory: ")
}

func TestClient_handsOverEvents(t *testing.T) {
	events := make(chan string, 1)
	c := open(t, "talks", func(e json.RawMessage) { events <- string(e) })
	require.JSONEq(t, `{"event":"hello"}`, <-events)
	require.NoError(t, c.Close())
}

func TestClient_givesUpAtTheDeadline(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), asSubject+"=deaf")
	c, err := load.Open(cmd, nil)
	require.NoError(t, err)
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	require.ErrorIs(t, c.Do(short, "memory", nil, nil), context.DeadlineExceeded)
	stop() // a deaf one has to be ended by force
	require.ErrorContains(t, c.Close(), "signal: killed")
}
