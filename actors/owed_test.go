package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport/memory"
)

// narrow is a far end whose pipe takes two frames, and which may ask for "quick".
func narrow(t *testing.T, limits Limits) *far {
	t.Helper()
	f := ready(t, Options{Limits: limits}, memory.Options{QueueRecords: 2}, plain{}, "tool:a")
	f.host.methods = map[string]map[string]protocol.Service{"plain": {"quick": protocol.QuickFunc(
		func(_ context.Context, c protocol.Call) (json.RawMessage, error) { return c.Input, nil })}}
	return f
}

// asks asks for so many answers at once.
func (f *far) asks(n int) {
	f.t.Helper()
	var frames []string
	for i := range n {
		frames = append(frames, fmt.Sprintf("serve %d quick %d", i+1, i+1))
	}
	f.says(strings.Join(frames, "\n"))
}

func TestOwed_answersWaitForWhoDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := narrow(t, Limits{})
		f.asks(1000)
		f.says("say a refusal")
		_, err := f.host.Invoke(t.Context(), protocol.Call{Key: "tool:a"})
		wantCode(t, err, protocol.CodeOverloaded, "tool:a of plugin far was not called: the peer reads too slowly: the send queue is full")
		time.Sleep(time.Minute)
		for i := range 1000 {
			f.hears(fmt.Sprintf("result %d %d", i+1, i+1))
		}
		f.hears("a refusal")
		done := f.call("tool:a")
		f.hears("call 2 tool:a ")
		f.says("answer 2 5")
		require.NoError(t, (<-done).err)
		require.Empty(t, wantPhase(t, f.host, "far", lifecycle.Ready).Dropped)
	})
}

func TestOwed_aCancelArrivesAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := narrow(t, Limits{})
		done := beginCall(t, f.host, protocol.Call{Key: "tool:a", Deadline: time.Now().Add(time.Second)})
		f.says("say x")
		require.Equal(t, protocol.CodeTimeout, protocol.CodeOf((<-done).err))
		f.hears("call 1 tool:a ", "x", "cancel 1 deadline")
	})
}

func TestOwed_whoNeverReadsIsEnded(t *testing.T) {
	for name, test := range map[string]struct {
		limits Limits
		ask    func(*far)
	}{
		"answers":         {Limits{}, func(f *far) { f.asks(defaultOwedFrames + 3) }},
		"many bytes":      {Limits{}, func(f *far) { f.says(strings.Repeat("say "+strings.Repeat("x", 1<<20)+"\n", 19) + "say x") }},
		"a few answers":   {Limits{OwedFrames: 3}, func(f *far) { f.asks(6) }},
		"a bit too large": {Limits{OwedBytes: 10}, func(f *far) { f.says("say 1234567890\nsay 1234567890\nsay 1234567890\nsay 1234567890") }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := narrow(t, test.limits)
				test.ask(f)
				settle()
				failed := wantPhase(t, f.host, "far", lifecycle.Failed)
				require.Contains(t, failed.Reason, "plugin far: the peer reads too slowly: the send queue is full")
				require.NotZero(t, failed.Dropped["lost-reply"])
			})
		})
	}
}
