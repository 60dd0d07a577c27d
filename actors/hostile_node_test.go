package actors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// Nothing that a module does on its channel harms the host, or its neighbors.

// hosting is a host with the hostile module, what that calls, and neighbors.
type hosting struct {
	*mixed
	// release lets the slow and stuck ones go; running and given up are of the slow one.
	release         chan struct{}
	running, abated atomic.Int64
}

func startHostile(t *testing.T, adjust func(*actors.Options)) *hosting {
	t.Helper()
	h := &hosting{release: make(chan struct{})}
	victim := plugin.Define("victim")
	plugin.Model(victim, "SLOW", func(ctx context.Context, _ any) (string, error) {
		h.running.Add(1)
		defer h.running.Add(-1)
		select {
		case <-h.release:
			return "done", nil
		case <-ctx.Done():
			h.abated.Add(1)
			return "", ctx.Err()
		}
	})
	plugin.Model(victim, "STUCK", func(ctx context.Context, _ any) (any, error) {
		select {
		case <-h.release:
		case <-ctx.Done():
		}
		return nil, ctx.Err()
	})
	plugin.Stream(victim, "model:FAST", func(_ context.Context, _ any, emit func(string) error) error {
		for {
			if err := emit("x"); err != nil {
				return err
			}
		}
	})
	h.mixed = startMixed(t, func(o *actors.Options) {
		o.Programs["victim"] = victim
		o.Restart.Disabled = true
		if adjust != nil {
			adjust(o)
		}
	})
	_, err := h.host.Start(t.Context(), builtin("victim"), actors.StartOptions{})
	require.NoError(t, err)
	h.startReady("handlers")
	h.startReady("hostile")
	h.keepNeighbors()
	return h
}

// keepNeighbors calls a neighbor in Go and one in Node until the test ends, and checks
// that each call is answered, and soon.
func (h *hosting) keepNeighbors() {
	stop, over := make(chan struct{}), make(chan struct{})
	calls := []protocol.Call{
		{Key: "tool:greet", Plugin: "greeter", Input: []byte(`{"name":"you"}`)},
		{Key: "tool:double", Plugin: "handlers", Input: []byte(`{"n":21}`)},
	}
	go func() {
		defer close(over)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			c := calls[n%2]
			c.Deadline = time.Now().Add(5 * time.Second)
			if _, err := h.host.Invoke(context.Background(), c); err != nil {
				h.t.Errorf("a neighbor: %v", err)
				return
			}
		}
	}()
	h.t.Cleanup(func() {
		close(stop)
		<-over
	})
}

// wantAlive: the module itself goes on as well.
func (h *hosting) wantAlive() {
	h.t.Helper()
	h.wantCall("model:ECHO", `"still here"`, `"still here"`)
	require.Equal(h.t, lifecycle.Ready, h.inspect("hostile").Phase)
	h.wantUnharmed()
}

// growth is by how much more is kept after do than before, in MiB, of all that goes on
// in this process.
func growth(do func()) int64 {
	kept := func() int64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	before := kept()
	do()
	return (kept() - before) >> 20
}

func TestHostile_aFloodOfEventsIsHeardOrCounted(t *testing.T) {
	t.Parallel()
	h := startHostile(t, nil)
	const n = 100_000
	sub := h.host.Subscribe(actors.KindChannel, 1000)
	defer sub.Close()
	h.wantCall("model:FLOOD", fmt.Sprintf(`{"n":%d}`, n), fmt.Sprint(n)) // nobody reads meanwhile
	require.LessOrEqual(t, len(sub.C), 1000)
	require.Eventually(t, func() bool { return uint64(len(sub.C))+sub.Dropped() >= n }, labPatience, time.Millisecond)
	h.wantAlive()
}

func TestHostile_anEventThatIsTooLongStaysInside(t *testing.T) {
	t.Parallel()
	h := startHostile(t, nil)
	h.wantCall("model:HUGE", `{"bytes":67108864}`, `"said"`)
	require.Eventually(t, func() bool {
		for _, line := range h.host.Logs("hostile", 0) {
			if strings.Contains(line.Text, "the event huge stays in the plugin: it is longer than 67108864 bytes") {
				return true
			}
		}
		return false
	}, labPatience, time.Millisecond)
	h.wantAlive()
}

// A host that is told to take less ends the session, and no other.
func TestHostile_aFrameAboveTheHostsLimitFailsItsSession(t *testing.T) {
	t.Parallel()
	h := startHostile(t, func(o *actors.Options) { o.Limits.Frame = 1 << 20 })
	_, err := h.call("model:HUGE", `{"bytes":2097152}`)
	require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf(err), err)
	failed := h.awaitPhase("hostile", lifecycle.Failed)
	require.Contains(t, failed.Reason, "hostile")
	require.Contains(t, failed.Reason, "a frame is longer than the limit of 1048576 bytes")
	h.wantUnharmed()
}

