package actors

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// crashNotes is a CrashMemory.
type crashNotes struct {
	mu  sync.Mutex
	all map[string]CrashRecord
}

func (n *crashNotes) Recall(plugin string) CrashRecord {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all[plugin]
}

func (n *crashNotes) Remember(plugin string, r CrashRecord) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.all == nil {
		n.all = map[string]CrashRecord{}
	}
	n.all[plugin] = r
}

// remembering is a host that begins with what former ones have noted.
func remembering(t *testing.T, n *crashNotes, policy RestartPolicy) *mortal {
	t.Helper()
	return startMortal(t, Options{Restart: policy, Memory: n}, nil, "tool:a")
}

// resumes starts the plugin as a host does when it begins.
func (m *mortal) resumes() error {
	m.t.Helper()
	_, err := m.host.Start(m.t.Context(), farManifest(), StartOptions{Resume: true})
	settle()
	return err
}

func TestMemory_whatWasGivenUpStaysSoUntilItIsStartedByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, policy := &crashNotes{}, RestartPolicy{Jitter: -1, MaxInARow: 1}
		first := remembering(t, n, policy)
		require.NoError(t, first.resumes())
		first.crashes()
		time.Sleep(time.Second)
		settle()
		first.crashes()
		first.wantGivenUp(2)
		require.NoError(t, first.host.Shutdown(t.Context()))
		crash := n.Recall("far")
		require.Equal(t, CrashRecord{Crashes: 2, InARow: 2, GivenUp: true, LastCrash: "EOF", LastCrashAt: crash.LastCrashAt}, crash)

		second := remembering(t, n, policy)
		require.EqualError(t, second.resumes(), "it crashed before this host began: EOF")
		require.Zero(t, second.born())
		info := wantPhase(t, second.host, "far", lifecycle.Failed)
		require.Equal(t, WorkerInfo{
			State: lifecycle.WorkerStopped, Crashes: 2, InARow: 2, GivenUp: true, LastCrash: "EOF", LastCrashAt: crash.LastCrashAt,
		}, info.Worker)
		time.Sleep(24 * time.Hour)
		require.Zero(t, second.born())
		require.Equal(t, crash, n.Recall("far"))

		started := startReady(t, second.host, farManifest())
		require.Equal(t, 0, started.Worker.InARow)
		require.Equal(t, 2, started.Worker.Crashes)
		require.False(t, n.Recall("far").GivenUp)
		second.crashes()
		require.Equal(t, 1, n.Recall("far").InARow)
	})
}

func TestMemory_aPlannedRestartIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &crashNotes{}
		first := remembering(t, n, steady)
		require.NoError(t, first.resumes())
		for _, pause := range []time.Duration{1, 2} {
			first.crashes()
			time.Sleep(pause * time.Second)
			settle()
		}
		first.crashes()
		next := n.Recall("far").NextRestart
		require.Equal(t, time.Now().Add(4*time.Second), next)
		time.Sleep(time.Second)
		require.NoError(t, first.host.Shutdown(t.Context()))
		require.Equal(t, next, n.Recall("far").NextRestart)

		second := remembering(t, n, steady)
		told := pauses(t, second.host)
		require.EqualError(t, second.resumes(), "it crashed before this host began: EOF")
		require.Equal(t, next, second.worker().NextRestart)
		_, err := second.host.Invoke(t.Context(), protocol.Call{Key: "tool:a", Plugin: "far"})
		wantCode(t, err, protocol.CodeNotReady, "tool:a of plugin far is not ready: failed (it crashed before this host began: EOF); the next try is in 3s")
		time.Sleep(time.Until(next) - 1)
		settle()
		require.Zero(t, second.born())
		time.Sleep(time.Nanosecond)
		settle()
		wantPhase(t, second.host, "far", lifecycle.Ready)
		require.Zero(t, n.Recall("far").NextRestart)
		second.crashes()
		require.Equal(t, []time.Duration{3 * time.Second, 8 * time.Second}, told())
		require.Equal(t, 4, n.Recall("far").InARow)
	})
}

