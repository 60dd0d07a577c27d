package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport/memory"
)

// ears are plugins that note what they hear of "event:tick", in order.
type ears struct {
	mu    sync.Mutex
	heard map[string][]int
}

// hearing is a plugin that is at each event for as long as hear is.
func (e *ears) hearing(name string, hear func(context.Context) error) *plugin.Definition {
	p := plugin.Define(name)
	plugin.On(p, "tick", func(ctx context.Context, n int) error {
		e.mu.Lock()
		if e.heard == nil {
			e.heard = map[string][]int{}
		}
		e.heard[name] = append(e.heard[name], n)
		e.mu.Unlock()
		return hear(ctx)
	})
	return p
}

func (e *ears) of(name string) []int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.heard[name]
}

func atOnce(context.Context) error { return nil }

// upTo is 1, 2, … n.
func upTo(n int) []int {
	var all []int
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// ticks are the frames by which a peer publishes so many events without waiting.
func ticks(key string, n int) string {
	var frames []string
	for i := range n {
		frames = append(frames, fmt.Sprintf("serve %d %s %d", i+1, key, i+1))
	}
	return strings.Join(frames, "\n")
}

// withEars is a far end that publishes, beside plugins that hear it.
func withEars(t *testing.T, opts Options, plugins []*plugin.Definition, keys ...string) *far {
	t.Helper()
	opts.Programs = map[string]protocol.Program{}
	for _, p := range plugins {
		opts.Programs[p.Name()] = p
	}
	f := ready(t, opts, memory.Options{QueueRecords: 10_000}, plain{}, keys...)
	for _, p := range plugins {
		startReady(t, f.host, manifestFor(p.Name()))
	}
	return f
}

// next are the next frames that the far end hears.
func (f *far) next(n int) (frames []string) {
	f.t.Helper()
	for range n {
		frame, err := f.conn.Recv()
		require.NoError(f.t, err)
		frames = append(frames, string(frame))
	}
	return frames
}

func TestFanOut_whatAPeerPublishesAtOnceIsHeardInOrder(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 1))
				var mu sync.Mutex
				dawdle := func(context.Context) error {
					mu.Lock()
					pause := time.Duration(random.IntN(3)) * time.Millisecond
					mu.Unlock()
					time.Sleep(pause)
					return nil
				}
				var e ears
				f := withEars(t, Options{}, []*plugin.Definition{
					e.hearing("quick", atOnce), e.hearing("a", dawdle), e.hearing("b", dawdle),
				}, "event:tick")
				key := "event:tick"
				if seed%2 == 1 { // through a service, which takes its time before it publishes
					key = "emit"
					f.host.methods = map[string]map[string]protocol.Service{"plain": {"emit": protocol.PublishingFunc(
						func(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
							_ = dawdle(ctx)
							c.Key = "event:tick"
							return nil, plugins{f.host}.Publish(ctx, c)
						})}}
				}
				const n = 300
				f.says(ticks(key, n))
				time.Sleep(time.Minute)
				for _, name := range []string{"quick", "a", "b"} {
					require.Equal(t, upTo(n), e.of(name), name)
				}
				for i := range n { // and the far end itself
					f.hears(fmt.Sprintf("call %d event:tick %d", i+1, i+1))
				}
			})
		})
	}
}

func TestFanOut_aSlowSubscriberLosesWhatIsTooMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e ears
		f := withEars(t, Options{Limits: Limits{Events: 3}, Timeouts: Timeouts{Call: time.Second}}, []*plugin.Definition{
			e.hearing("quick", atOnce),
			e.hearing("hangs", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }),
		}, "event:other")
		events := listen(t, f.host, KindDropped, nil)
		f.says(ticks("event:tick", 10))
		time.Sleep(2 * mostPatience)
		require.Equal(t, upTo(10), e.of("quick"), "a neighbor hears all, and that soon")
		require.Equal(t, upTo(1), e.of("hangs"))
		require.ElementsMatch(t, []string{"result 5 ", "result 6 ", "result 7 ", "result 8 ", "result 9 ", "result 10 "}, f.next(6))
		require.Equal(t, map[string]uint64{"event": 6}, wantPhase(t, f.host, "hangs", lifecycle.Ready).Dropped)

		time.Sleep(time.Second) // what waited is not told when its time is over
		require.ElementsMatch(t, []string{"result 1 ", "result 2 ", "result 3 ", "result 4 "}, f.next(4))
		require.Equal(t, upTo(1), e.of("hangs"))
		require.EqualValues(t, 10, wantPhase(t, f.host, "hangs", lifecycle.Ready).Dropped["event"], "one did not answer, nine were not told")
		require.Contains(t, strings.Join(events.all(), "\n"), "event:tick: 3 events wait for it, the limit (events)")

		f.says("serve 11 event:tick 11")
		require.Equal(t, []int{1, 11}, e.of("hangs"), "and the next one is")
	})
}

// What waits for a session ends with it, and is not its successor's.
func TestFanOut_whatWaitsEndsWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e ears
		f := withEars(t, Options{Timeouts: Timeouts{Drain: time.Second}}, []*plugin.Definition{
			e.hearing("hangs", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }),
		}, "event:other")
		f.says(ticks("event:tick", 5))
		old := wantPhase(t, f.host, "hangs", lifecycle.Ready)
		_, err := f.host.Stop(t.Context(), old.ID)
		require.NoError(t, err)
		settle()
		startReady(t, f.host, manifestFor("hangs"))
		time.Sleep(time.Hour)
		require.Equal(t, upTo(1), e.of("hangs"))
		f.says("serve 6 event:tick 6")
		require.Equal(t, []int{1, 6}, e.of("hangs"))
	})
}

// A subscriber that publishes while it hears, what it hears itself too, does not wait
// for its own end.
func TestFanOut_whoHearsMayPublish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plugin.Define("echo")
		var heard []string
		pass := func(from, to string) {
			plugin.On(p, from, func(ctx context.Context, n int) error {
				heard = append(heard, from+strconv.Itoa(n))
				if to != "" {
					return plugin.From(ctx).Call(ctx, "event:"+to, n, nil)
				}
				return nil
			})
		}
		pass("a", "b")
		pass("b", "c")
		pass("c", "")
		h := startHost(t, p)
		startReady(t, h, manifestFor("echo"))
		began := time.Now()
		for n := range 2 {
			_, err := h.Invoke(t.Context(), protocol.Call{Key: "event:a", Input: []byte(strconv.Itoa(n))})
			require.NoError(t, err)
			settle()
		}
		require.Zero(t, time.Since(began))
		require.Equal(t, []string{"a0", "b0", "c0", "a1", "b1", "c1"}, heard)
		require.Empty(t, wantPhase(t, h, "echo", lifecycle.Ready).Dropped)
	})
}