func TestHostile_framesThatMeanNothingAreCounted(t *testing.T) {
	t.Parallel()
	h := startHostile(t, nil)
	drops := h.host.Subscribe(actors.KindDropped, 0)
	defer drops.Close()
	const times = 1000
	frames, err := json.Marshal([]string{
		`{"type":"x-send-abort","payload":{"body":{"invokeId":"i"}}}`,
		`{"type":"x-send","payload":{"body":{"invokeId":"j","isReqStream":true}}}`,
		`{"type":"x-receive-airi-host-999999","payload":{"body":{"invokeId":"airi-host-999999"},"invokeType":4}}`,
		`{"type":"airi-host:bridge:dance","payload":{"body":{}}}`,
		`{"type":7}`, `[]`, `nonsense`,
	})
	require.NoError(t, err)
	h.wantCall("model:FRAMES", fmt.Sprintf(`{"frames":%s,"times":%d}`, frames, times), `"written"`)
	found := h.inspect("hostile")
	require.Equal(t, map[string]uint64{"unknown-call": 3 * times, "control": times, "bad-frame": 3 * times}, found.Dropped)
	h.wantAlive()
	told := len(drops.C)
	require.NotZero(t, told)
	require.Less(t, told, 20, "of 7000 drops the 1st, 10th, 100th … of each kind is told")
}

func TestHostile_listenersThatThrowDisturbNobody(t *testing.T) {
	t.Parallel()
	h := startHostile(t, nil)
	h.wantCall("model:THROW-IN-LISTENERS", `{}`, `"listens"`)
	for range 200 {
		h.wantCall("model:ECHO", `1`, `1`)
	}
	h.wantAlive()
}

// Not beside others, since it measures what the process keeps.
func TestHostile_anEndlessStreamToACallerWhoIsStuckEnds(t *testing.T) {
	h := startHostile(t, nil)
	release, ended := make(chan struct{}), make(chan error, 1)
	const calls = 4
	grown := growth(func() {
		for range calls {
			go func() {
				_, err := h.host.Invoke(t.Context(), protocol.Call{
					Key: "model:ENDLESS", Input: fmt.Appendf(nil, `{"text":%q}`, strings.Repeat("x", 2000)),
					Progress: func(json.RawMessage) error { <-release; return nil },
				})
				ended <- err
			}()
		}
		require.Eventually(t, func() bool { return h.inspect("hostile").Dropped["progress"] >= calls*1024 }, labPatience, time.Millisecond)
		h.wantAlive()
	})
	require.Less(t, grown, int64(calls*2+16))
	close(release)
	for range calls {
		err := <-ended
		require.Equal(t, protocol.CodeOverloaded, protocol.CodeOf(err), err)
	}
	h.wantAlive()

	_, err := h.call("model:ENDLESS", `{}`) // and for one who does not follow
	require.Equal(t, protocol.CodeOverloaded, protocol.CodeOf(err), err)
	h.wantAlive()
}

func TestHostile_callsBeyondTheLimitAreRefused(t *testing.T) {
	t.Parallel()
	h := startHostile(t, nil)
	done := make(chan answer, 1)
	go func() {
		got, err := h.call("model:INVOKE-AT-ONCE", `{"n":10000}`)
		done <- answer{got, err}
	}()
	require.Eventually(t, func() bool { return h.running.Load() == 4096 }, labPatience, time.Millisecond)
	h.wantUnharmed()
	close(h.release)
	got := <-done
	require.NoError(t, got.err)
	var became struct{ Overloaded, Answered int }
	require.NoError(t, json.Unmarshal([]byte(got.result), &became))
	require.Equal(t, 10_000, became.Overloaded+became.Answered, got.result)
	require.GreaterOrEqual(t, became.Answered, 4096)
	h.wantAlive()
}

func TestHostile_allCallsMayBeAborted(t *testing.T) {
	t.Parallel()
	h := startHostile(t, nil)
	h.wantCall("model:ABORT-AT-ONCE", `{"n":4000}`, `{"AbortError":4000}`)
	require.Eventually(t, func() bool { return h.running.Load() == 0 }, labPatience, time.Millisecond)
	require.LessOrEqual(t, h.abated.Load(), int64(4000))
	require.Eventually(t, func() bool { return h.inspect("victim").InFlight == 0 }, labPatience, time.Millisecond)
	h.wantAlive()
}

func TestHostile_anEndlessRequestStreamThatNobodyReadsEnds(t *testing.T) {
	t.Parallel()
	h := startHostile(t, nil)
	h.wantCall("model:FEED-ENDLESS", `{}`, `"overloaded"`)
	require.GreaterOrEqual(t, h.inspect("hostile").Dropped["feed"], uint64(1024))
	h.wantAlive()
}

func TestHostile_anEndlessStreamThatAModuleGivesUpEnds(t *testing.T) {
	t.Parallel()
	h := startHostile(t, nil)
	h.wantCall("model:FOLLOW-ENDLESS", `{"n":100}`, `100`)
	require.Eventually(t, func() bool { return h.inspect("victim").InFlight == 0 }, labPatience, time.Millisecond)
	h.wantAlive()
}

func TestHostile_offersBeyondTheLimitAreCounted(t *testing.T) {
	t.Parallel()
	h := startHostile(t, nil)
	h.wantCall("model:OFFER", `{"n":5000}`, `5000`)
	require.Greater(t, h.inspect("hostile").Dropped["offer"], uint64(3900))
	h.wantCall("model:NEW-0", `{}`, `0`)
	h.wantAlive()
}