func TestMemory_aRestartThatHasComeMeanwhileIsNotAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &crashNotes{}
		n.Remember("far", CrashRecord{Crashes: 5, InARow: 5, LastCrash: "EOF", LastCrashAt: time.Now(), NextRestart: time.Now().Add(time.Second)})
		time.Sleep(time.Second)
		m := remembering(t, n, steady)
		require.NoError(t, m.resumes())
		require.Equal(t, 5, m.worker().InARow)
		require.Zero(t, m.worker().NextRestart)
		m.crashes()
		require.Equal(t, 6, n.Recall("far").InARow)
	})
}

// The clock was put back while no host ran.
func TestMemory_aRestartIsAwaitedNoLongerThanACrashCanKeepAPluginDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &crashNotes{}
		n.Remember("far", CrashRecord{Crashes: 1, InARow: 1, LastCrash: "EOF", NextRestart: time.Now().AddDate(1, 0, 0)})
		m := remembering(t, n, RestartPolicy{Jitter: -1, Max: time.Minute})
		require.Error(t, m.resumes())
		require.Equal(t, time.Now().Add(time.Minute), m.worker().NextRestart)
		time.Sleep(time.Minute)
		settle()
		wantPhase(t, m.host, "far", lifecycle.Ready)
	})
}

func TestMemory_forgivenessIsRememberedWhenItIsEarned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &crashNotes{}
		m := remembering(t, n, steady)
		require.NoError(t, m.resumes())
		m.crashes()
		time.Sleep(time.Second)
		settle()
		wantPhase(t, m.host, "far", lifecycle.Ready)
		time.Sleep(time.Minute - 1)
		settle()
		require.Equal(t, 1, n.Recall("far").InARow)
		time.Sleep(time.Nanosecond)
		settle()
		require.Equal(t, 0, n.Recall("far").InARow)
		require.Equal(t, 1, n.Recall("far").Crashes)
	})
}

func TestMemory_whatEndsWithTheHostIsNotRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &crashNotes{}
		m := startMortal(t, Options{Restart: steady, Memory: n}, []*plugin.Definition{plugin.Define("slow").OnStop(lasts(time.Minute))}, "tool:a")
		require.NoError(t, m.resumes())
		m.crashes()
		time.Sleep(time.Second)
		settle()
		startReady(t, m.host, manifestFor("slow", requires("tool:a")))
		before := n.Recall("far")
		require.Equal(t, 1, before.InARow)
		over := begun(func() (SessionInfo, error) { return SessionInfo{}, m.host.Shutdown(t.Context()) })
		m.crashes()
		require.NoError(t, (<-over).err)
		require.Equal(t, before, n.Recall("far"))
	})
}

func TestMemory_aStopByHandIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &crashNotes{}
		m := remembering(t, n, steady)
		require.NoError(t, m.resumes())
		m.crashes()
		_, err := m.host.Stop(t.Context(), wantPhase(t, m.host, "far", lifecycle.Failed).ID)
		require.NoError(t, err)
		r := n.Recall("far")
		require.Equal(t, CrashRecord{Crashes: 1, LastCrash: "EOF", LastCrashAt: r.LastCrashAt}, r)
	})
}

func TestMemory_stopsAPluginThatWaitsForItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &crashNotes{}
		n.Remember("far", CrashRecord{Crashes: 1, InARow: 1, LastCrash: "EOF", NextRestart: time.Now().Add(time.Minute)})
		m := remembering(t, n, steady)
		outcomes := m.host.StartAll(context.Background(), []*manifest.Manifest{farManifest()},
			func(*manifest.Manifest) StartOptions { return StartOptions{Resume: true} }, nil)
		require.Error(t, outcomes[0].Err)
		_, err := m.host.Stop(t.Context(), outcomes[0].Info.ID)
		require.NoError(t, err)
		time.Sleep(time.Hour)
		require.Zero(t, m.born())
		require.Equal(t, CrashRecord{Crashes: 1, LastCrash: "EOF"}, n.Recall("far"))
	})
}

