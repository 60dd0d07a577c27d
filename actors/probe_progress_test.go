package actors

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// The same as TestProbe_aDeadlineFreesItsCaller, for a plugin that is compiled in: it is
// told of a deadline, by its context, and can prolong an idle limit.

func TestProbe_aDeadlineIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs, told atomic.Int64
		release := make(chan struct{})
		p := offering("a", "tool:hello")
		plugin.Handle(p, "tool:wait", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			runs.Add(1)
			<-ctx.Done()
			told.Add(1)
			<-release
			return json.RawMessage(`"late"`), nil
		})
		h := startHost(t, p)
		startReady(t, h, manifestFor("a"))
		for runsSoFar, c := range []protocol.Call{{}, {Progress: func(json.RawMessage) error { return nil }}} {
			began := time.Now()
			c.Key, c.Deadline = "tool:wait", began.Add(100*time.Millisecond)
			_, err := h.Invoke(t.Context(), c)
			wantCode(t, err, protocol.CodeTimeout, "tool:wait of plugin a did not answer before the deadline (the call's own deadline)")
			require.Equal(t, 100*time.Millisecond, time.Since(began))
			settle()
			require.EqualValues(t, runsSoFar+1, told.Load())
		}
		newer := beginCall(t, h, protocol.Call{Key: "tool:hello"})
		close(release)
		settle()
		require.Equal(t, outcomeOf{result: `"a"`}, <-newer, "a late answer is not its own")
		require.Equal(t, map[string]uint64{"late-answer": 2}, wantPhase(t, h, "a", lifecycle.Ready).Dropped)
		require.EqualValues(t, 2, runs.Load(), "none is run again")
	})
}

func TestProbe_progressKeepsACallAliveToItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const idle = time.Second
		h := startHost(t, handling("a", "model:A", reports(1000, idle/2)))
		startReady(t, h, manifestFor("a"))
		for _, follows := range []bool{true, false} {
			began, items := time.Now(), []string{}
			c := protocol.Call{Key: "model:A", Idle: idle, Deadline: began.Add(5*idle + idle/4)}
			if follows {
				c.Progress = into(&items)
			}
			_, err := h.Invoke(t.Context(), c)
			wantCode(t, err, protocol.CodeTimeout, "model:A of plugin a did not answer before the deadline (the call's own deadline)")
			require.Equal(t, 5*idle+idle/4, time.Since(began))
			if follows {
				require.Len(t, items, 10)
			}
		}
	})
}

func TestProbe_aTimeThatIsNoneIsTheDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const usual = 3 * time.Second
		h := startHostWith(t, Options{Timeouts: Timeouts{Call: usual, Idle: time.Second}}, handling("a", "model:A", slowly(time.Hour, `1`)))
		startReady(t, h, manifestFor("a"))
		for idle, want := range map[time.Duration]time.Duration{0: time.Second, -1: usual, -time.Hour: usual} {
			began := time.Now()
			_, err := h.Invoke(t.Context(), protocol.Call{Key: "model:A", Idle: idle})
			require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err))
			require.Equal(t, want, time.Since(began))
		}
	})
}
