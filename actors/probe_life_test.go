package actors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport/process"
)

// rogueHangs answers neither "hang" nor the wish that it shut down.
func rogueHangs(w *rogue) {
	w.tools["hang"] = func(ask) string { w.logs("it hangs"); return "" }
	w.begins()
	for {
		if a := w.hears(); a.Method == "shutdown" {
			w.logs("it shall end")
		} else {
			w.calls(a)
		}
	}
}

// TestProbe_aSignalToEverybodyDuringShutdownIsNoCrash is Ctrl-C at a terminal: the
// host begins to shut down, and its workers get the signal as well. How crashes are
// counted and forgiven does not depend on the wire, and is tried in fake time: see
// TestSupervision_countsCrashesInARow and those that follow it.
func TestProbe_aSignalToEverybodyDuringShutdownIsNoCrash(t *testing.T) {
	var born atomic.Int32
	p := newTrial(t, func(o *actors.Options) {
		restarting(o)
		launch := o.Launch
		o.Launch = func(ctx context.Context, m *manifest.Manifest, entry manifest.Entry) (process.Spec, error) {
			born.Add(1)
			return launch(ctx, m, entry)
		}
	})
	var pids []int
	for _, name := range []string{"one", "two"} {
		m := p.worker("hangs")
		m.Name, m.Host.Timeouts.Stop = name, 2*labPatience
		pids = append(pids, p.start(m).Process.PID)
	}
	p.endNeighbor()
	began, over := time.Now(), make(chan error, 1)
	go func() { over <- p.host.Shutdown(context.Background()) }()
	sighted(p, 2, func(e actors.Logged) bool { return e.Text == "it shall end" })
	for _, pid := range pids {
		require.NoError(t, syscall.Kill(-pid, syscall.SIGTERM))
	}
	require.NoError(t, <-over)
	require.Less(t, time.Since(began), labPatience, "it does not wait for an answer that cannot come")
	<-p.seen.over
	require.Zero(t, count(p, func(actors.Restart) bool { return true }))
	require.Equal(t, int32(3), born.Load())
}

func TestProbe_afterARespawnEverythingIsBack(t *testing.T) {
	p := newTrial(t, func(o *actors.Options) { o.Restart = actors.RestartPolicy{First: 2 * time.Second, Jitter: -1} })
	m := p.worker("hangs", "hang", "hello", "other")
	m.Host.Timeouts.Stop = 100 * time.Millisecond
	old := p.start(m)
	inFlight := p.begin("hangs", "hang", `{}`)
	p.wantLogged("hangs", "it hangs")
	before, _ := p.seen.all()
	require.NoError(t, syscall.Kill(old.Process.PID, syscall.SIGKILL))
	err := (<-inFlight).err
	answered := time.Now()
	require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf(err), err)
	crash := sighted(p, 1, func(actors.Restart) bool { return true })
	require.Less(t, answered, crash.Next, "it does not wait for the next session")
	err = (<-p.begin("hangs", "hello", `{}`)).err
	require.Equal(t, protocol.CodeNotReady, protocol.CodeOf(err), err)
	require.ErrorContains(t, err, "; the next try is in ")
	require.Less(t, time.Now(), crash.Next, "it does not wait")

	waiting := <-p.invoke(protocol.Call{Key: "tool:hello", Plugin: "hangs", Wait: true})
	require.Equal(t, answer{result: `{"content":"hello"}`}, waiting)
	for range 5 {
		p.wantCall("hangs", "hello", `{}`, `{"content":"hello"}`)
	}
	require.NotEqual(t, old.ID, p.wantPhase("hangs", lifecycle.Ready, 2).Session)
	_, err = p.host.Inspect(old.ID)
	require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(err), err)
	for _, s := range p.host.Sessions() {
		require.NotEqual(t, old.ID, s.ID)
	}
	all, _ := p.seen.all()
	changes := map[string][]string{}
	for _, e := range all[len(before):] {
		if c, ok := e.(actors.CapabilityChanged); ok {
			changes[string(c.Key)] = append(changes[string(c.Key)], fmt.Sprintf("%s → %s", c.From, c.To))
		}
	}
	once := []string{"ready → degraded", "degraded → ready"}
	require.Equal(t, map[string][]string{"tool:hang": once, "tool:hello": once, "tool:other": once}, changes)
}

