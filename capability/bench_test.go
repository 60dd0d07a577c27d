package capability

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func BenchmarkSnapshot_list(b *testing.B) {
	s := crowded(b, 100_000).Snapshot()
	for b.Loop() {
		require.Len(b, s.List(), 100_000)
	}
}

// crowded returns a registry with so many plugins, each with a ready offer of its own.
func crowded(tb testing.TB, n int) *Registry {
	tb.Helper()
	r, now := New(Options{}), time.UnixMilli(0)
	for i := range n {
		o := plugin(fmt.Sprintf("plugin-%d", i))
		_, err := r.Offer(now, Offer{Key: ownKey(i), Owner: o, Invocable: true})
		require.NoError(tb, err)
		_, err = r.SetOwner(now, o, ready, "")
		require.NoError(tb, err)
	}
	return r
}

// ownKey is what the i-th plugin of a crowded registry offers.
func ownKey(i int) Key { return Key(fmt.Sprintf("tool:plugin-%d.greet", i)) }

func BenchmarkChoose(b *testing.B) {
	const plugins = 100_000
	r := crowded(b, plugins)
	for i := range plugins {
		serve(b, r, 0, plugin(fmt.Sprintf("plugin-%d", i)), "tool:shared", 0)
	}
	for i := range 3 {
		serve(b, r, 0, Owner{"p", fmt.Sprint(i)}, "tool:turns", 0)
	}
	s := r.Snapshot()
	keys := make([]Key, 4096)
	for i := range keys {
		keys[i] = ownKey(rand.IntN(plugins))
	}
	bench := func(name string, f Filter, key func(i int) Key) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := s.Choose(key(i), f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	bench("one key", Filter{}, func(int) Key { return "tool:plugin-777.greet" })
	bench("any of 100,000 keys", Filter{}, func(i int) Key { return keys[i%len(keys)] })
	bench("100,000 owners", Filter{}, func(int) Key { return "tool:shared" })
	bench("100,000 owners, one named", Filter{Plugin: "plugin-777"}, func(int) Key { return "tool:shared" })
	bench("three instances", Filter{}, func(int) Key { return "tool:turns" })
}

// A change costs the same whether a key has one owner or a hundred thousand.
func BenchmarkOffer(b *testing.B) {
	const plugins = 100_000
	r := crowded(b, plugins)
	for i := range plugins {
		offer(b, r, 0, plugin(fmt.Sprintf("plugin-%d", i)), "tool:shared", 0)
	}
	who := make([]Owner, 4096)
	for i := range who {
		who[i] = plugin(fmt.Sprintf("plugin-%d", i*plugins/len(who)))
	}
	bench := func(name string, do func(i int) error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := do(i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	bench("new among 100,000 keys", func(i int) error {
		_, err := r.Offer(at(0), Offer{Key: "tool:new", Owner: who[i%len(who)]})
		r.Remove(at(0), who[i%len(who)], "tool:new")
		return err
	})
	bench("one of 100,000 owners", func(i int) error {
		_, err := r.Offer(at(0), Offer{Key: "tool:shared", Owner: who[i%len(who)], Priority: i})
		return err
	})
	bench("state among 100,000 keys", func(i int) error {
		n := i % len(who)
		_, err := r.SetState(at(0), who[n], ownKey(n*plugins/len(who)), standings[i/len(who)%2], "")
		return err
	})
}

// BenchmarkStart offers and makes ready what many plugins have: four keys of their
// own each, and one that all have.
func BenchmarkStart(b *testing.B) {
	const plugins, keys = 20_000, 5
	for b.Loop() {
		r := New(Options{})
		for i := range plugins {
			o := plugin(fmt.Sprintf("plugin-%d", i))
			var offers [keys]Offer
			for k := range offers {
				offers[k] = Offer{Key: Key(fmt.Sprintf("tool:%d.%d", i, k)), Owner: o, Invocable: true}
			}
			offers[0].Key = "tool:all-have-this"
			_, err := r.Offer(at(0), offers[:]...)
			require.NoError(b, err)
			_, err = r.SetOwner(at(0), o, ready, "")
			require.NoError(b, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*plugins), "µs/plugin")
}

// BenchmarkWatch10000 flips one key that 10,000 watches need.
func BenchmarkWatch10000(b *testing.B) {
	const watches = 10_000
	r, told := New(Options{}), 0
	for range watches {
		_, err := r.Watch(Requirements{anyOf("a"), anyOf("b", "c")}, func(bool, []Key) { told++ })
		require.NoError(b, err)
	}
	hostReady(b, r, "a")
	told = 0
	for b.Loop() {
		hostReady(b, r, "b")
		hostAnnounced(b, r, "b")
	}
	require.Equal(b, 2*watches*b.N, told)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(told), "ns/watch")
}

// BenchmarkWake10000 reports what it costs the process, in CPU time, to make one key
// ready for which 10,000 goroutines wait, up to their return from Wait. What the
// scheduler takes for it, as the bare channel shows, cannot be had for less.
func BenchmarkWake10000(b *testing.B) {
	own := func(b *testing.B) context.Context {
		b.Helper()
		ctx, cancel := context.WithCancel(context.Background())
		b.Cleanup(cancel)
		return ctx
	}
	b.Run("bare channel", func(b *testing.B) {
		benchmarkWake(b, func() (func(), waking) {
			c := make(chan struct{})
			return func() { <-c }, waking{func() { close(c) }, func() int { return waiters }}
		})
	})
	for name, ctx := range map[string]func(*testing.B) context.Context{
		"no context":   func(*testing.B) context.Context { return context.Background() },
		"one context":  (*testing.B).Context,
		"own contexts": own,
	} {
		b.Run(name, func(b *testing.B) {
			benchmarkWake(b, func() (func(), waking) {
				r := New(Options{})
				wait := func() {
					if _, err := r.Wait(ctx(b), "tool:x", time.Minute); err != nil {
						b.Error(err)
					}
				}
				return wait, waking{func() { hostReady(b, r, "tool:x") }, r.Waiting}
			})
		})
	}
}

// waiters is how many goroutines wait in BenchmarkWake10000.
const waiters = 10_000

// waking is how to wake them, and how many have got to where they wait.
type waking struct {
	wake    func()
	waiting func() int
}

// benchmarkWake starts goroutines that wait, and measures until all are woken.
func benchmarkWake(b *testing.B, begin func() (wait func(), w waking)) {
	b.Helper()
	var spent []float64
	for range b.N {
		wait, w := begin()
		var started, left atomic.Int64
		done := make(chan struct{})
		left.Store(waiters)
		for range waiters {
			go func() {
				started.Add(1)
				wait()
				if left.Add(-1) == 0 {
					close(done)
				}
			}()
		}
		for started.Load() < waiters || w.waiting() < waiters {
			runtime.Gosched()
		}
		runtime.GC() // which also gives the last of them time to fall asleep
		before := cpuTime(b)
		w.wake()
		<-done
		spent = append(spent, (cpuTime(b)-before).Seconds()*1e3)
	}
	slices.Sort(spent)
	b.ReportMetric(spent[len(spent)/2], "cpu-ms/op")
	b.ReportMetric(spent[0], "best-cpu-ms/op")
}

// cpuTime is what the process has used so far.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var usage syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
