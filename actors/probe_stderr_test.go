package actors_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
)

// rogueNoisy writes to standard error as its argument says, before it reads anything
// or, for "flood", for as long as it lives.
func rogueNoisy(w *rogue) {
	switch argument() {
	case "lines":
		fmt.Fprint(os.Stderr, strings.Repeat(strings.Repeat("e", 127)+"\n", 8<<10))
	case "line":
		fmt.Fprintln(os.Stderr, strings.Repeat("e", 3<<20))
	case "flood":
		go func() {
			for range time.Tick(time.Millisecond) {
				fmt.Fprint(os.Stderr, strings.Repeat("ten lines a millisecond\n", 10))
			}
		}()
	case "closed":
		_ = os.Stderr.Close()
	}
	w.serve()
}

// keptLines is how much of the noise may be kept.
const keptLines = 100

// startNoisy brings a noisy worker to ready.
func startNoisy(t *testing.T, how string) *trial {
	t.Helper()
	p := newTrial(t, nil)
	m := told(p.worker("noisy", "hello"), how)
	m.Host.Limits.LogLines = keptLines
	p.start(m)
	return p
}

// wantThinned waits for the count of what was dropped.
func (p *trial) wantThinned() {
	p.t.Helper()
	p.wantLogged("noisy", "log lines were dropped")
	require.Positive(p.t, p.inspect("noisy").Dropped["log-lines"])
	require.LessOrEqual(p.t, len(p.host.Logs("noisy", 0)), keptLines)
}

func TestProbe_aMebibyteOnStderrBeforeTheHandshake(t *testing.T) {
	p := startNoisy(t, "lines")
	p.wantCall("noisy", "hello", `{}`, `{"content":"hello"}`)
	p.wantThinned()
}

func TestProbe_oneLongLineOnStderrIsCut(t *testing.T) {
	p := startNoisy(t, "line")
	p.wantCall("noisy", "hello", `{}`, `{"content":"hello"}`)
	line := p.wantLogged("noisy", "bytes cut)").Text
	require.Less(t, len(line), 9<<10)
	require.True(t, strings.HasPrefix(line, "eee"))
}

// TestProbe_aFloodOnStderrSlowsNoCall bounds the median at ten times the 50 ms that
// a machine with nothing else to do is good for: the race detector and other tests
// run beside it. Where the neighbor, which is quiet, is slow as well, it is the machine.
func TestProbe_aFloodOnStderrSlowsNoCall(t *testing.T) {
	p := startNoisy(t, "flood")
	p.wantThinned()
	took := map[string][]time.Duration{}
	for range 41 {
		for _, plugin := range []string{"noisy", "neighbor"} {
			began := time.Now()
			p.wantCall(plugin, "hello", `{}`, `{"content":"hello"}`)
			took[plugin] = append(took[plugin], time.Since(began))
		}
	}
	slices.Sort(took["noisy"])
	slices.Sort(took["neighbor"])
	require.Less(t, took["noisy"][20], max(500*time.Millisecond, 5*took["neighbor"][20]))
	require.LessOrEqual(t, len(p.host.Logs("noisy", 0)), keptLines)
}

func TestProbe_aClosedStderrIsNoLoss(t *testing.T) {
	p := startNoisy(t, "closed")
	p.wantCall("noisy", "hello", `{}`, `{"content":"hello"}`)
	require.Equal(t, lifecycle.Ready, p.inspect("noisy").Phase)
	require.Zero(t, count(p, func(actors.Restart) bool { return true }))
}