// rogueSlow takes its time in initialize, and remembers what comes meanwhile.
func rogueSlow(w *rogue) {
	first := w.hears()
	heard := make(chan ask)
	go func() {
		for {
			heard <- w.hears()
		}
	}()
	early := []string{}
	w.logs("initializing")
	for released := awaitFile("release"); released != nil; {
		select {
		case a := <-heard:
			early = append(early, a.Line)
		case <-released:
			released = nil
		}
	}
	if argument() == "fails" {
		w.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32002,"message":"no database"}}`, first.ID))
		time.Sleep(time.Hour)
	}
	w.says(reply(first, `{"ok":true}`))
	for a := range heard {
		record, _ := json.Marshal(early)
		w.says(reply(a, `{"data":`+string(record)+`}`))
		if a.Method == "shutdown" {
			return
		}
	}
}

// awaitFile returns a channel that closes when the file is there.
func awaitFile(name string) <-chan struct{} {
	there := make(chan struct{})
	go func() {
		defer close(there)
		for range time.Tick(5 * time.Millisecond) {
			if _, err := os.Stat(name); err == nil {
				return
			}
		}
	}()
	return there
}

// release makes the file that a worker waits for.
func release(t *testing.T, m *manifest.Manifest) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(m.Dir, "release"), nil, 0o600))
}

// startSlow begins the start of a worker that is in initialize when this returns.
func startSlow(p *trial, arg string) (m *manifest.Manifest, started <-chan error) {
	p.t.Helper()
	m = told(p.worker("slow", "record"), arg)
	done := make(chan error, 1)
	go func() {
		_, err := p.host.Start(context.Background(), m, actors.StartOptions{})
		done <- err
	}()
	p.wantLogged("slow", "initializing")
	p.wantOffer("slow", lifecycle.CapAnnounced)
	return m, done
}

// wantOffer checks the one thing that a plugin offers, and returns why it is so.
func (p *trial) wantOffer(plugin string, state lifecycle.State) string {
	p.t.Helper()
	offers := p.inspect(plugin).Offers
	require.Len(p.t, offers, 1)
	require.Equal(p.t, state, offers[0].State)
	return offers[0].Reason
}

func TestProbe_announcedIsNotReady(t *testing.T) {
	p := newTrial(t, nil)
	m, started := startSlow(p, "")
	require.EqualError(t, overdue(t, p.host, protocol.Call{Key: "tool:record"}),
		"tool:record of plugin slow is not ready: configured before the deadline (the call's own deadline)")
	patient := p.invoke(protocol.Call{Key: "tool:record", Deadline: time.Now().Add(labPatience)})
	release(t, m)
	require.Equal(t, answer{result: `{"data":[]}`}, <-patient, "nothing came before initialize was over")
	require.NoError(t, <-started)
	p.wantOffer("slow", lifecycle.CapReady)
}

func TestProbe_announcedIsWithdrawnWhenInitializeFails(t *testing.T) {
	p := newTrial(t, nil)
	m, started := startSlow(p, "fails")
	release(t, m)
	require.EqualError(t, <-started, `Worker initialize failed for "slow": no database`)
	require.Contains(t, p.wantOffer("slow", lifecycle.CapWithdrawn), "no database")
	require.Zero(t, count(p, func(e actors.PhaseChanged) bool { return e.Plugin == "slow" && e.To == lifecycle.Ready }))
	require.Zero(t, count(p, func(e actors.CapabilityChanged) bool { return e.Plugin == "slow" && e.To == lifecycle.CapReady }))
}

// runsVar makes the next probe longer than the 20 runs that it has every time.
const runsVar = "AIRI_HOST_PROBE_RUNS"

func TestProbe_readyMeansCallable(t *testing.T) {
	p := newTrial(t, nil)
	runs := 20
	if more, err := strconv.Atoi(os.Getenv(runsVar)); err == nil {
		runs = more
	}
	m := p.worker("neighbor", "hello")
	m.Name = "callable"
	for run := range runs {
		started := make(chan error, 1)
		go func() {
			_, err := p.host.Start(context.Background(), m, actors.StartOptions{})
			started <- err
		}()
		p.wantPhase("callable", lifecycle.Ready, run+1)
		p.wantOffer("callable", lifecycle.CapReady)
		p.wantCall("callable", "hello", `{}`, `{"content":"hello"}`)
		require.NoError(t, <-started)
		_, err := p.host.Stop(t.Context(), p.inspect("callable").ID)
		require.NoError(t, err)
	}
}
