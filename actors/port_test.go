package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// counting narrates each moment as one event, named by its number.
type counting struct{ protocol.Dialect }

func (counting) Name() string { return "airi" }

func (counting) Narrate(m protocol.Moment) []protocol.Event {
	return []protocol.Event{{Name: fmt.Sprint(m.What)}}
}

func TestPort_aListenerHearsItsChannelInOrderToTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard chronicle
		p := plugin.Define("a").OnInit(func(_ context.Context, s *plugin.Session) error {
			s.Listen(func(e protocol.Event) { heard.note(e.Name) })
			return nil
		}).OnSetup(hook(func(context.Context) error { return errors.New("no luck") }))
		h := startHostWith(t, Options{Dialects: []protocol.Dialect{counting{}}}, p)
		_, err := h.Start(t.Context(), manifestFor("a"), StartOptions{})
		require.EqualError(t, err, "no luck")
		settle()
		require.Equal(t, []string{
			fmt.Sprint(protocol.MomentPrepared), fmt.Sprint(protocol.MomentConfigured), fmt.Sprint(protocol.MomentFailed),
		}, heard.lines)
	})
}

func TestPort_aListenerThatPanicsIsContained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log notebook
		p := plugin.Define("a").OnInit(func(_ context.Context, s *plugin.Session) error {
			s.Listen(func(protocol.Event) { panic("deaf") })
			return nil
		})
		h := startHostWith(t, Options{Dialects: []protocol.Dialect{counting{}}, Log: log.logger()}, p)
		startReady(t, h, manifestFor("a"))
		settle()
		require.Contains(t, log.String(), `msg="the plugin panicked" plugin=a session=plugin-session-0 error="panic: deaf"`)
	})
}

// TestPort_aListenerThatHangs holds up its channel, which drops what is too much,
// and no step of another plugin.
func TestPort_aListenerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := plugin.Define("a").OnInit(func(_ context.Context, s *plugin.Session) error {
			s.Listen(func(protocol.Event) { <-release })
			return nil
		})
		h := startHostWith(t, Options{Dialects: []protocol.Dialect{counting{}}}, p, offering("b", "tool:b"))
		startReady(t, h, manifestFor("a"))
		events := listen(t, h, KindDropped, nil)
		link := h.current("a").through()
		for range defaultChannel + 10 {
			link.emit(protocol.Event{Name: "x"})
		}
		startReady(t, h, manifestFor("b"))
		require.Equal(t, "a drops channel 1 the program's listener is too slow for its channel", events.all()[0])
		require.Greater(t, wantPhase(t, h, "a", lifecycle.Ready).Dropped["channel"], uint64(10))
		_, err := h.Stop(t.Context(), "plugin-session-0")
		require.NoError(t, err)
		close(release)
	})
}

func TestPort_aChannelHasABoundOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := plugin.Define("a").OnInit(func(_ context.Context, s *plugin.Session) error {
			s.Listen(func(protocol.Event) { <-release })
			return nil
		})
		h := startHostWith(t, Options{Dialects: []protocol.Dialect{counting{}}, Limits: Limits{ChannelEvents: 3}}, p)
		startReady(t, h, manifestFor("a"))
		synctest.Wait()
		link := h.current("a").through()
		before := wantPhase(t, h, "a", lifecycle.Ready).Dropped["channel"]
		for range 10 {
			link.emit(protocol.Event{Name: "x"})
		}
		require.GreaterOrEqual(t, wantPhase(t, h, "a", lifecycle.Ready).Dropped["channel"]-before, uint64(7))
		close(release)
	})
}

// TestPort_aFullChannelLosesNoStep: a step that waits behind a slow listener runs
// once the listener is through.
func TestPort_aFullChannelLosesNoStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := true
		p := plugin.Define("a").OnInit(func(_ context.Context, s *plugin.Session) error {
			s.Listen(func(protocol.Event) {
				if slow {
					time.Sleep(time.Second)
					slow = false
				}
			})
			return nil
		}).OnSetup(hook(func(context.Context) error { return nil }))
		h := startHostWith(t, Options{Dialects: []protocol.Dialect{counting{}}}, p)
		started := beginStart(t, h, manifestFor("a", needsConfiguration))
		require.NoError(t, (<-started).err)
		link := h.current("a").through()
		for range 2 * defaultChannel {
			link.emit(protocol.Event{Name: "x"})
		}
		require.Equal(t, lifecycle.Ready, apply(t, h, "plugin-session-0").Phase)
	})
}

