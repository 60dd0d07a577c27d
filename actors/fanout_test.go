package actors

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// audience is who hears "event:tick" in one run, and what they have heard. Each event
// is told after the one before is heard, or its time is over.
type audience struct {
	*mortal
	// heard are the events of each subscriber in the order in which it heard them,
	// owed those of the ones that must have heard them.
	heard, owed map[string][]int
	last        int
}

// gathered is a host with subscribers: two that are quick, one that is slow, one that
// hangs, one that fails, one that panics, one that may be stopped, and "far", which
// dies.
func gathered(t *testing.T) *audience {
	t.Helper()
	a := &audience{heard: map[string][]int{}, owed: map[string][]int{}}
	var all []*plugin.Definition
	for name, hear := range map[string]func(context.Context) error{
		"quick": func(context.Context) error { return nil },
		"slow":  func(context.Context) error { time.Sleep(3 * time.Second); return nil },
		"hangs": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"fails": func(context.Context) error { return fmt.Errorf("no luck") },
		"panic": func(context.Context) error { panic("oh") },
		"comes": func(context.Context) error { return nil },
	} {
		p := plugin.Define(name)
		plugin.On(p, "tick", func(ctx context.Context, n int) error {
			a.hears(name, n)
			return hear(ctx)
		})
		all = append(all, p)
	}
	twice := plugin.Define("twice") // by two patterns
	plugin.On(twice, "tick", func(_ context.Context, n int) error { a.hears("twice", n); return nil })
	plugin.On(twice, "tick.*", func(_ context.Context, n int) error { a.hears("twice", n); return nil })
	a.mortal = startMortal(t, Options{Restart: steady}, append(all, twice), "event:tick")
	for _, p := range append(all, twice) {
		startReady(t, a.host, manifestFor(p.Name()))
	}
	startReady(t, a.host, farManifest())
	return a
}

func (a *audience) hears(name string, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.heard[name] = append(a.heard[name], n)
}

// publish tells the next event.
func (a *audience) publish() {
	a.t.Helper()
	a.last++
	for _, name := range []string{"quick", "slow", "hangs", "fails", "panic", "twice", "comes"} {
		if at, err := a.host.Inspect(name); err == nil && isUp(at.Phase) {
			a.owed[name] = append(a.owed[name], a.last)
		}
	}
	_, err := a.host.Invoke(a.t.Context(), protocol.Call{Key: "event:tick", Input: []byte(strconv.Itoa(a.last))})
	require.NoError(a.t, err)
}

// comesOrGoes stops the one that may be stopped, or starts it.
func (a *audience) comesOrGoes() {
	a.t.Helper()
	if at, err := a.host.Inspect("comes"); err == nil && isUp(at.Phase) {
		_, err = a.host.Stop(a.t.Context(), at.ID)
		require.NoError(a.t, err)
		return
	}
	startReady(a.t, a.host, manifestFor("comes"))
}

func TestFanOut_eachHearsInOrderAndOnce(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 0))
				a := gathered(t)
				for range 40 {
					switch random.IntN(5) {
					case 0:
						a.dies()
					case 1:
						time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
					case 2:
						a.comesOrGoes()
					default:
						a.publish()
					}
				}
				time.Sleep(time.Hour) // nothing comes later
				synctest.Wait()       // what was heard by then is seen
				require.Equal(t, a.owed, a.heard)
			})
		})
	}
}

// A worker that dies with an event in its hands does not get it again.
func TestFanOut_neverTellsAgainAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := startMortal(t, Options{Restart: steady}, nil, "event:tick", "tool:x")
		m.mute = true
		startReady(t, m.host, farManifest())
		var frames []string
		events := listen(t, m.host, KindWire, func(e Event) {
			if w := e.(Wire); !w.FromPlugin {
				frames = append(frames, fmt.Sprint(w.Message))
			}
		})
		done := m.begins(protocol.Call{Key: "event:tick", Wait: true})
		m.next(func() { m.mute = false })
		m.crashes()
		require.NoError(t, (<-done).err)
		time.Sleep(time.Minute)
		synctest.Wait()
		wantPhase(t, m.host, "far", lifecycle.Ready)
		events.all()
		require.Equal(t, 1, strings.Count(strings.Join(frames, "\n"), "event:tick"), "%v", frames)
		wantCall(t, m.host, "tool:x", "2")
	})
}