// declares is a manifest that says itself what its plugin offers, and needs no run for it.
func declares() *manifest.Manifest {
	return farManifest(func(m *manifest.Manifest) {
		m.Paperclip = &manifest.Paperclip{Tools: []manifest.PaperclipTool{{Name: "t"}}}
		m.Host.Offers = []capability.Key{"model:own"}
	})
}

func TestMemory_whatAPluginThatIsDownDeclaresIsAnnouncedWithTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &crashNotes{}
		next := time.Now().Add(time.Minute)
		n.Remember("far", CrashRecord{Crashes: 1, InARow: 1, LastCrash: "EOF", NextRestart: next})
		m := remembering(t, n, steady)
		m.keys = []string{"tool:t"}
		call := func(c protocol.Call) error {
			_, err := m.host.Invoke(t.Context(), c)
			return err
		}
		_, err := m.host.Start(t.Context(), declares(), StartOptions{Resume: true})
		require.EqualError(t, err, "it crashed before this host began: EOF")
		settle()
		require.Zero(t, m.born())
		reason := "plugin far crashed before this host began: EOF; the next try is at " + next.UTC().Format(nextTryFormat)
		for _, key := range []capability.Key{"tool:t", "model:own"} {
			offers := m.host.snapshot().Get(key)
			require.Len(t, offers, 1, key)
			require.Equal(t, lifecycle.CapDegraded, offers[0].State, key)
			require.Equal(t, reason, offers[0].Reason, key)
		}
		wantCode(t, call(protocol.Call{Key: "tool:t"}), protocol.CodeNotReady,
			"tool:t of plugin far is not ready: failed (it crashed before this host began: EOF); the next try is in 1m0s")
		wantCode(t, call(protocol.Call{Key: "tool:other"}), protocol.CodeNotFound,
			"nobody offers tool:other: plugin far crashed before this host began, and says all that it offers only when it runs; the next try is in 1m0s")

		waits := m.begins(protocol.Call{Key: "tool:t", Wait: true, Deadline: time.Now().Add(time.Hour)})
		time.Sleep(time.Minute)
		require.NoError(t, (<-waits).err)
		settle()
		wantPhase(t, m.host, "far", lifecycle.Ready)
		require.Equal(t, lifecycle.CapReady, m.host.snapshot().Get("tool:t")[0].State)
		require.Equal(t, lifecycle.CapWithdrawn, m.host.snapshot().Get("model:own")[0].State, "it did not keep that promise")
		wantCode(t, call(protocol.Call{Key: "tool:other"}), protocol.CodeNotFound, "nobody offers tool:other")
	})
}

func TestMemory_whatAPluginThatWasGivenUpDeclaresIsWithdrawnWithTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &crashNotes{}
		n.Remember("far", CrashRecord{Crashes: 9, InARow: 9, GivenUp: true, LastCrash: "EOF"})
		m := remembering(t, n, steady)
		_, err := m.host.Start(t.Context(), declares(), StartOptions{Resume: true})
		require.Error(t, err)
		settle()
		_, err = m.host.Invoke(t.Context(), protocol.Call{Key: "tool:t"})
		wantCode(t, err, protocol.CodeNotReady, "tool:t of plugin far is not ready: failed (it crashed before this host began: EOF)")
		_, err = m.host.Invoke(t.Context(), protocol.Call{Key: "tool:other"})
		wantCode(t, err, protocol.CodeNotFound,
			"nobody offers tool:other: plugin far crashed before this host began, and says all that it offers only when it runs; it was given up: start it by hand")
		_, err = m.host.Stop(t.Context(), wantPhase(t, m.host, "far", lifecycle.Failed).ID)
		require.NoError(t, err)
		require.Empty(t, m.host.snapshot().Get("tool:t"))
		_, err = m.host.Invoke(t.Context(), protocol.Call{Key: "tool:t"})
		wantCode(t, err, protocol.CodeNotFound, "nobody offers tool:t: plugin far offers it when it runs, and is stopped: start it")
	})
}
