package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
)

// The benchmarks report CPU time of the whole process, which other processes on
// the machine do not change, beside Go's own elapsed time.

// cpu is the CPU time that the process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// reportCPU adds the CPU time since start, for each of n things, in microseconds.
func reportCPU(b *testing.B, start time.Duration, n int, unit string) {
	b.Helper()
	b.ReportMetric(float64((cpu(b)-start).Nanoseconds())/1e3/float64(n), "cpu-µs/"+unit)
}

func benchHost(b *testing.B, programs map[string]protocol.Program) *Host {
	b.Helper()
	h, err := New(Options{
		Dialects: []protocol.Dialect{airi.Dialect{}}, Programs: programs,
		Timeouts: Timeouts{Capabilities: 10 * time.Minute},
	})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, h.Shutdown(context.Background())) })
	return h
}

func benchManifest(i int) *manifest.Manifest {
	builtin := "builtin:trivial"
	return &manifest.Manifest{
		Dialect: manifest.DialectAIRI, Name: fmt.Sprintf("plugin-%d", i),
		Entrypoints: manifest.Entrypoints{Go: &builtin},
	}
}

var trivial = map[string]protocol.Program{"trivial": plugin.Define("trivial")}

// startMany starts n trivial plugins, numbered from first, and waits for them.
func startMany(b *testing.B, h *Host, first, n int) {
	b.Helper()
	for i := range n {
		info, err := h.Start(context.Background(), benchManifest(first+i), StartOptions{})
		require.NoError(b, err)
		require.Equal(b, lifecycle.Ready, info.Phase)
	}
}

// BenchmarkStart is load and init to ready of a trivial plugin, with so many
// others alive.
func BenchmarkStart(b *testing.B) {
	for _, alive := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("alive=%d", alive), func(b *testing.B) {
			h := benchHost(b, trivial)
			startMany(b, h, 0, alive)
			next := alive
			start, n := cpu(b), 0
			for b.Loop() {
				startMany(b, h, next, 1)
				next++
				n++
			}
			reportCPU(b, start, n, "start")
		})
	}
}

