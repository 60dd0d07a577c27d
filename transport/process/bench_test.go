//go:build linux

package process

import (
	"bytes"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkEcho measures calls to an echoing worker and, as x-bare, how many times
// longer they take than a loop of bare system calls on such pipes.
func BenchmarkEcho(b *testing.B) {
	for _, load := range []struct{ flight, size int }{{1, 100}, {1, 64 << 10}, {128, 100}} {
		for name, kind := range wires {
			b.Run(fmt.Sprintf("%d-in-flight/%dB/%s", load.flight, load.size, name), func(b *testing.B) {
				record := bytes.Repeat([]byte{'x'}, load.size)
				bare := bareTime(b, kind, load.flight, record)
				p, err := Start(echoSpec(kind))
				require.NoError(b, err)
				defer func() { require.NoError(b, p.Close()) }()
				calls(b, p, load.flight, load.flight, record) // the worker has to be loaded
				b.ReportAllocs()
				b.ResetTimer()
				calls(b, p, b.N, load.flight, record)
				b.ReportMetric(float64(b.Elapsed())/float64(bare), "x-bare")
			})
		}
	}
}

// BenchmarkStart measures a start by each reach, and as µs/stop what it takes until
// nothing is left.
func BenchmarkStart(b *testing.B) {
	for _, reach := range []Reach{ReachGroup, ReachSweep, ReachCgroup} {
		b.Run(string(reach), func(b *testing.B) {
			s := Spec{Plugin: "bench", Path: "/bin/cat", Env: Environment(nil, nil), Reach: reach}
			var stops time.Duration
			for b.Loop() {
				p, err := Start(s)
				require.NoError(b, err)
				b.StopTimer()
				began := time.Now()
				require.NoError(b, p.Close())
				_, err = p.Stop(b.Context(), Ladder{})
				require.NoError(b, err)
				stops += time.Since(began)
				b.StartTimer()
			}
			b.ReportMetric(float64(stops.Microseconds())/float64(b.N), "µs/stop")
		})
	}
}

func echoSpec(kind Wire) Spec {
	s := Spec{Plugin: "bench", Path: "/proc/self/exe", Env: Environment(map[string]string{modeVar: "echo"}, nil)}
	withWire(kind)(&s)
	return s
}

// calls makes n calls, flight of them at a time.
func calls(b *testing.B, p *Process, n, flight int, record []byte) {
	b.Helper()
	sent := 0
	for received := range n {
		for ; sent < n && sent-received < flight; sent++ {
			if err := p.Send(record); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := p.Recv(); err != nil {
			b.Fatal(err)
		}
	}
}

// bareTime takes the time of b.N records that are written flight at a time, in one
// call, and read by blocking calls until all have come back.
func bareTime(b *testing.B, kind Wire, flight int, record []byte) time.Duration {
	b.Helper()
	pipes, err := openPlumbing(kind)
	require.NoError(b, err)
	defer pipes.closeAll()
	require.NoError(b, syscall.SetNonblock(pipes.input, false))
	require.NoError(b, syscall.SetNonblock(pipes.output, false))
	pid, err := forkExec(echoSpec(kind), pipes)(echoSpec(kind).Env, attributes())
	pipes.closeWorker()
	require.NoError(b, err)
	defer func() {
		require.NoError(b, syscall.Kill(pid, syscall.SIGKILL))
		reap(pid)
	}()
	batch := bytes.Repeat(append(bytes.Clone(record), '\n'), flight)
	buf := make([]byte, 256<<10)
	exchange(b, pipes, batch, buf)
	began := time.Now()
	for done := 0; done < b.N; done += flight {
		exchange(b, pipes, batch, buf)
	}
	return time.Since(began)
}

// exchange writes a batch and reads it back.
func exchange(b *testing.B, pipes *plumbing, batch, buf []byte) {
	b.Helper()
	for rest := batch; len(rest) > 0; {
		n, err := syscall.Write(pipes.input, rest)
		if err != nil {
			b.Fatal(err)
		}
		rest = rest[n:]
	}
	for got := 0; got < len(batch); {
		n, err := syscall.Read(pipes.output, buf)
		if err != nil || n == 0 {
			b.Fatal(n, err)
		}
		got += n
	}
}
