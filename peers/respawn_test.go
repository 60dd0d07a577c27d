package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
)

// After a worker was killed in the middle of a call, everything is back under a new
// session: what it offers, what it has subscribed to, and what it had the host keep.
func TestHost_bringsAWorkerBack(t *testing.T) {
	t.Parallel()
	const pause = 3 * time.Second
	h := openHome(t, Paperclip, `{"companies":["globex"]}`, func(o *actors.Options) {
		o.Restart = actors.RestartPolicy{First: pause, Jitter: -1}
	})
	h.start(t, "waiter", Changes{})
	h.calls(t, protocol.Call{Key: "data:remember", Plugin: "waiter", Input: json.RawMessage(`{"value":"the order"}`)})
	old, offers := h.session(t, "waiter"), h.offered("waiter")
	require.Equal(t, []string{"event:order.placed", "event:plugin.kitchen.*", "event:season.*", "event:season.spring", "tool:serve"}, offers)
	seen := h.watch(t)

	inFlight := h.begin(t, protocol.Call{Key: "tool:serve", Plugin: "waiter", Scope: "acme", Input: json.RawMessage(`{"dish":"soup","ms":60000}`)})
	killed := time.Now()
	require.NoError(t, syscall.Kill(old.Process.PID, syscall.SIGKILL))
	err := <-inFlight
	require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf(err))
	require.Regexp(t, `was killed by SIGKILL after `, err.Error())
	require.Less(t, time.Since(killed), pause, "a moment, with the machine to itself")
	eventually(t, func() bool { return seen.crashes() == 1 }, "no crash was told")

	serve := protocol.Call{Key: "tool:serve", Scope: "acme", Input: json.RawMessage(`{"dish":"soup"}`)}
	_, err = h.tries(t, serve)
	require.Equal(t, protocol.CodeNotReady, protocol.CodeOf(err))
	require.ErrorContains(t, err, "; the next try is in ")
	waits := serve
	waits.Wait = true
	require.JSONEq(t, `{"content":"soup"}`, h.calls(t, waits))
	for range 5 {
		require.JSONEq(t, `{"content":"soup"}`, h.calls(t, serve))
	}
	now := h.session(t, "waiter")
	require.NotEqual(t, old.ID, now.ID)
	require.JSONEq(t, fmt.Sprintf(`{"remembers":"the order","pid":%d}`, now.Process.PID), h.calls(t, protocol.Call{Key: "data:remember", Plugin: "waiter"}))
	require.Equal(t, offers, h.offered("waiter"))
	_, err = h.Inspect(old.ID)
	require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(err))
	require.Len(t, h.Sessions(), 1)

	h.calls(t, protocol.Call{Key: "event:season.spring", Scope: "acme"})
	eventually(t, func() bool { return h.calls(t, protocol.Call{Key: "data:heard", Plugin: "waiter"}) != "[]" }, "it hears nothing any more")
	for _, key := range offers {
		eventually(t, func() bool { return slices.Equal(seen.of(key), []string{"ready → degraded", "degraded → ready"}) }, seen)
	}
}

// offered are the keys of all that a plugin offers and that is ready.
func (h *home) offered(plugin string) (keys []string) {
	for _, o := range h.Offers() {
		if o.Owner.Plugin == plugin && o.State == lifecycle.CapReady {
			keys = append(keys, string(o.Key))
		}
	}
	slices.Sort(keys)
	return keys
}

// watcher is whoever wants to know what becomes of capabilities.
type watcher struct {
	mu     sync.Mutex
	events []actors.Event
}

// watch sees all that is told from now on.
func (h *home) watch(t *testing.T) *watcher {
	t.Helper()
	w, sub := &watcher{}, h.Subscribe(actors.KindCapability|actors.KindRestart, 0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range sub.C {
			w.mu.Lock()
			w.events = append(w.events, e)
			w.mu.Unlock()
		}
	}()
	t.Cleanup(func() { sub.Close(); <-done })
	return w
}

func (w *watcher) all() []actors.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events)
}

// of is what became of one capability.
func (w *watcher) of(key string) (changes []string) {
	for _, e := range w.all() {
		if c, ok := e.(actors.CapabilityChanged); ok && string(c.Key) == key {
			changes = append(changes, fmt.Sprintf("%s → %s", c.From, c.To))
		}
	}
	return changes
}

func (w *watcher) crashes() (n int) {
	for _, e := range w.all() {
		if _, ok := e.(actors.Restart); ok {
			n++
		}
	}
	return n
}

func (w *watcher) String() string { return fmt.Sprint(w.all()) }

// reload stops a plugin's session and starts the next one.
func (h *home) reload(t *testing.T, plugin string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := h.Reload(ctx, h.session(t, plugin).ID, actors.StartOptions{})
	return err
}