// BenchmarkIdleSession is the memory of one ready session among 100,000.
func BenchmarkIdleSession(b *testing.B) {
	const sessions = 100_000
	for b.Loop() {
		h := benchHost(b, trivial)
		before := heap()
		startMany(b, h, 0, sessions)
		b.ReportMetric(float64(heap()-before)/sessions, "heap-B/session")
		b.ReportMetric(float64(runtime.NumGoroutine()), "goroutines")
		require.NoError(b, h.Shutdown(context.Background()))
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// BenchmarkWakeCallers wakes 10,000 Go callers that wait for one capability, beside
// as many that receive from a channel which is closed: less is not possible.
func BenchmarkWakeCallers(b *testing.B) {
	b.Run("through=registry", func(b *testing.B) {
		h, key := benchHost(b, nil), ""
		benchWake(b, func() {
			if _, err := h.Wait(context.Background(), time.Minute, key); err != nil {
				b.Error(err)
			}
		}, func(round int) { key = fmt.Sprintf("tool:late-%d", round) }, func() {
			_, err := h.SetCapability(context.Background(), key, lifecycle.CapReady, nil)
			require.NoError(b, err)
		}, h.caps.Waiting)
	})
	b.Run("through=channel", func(b *testing.B) {
		var gate chan struct{}
		var waiting atomic.Int64
		benchWake(b, func() {
			waiting.Add(1)
			<-gate
		}, func(int) { gate = make(chan struct{}); waiting.Store(0) }, func() { close(gate) },
			func() int { return int(waiting.Load()) })
	})
}

// benchWake measures what it costs, all in all, to wake those who wait.
func benchWake(b *testing.B, wait func(), begin func(round int), wake func(), waiting func() int) {
	b.Helper()
	const callers = 10_000
	var total time.Duration
	rounds := 0
	for b.Loop() {
		begin(rounds)
		var all sync.WaitGroup
		all.Add(callers)
		for range callers {
			go func() { wait(); all.Done() }()
		}
		for waiting() < callers {
			runtime.Gosched()
		}
		runtime.GC()
		start := cpu(b)
		wake()
		all.Wait()
		total += cpu(b) - start
		rounds++
	}
	b.ReportMetric(float64(total.Microseconds())/1e3/float64(rounds), "cpu-ms/op")
}

// BenchmarkWakeSessions takes 10,000 sessions from waiting-deps to ready.
func BenchmarkWakeSessions(b *testing.B) {
	const sessions = 10_000
	var total time.Duration
	rounds := 0
	for b.Loop() {
		h := benchHost(b, trivial)
		replies := make([]chan error, sessions)
		for i := range sessions {
			info, err := h.Load(context.Background(), benchManifest(i), StartOptions{})
			require.NoError(b, err)
			replies[i] = make(chan error, 1)
			h.find(info.ID).self.tell(initialize{opts: StartOptions{Requires: []string{"cap:late"}}, reply: replies[i]})
		}
		for h.caps.Waiting() < sessions {
			runtime.Gosched()
		}
		runtime.GC()
		start := cpu(b)
		_, err := h.SetCapability(context.Background(), "cap:late", lifecycle.CapReady, nil)
		require.NoError(b, err)
		for _, reply := range replies {
			require.NoError(b, <-reply)
		}
		total += cpu(b) - start
		rounds++
		require.NoError(b, h.Shutdown(context.Background()))
	}
	b.ReportMetric(float64(total.Microseconds())/1e3/float64(rounds), "cpu-ms/op")
}

// BenchmarkInvoke is a call of an in-memory plugin's capability through the
// registry, beside the bare handler.
func BenchmarkInvoke(b *testing.B) {
	p := plugin.Define("echo")
	echo := func(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil }
	plugin.Handle(p, "model:ECHO", echo)
	h := benchHost(b, map[string]protocol.Program{"trivial": p})
	startMany(b, h, 0, 1)
	input := json.RawMessage(`{"name":"Ada"}`)
	b.Run("through=registry", func(b *testing.B) {
		b.ReportAllocs()
		start, n := cpu(b), 0
		for b.Loop() {
			if _, err := h.Invoke(context.Background(), protocol.Call{Key: "model:ECHO", Input: input}); err != nil {
				b.Fatal(err)
			}
			n++
		}
		reportCPU(b, start, n, "call")
	})
	b.Run("through=nothing", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := echo(context.Background(), input); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkIdle is the share of a core that 100 idle sessions take in 10 s.
func BenchmarkIdle(b *testing.B) {
	const seconds = 10
	h := benchHost(b, trivial)
	startMany(b, h, 0, 100)
	for b.Loop() {
		start := cpu(b)
		time.Sleep(seconds * time.Second)
		b.ReportMetric(100*(cpu(b)-start).Seconds()/seconds, "%core")
	}
}

// BenchmarkStream is one item of a call that is followed, or fed, of an in-memory plugin.
func BenchmarkStream(b *testing.B) {
	p := plugin.Define("streams")
	plugin.Stream(p, "model:COUNT", func(_ context.Context, n int, emit func(int) error) error {
		for i := range n {
			if err := emit(i); err != nil {
				return err
			}
		}
		return nil
	})
	plugin.Handle(p, "model:SUM", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		for _, err := range plugin.Feed[json.RawMessage](ctx) {
			if err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	h := benchHost(b, map[string]protocol.Program{"trivial": p})
	startMany(b, h, 0, 1)
	item := json.RawMessage(`1`)
	for name, call := range map[string]func(n int) protocol.Call{
		"followed": func(n int) protocol.Call {
			return protocol.Call{Key: "model:COUNT", Input: fmt.Append(nil, n), Progress: func(json.RawMessage) error { return nil }}
		},
		"fed": func(n int) protocol.Call {
			return protocol.Call{Key: "model:SUM", Feed: func(yield func(json.RawMessage, error) bool) {
				for range n {
					if !yield(item, nil) {
						return
					}
				}
			}}
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			c := call(b.N)
			c.Deadline = time.Now().Add(time.Hour)
			start := cpu(b)
			if _, err := h.Invoke(context.Background(), c); err != nil {
				b.Fatal(err)
			}
			reportCPU(b, start, b.N, "item")
		})
	}
}

// An event to subscribers that are compiled in.
func BenchmarkEvent(b *testing.B) {
	for _, n := range []int{1, 8} {
		b.Run(fmt.Sprint("subscribers=", n), func(b *testing.B) {
			programs := map[string]protocol.Program{}
			for i := range n {
				p := plugin.Define(fmt.Sprint("ear-", i))
				plugin.On(p, "tick", func(context.Context, int) error { return nil })
				programs[p.Name()] = p
			}
			h := benchHost(b, programs)
			for name := range programs {
				_, err := h.Start(b.Context(), manifestFor(name), StartOptions{})
				require.NoError(b, err)
			}
			start := cpu(b)
			for b.Loop() {
				_, err := h.Invoke(b.Context(), protocol.Call{Key: "event:tick", Input: []byte(`1`)})
				require.NoError(b, err)
			}
			reportCPU(b, start, b.N, "event")
		})
	}
}