func TestPort_itsHomeEndsWithItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 1)
		h := startHost(t, plugin.Define("a").OnInit(func(_ context.Context, s *plugin.Session) error {
			failed <- s.Wait(context.Background(), "cap:never")
			return nil
		}))
		beginStart(t, h, manifestFor("a"))
		require.Empty(t, failed)
		_, err := h.Stop(t.Context(), "plugin-session-0")
		require.NoError(t, err)
		require.EqualError(t, <-failed, "waiting for capability cap:never: plugin a was stopped")
	})
}

func TestPort_aHookMayWaitForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a").OnInit(func(ctx context.Context, s *plugin.Session) error {
			if err := s.Wait(ctx, "tool:b"); err != nil {
				return err
			}
			var out json.RawMessage
			return s.Call(ctx, "tool:b", nil, &out)
		}), offering("b", "tool:b"))
		started := beginStart(t, h, manifestFor("a"))
		startReady(t, h, manifestFor("b"))
		require.Equal(t, lifecycle.Ready, (<-started).info.Phase)
	})
}

// opener is a program that is opened by a function.
type opener func(protocol.Home) protocol.Port

func (opener) Offers() []protocol.Offer { return nil }

func (o opener) Open(h protocol.Home) protocol.Port { return o(h) }

func TestPort_aProgramOffersNothingWhileItIsOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refused error
		h := startHostWith(t, Options{Programs: map[string]protocol.Program{
			"a": opener(func(home protocol.Home) protocol.Port {
				refused = home.Offer(protocol.Offer{Key: "tool:a"})
				return plugin.Define("a").Open(home)
			}),
		}})
		startReady(t, h, manifestFor("a"))
		wantCode(t, refused, protocol.CodeNotReady,
			"plugin a is being opened: offer and withdraw in a step, or declare it in Offers")
		wantOffers(t, h)
	})
}

func TestPort_aProgramThatOpensNothingFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept protocol.Home
		h := startHostWith(t, Options{Programs: map[string]protocol.Program{
			"a": opener(func(home protocol.Home) protocol.Port {
				kept = home
				return nil
			}),
		}})
		_, err := h.Start(t.Context(), manifestFor("a"), StartOptions{})
		require.EqualError(t, err, "plugin a: its program a opened nothing: expected a port")
		require.EqualError(t, kept.Emit(protocol.Event{Name: "x"}), err.Error(), "its home has ended")
	})
}

// TestPort_codeThatEndsItsGoroutineFailsAtOnce: t.FailNow in a handler does so.
func TestPort_codeThatEndsItsGoroutineFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exits := func(context.Context, json.RawMessage) (json.RawMessage, error) { runtime.Goexit(); return nil, nil }
		heard := 0
		p := handling("a", "tool:exits", exits).OnInit(func(_ context.Context, s *plugin.Session) error {
			s.Listen(func(protocol.Event) { heard++; runtime.Goexit() })
			return nil
		})
		plugin.Handle(p, "data:fed", hearsAll)
		begun := plugin.Define("b").OnInit(hook(func(context.Context) error { runtime.Goexit(); return nil }))
		h := startHostWith(t, Options{Dialects: []protocol.Dialect{counting{}}}, p, begun)
		startReady(t, h, manifestFor("a"))
		settle()
		require.Equal(t, 3, heard, "it hears on")

		began := time.Now()
		for _, c := range []protocol.Call{{Key: "tool:exits"}, {Key: "tool:exits", Idle: time.Second}} {
			_, err := h.Invoke(t.Context(), c)
			require.ErrorIs(t, err, errExited)
		}
		require.Zero(t, wantPhase(t, h, "a", lifecycle.Ready).Busy)
		got, err := h.Invoke(t.Context(), protocol.Call{Key: "data:fed", Feed: func(yield func(json.RawMessage, error) bool) {
			yield([]byte(`1`), nil)
			runtime.Goexit()
		}})
		require.NoError(t, err)
		require.JSONEq(t, fmt.Sprintf(`["1",%q]`, errExited), string(got))
		_, err = h.Start(t.Context(), manifestFor("b"), StartOptions{})
		require.ErrorIs(t, err, errExited)
		require.Zero(t, time.Since(began))
	})
}
