package actors

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// answeringLate is a plugin whose tool takes a while, whatever its context says.
func answeringLate(after time.Duration, stopped *time.Time) *plugin.Definition {
	p := plugin.Define("a")
	plugin.Handle(p, "tool:slow", func(context.Context, json.RawMessage) (json.RawMessage, error) {
		time.Sleep(after)
		return asData(`"late"`), nil
	})
	return p.OnStop(func(context.Context, *plugin.Session) error {
		*stopped = time.Now()
		return nil
	})
}

func TestDrain_callsInFlightEndBeforeTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stopped time.Time
		h := startHost(t, answeringLate(3*time.Second, &stopped))
		events := listen(t, h, KindDropped, nil)
		info := startReady(t, h, manifestFor("a"))
		began, done := time.Now(), beginCall(t, h, protocol.Call{Key: "tool:slow"})
		gone := make(chan error, 1)
		go func() {
			_, err := h.Stop(context.Background(), info.ID)
			gone <- err
		}()
		settle()
		_, err := callKey(t, h, "tool:slow")
		wantCode(t, err, protocol.CodeNotReady, "tool:slow of plugin a is not ready: withdrawn (plugin a is being stopped)")
		require.NoError(t, <-gone)
		got := <-done
		require.NoError(t, got.err)
		require.Equal(t, `"late"`, got.result)
		require.Equal(t, began.Add(3*time.Second), stopped)
		require.Empty(t, events.all())
	})
}

func TestDrain_hasALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stopped time.Time
		h := startHostWith(t, Options{Timeouts: Timeouts{Drain: 2 * time.Second}}, answeringLate(time.Minute, &stopped))
		events := listen(t, h, KindDropped, nil)
		info := startReady(t, h, manifestFor("a"))
		began, done := time.Now(), beginCall(t, h, protocol.Call{Key: "tool:slow"})
		_, err := h.Stop(t.Context(), info.ID)
		require.NoError(t, err)
		wantCode(t, (<-done).err, protocol.CodeOutcomeUnknown, "outcome unknown: tool:slow was in flight at plugin a: it has ended")
		require.Equal(t, began.Add(2*time.Second), stopped)
		require.Contains(t, events.all(), "a drops drain 1 1 calls in flight did not end within 2s")
		time.Sleep(time.Minute)
	})
}

func TestDrain_endsWithThePlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stopped time.Time
		h := startHost(t, answeringLate(time.Second, &stopped))
		info := startReady(t, h, manifestFor("a"))
		began, done := time.Now(), beginCall(t, h, protocol.Call{Key: "tool:slow"})
		settle()
		go func() {
			who := h.find(info.ID)
			who.self.tell(stop{make(chan error, 1)})
			who.self.tell(lost{why: errors.New("no luck")})
		}()
		<-done
		settle()
		require.Equal(t, began, time.Now())
		require.Zero(t, stopped, "its stop hook is not run any more")
		require.Empty(t, h.Sessions())
		time.Sleep(time.Second)
	})
}

func TestDrain_oneThatHangsDoesNotTakeTheTimeOfOthersAtShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stopped, base time.Time
		b := plugin.Define("b").OnStop(func(context.Context, *plugin.Session) error {
			base = time.Now()
			return nil
		})
		plugin.Handle(b, "tool:b", func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
		h, err := New(Options{Programs: map[string]protocol.Program{"a": answeringLate(time.Hour, &stopped), "b": b}})
		require.NoError(t, err)
		startReady(t, h, manifestFor("b"))
		startReady(t, h, manifestFor("a", requires("tool:b")))
		began, done := time.Now(), beginCall(t, h, protocol.Call{Key: "tool:slow"})
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
		defer cancel()
		require.NoError(t, h.Shutdown(ctx))
		require.Error(t, (<-done).err)
		require.Equal(t, began.Add(2*time.Second), stopped, "half of its share of the time")
		require.Equal(t, began.Add(2*time.Second), base)
		time.Sleep(time.Hour + deadLettersLive)
	})
}
