package actors

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
)

// withHook defines a plugin with one hook.
func withHook(name string, step protocol.Step, h plugin.Hook) *plugin.Definition {
	p := offering(name, "tool:"+name)
	switch step {
	case protocol.StepInit:
		return p.OnInit(h)
	case protocol.StepSetup:
		return p.OnSetup(h)
	default:
		return p.OnStop(h)
	}
}

func TestSession_hooksThatFailFailItWithTheirWords(t *testing.T) {
	fails := hook(func(context.Context) error { return errors.New("no luck") })
	panics := hook(func(context.Context) error { panic("oh no") })
	for _, test := range []struct {
		name   string
		step   protocol.Step
		hook   plugin.Hook
		reason string
	}{
		{"init error", protocol.StepInit, fails, "no luck"},
		{"setup error", protocol.StepSetup, fails, "no luck"},
		{"init panic", protocol.StepInit, panics, "panic: oh no"},
		{"setup panic", protocol.StepSetup, panics, "panic: oh no"},
		{
			"init hang", protocol.StepInit, lasts(time.Hour),
			"init of plugin bad did not finish within 30s: mend its hook, or raise airi-host.timeouts.init in its manifest",
		},
		{
			"setup hang", protocol.StepSetup, lasts(time.Hour),
			"setup of plugin bad did not finish within 30s: mend its hook, or raise airi-host.timeouts.setup in its manifest",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startHost(t, withHook("bad", test.step, test.hook), offering("good", "tool:good"))
				startReady(t, h, manifestFor("good"))
				events := listen(t, h, KindPhase, nil)
				info, err := h.Start(t.Context(), manifestFor("bad"), StartOptions{})
				require.EqualError(t, err, test.reason)
				require.Equal(t, lifecycle.Failed, info.Phase)
				require.Equal(t, test.reason, info.Reason)
				require.Equal(t, "failed "+test.reason, events.phases("bad")[len(events.phases("bad"))-1])
				wantOffers(t, h, "tool:good ready", "tool:bad withdrawn")
				wantCall(t, h, "tool:good", `"good"`)
				_, err = callKey(t, h, "tool:bad")
				wantCode(t, err, protocol.CodeNotReady, "tool:bad of plugin bad is not ready: failed ("+test.reason+")")
			})
		})
	}
}

func TestSession_aPanicInAHookIsLoggedWithItsStack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log notebook
		h := startHostWith(t, Options{Log: log.logger()},
			plugin.Define("bad").OnInit(hook(func(context.Context) error { panic("oh no") })))
		_, err := h.Start(t.Context(), manifestFor("bad"), StartOptions{})
		require.EqualError(t, err, "panic: oh no")
		require.Contains(t, log.String(), `msg="the plugin panicked" plugin=bad session=plugin-session-0 error="panic: oh no" stack="goroutine`)
		require.Contains(t, log.String(), "session_test.go")
	})
}

func TestSession_aManifestsLimitBeatsTheHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHostWith(t, Options{Timeouts: Timeouts{Init: time.Second}}, plugin.Define("slow").OnInit(lasts(3*time.Second)))
		began := time.Now()
		_, err := h.Start(t.Context(), manifestFor("slow"), StartOptions{})
		require.EqualError(t, err,
			"init of plugin slow did not finish within 1s: mend its hook, or raise airi-host.timeouts.init in its manifest")
		require.Equal(t, time.Second, time.Since(began))
		startReady(t, h, manifestFor("slow", bounded(func(own *manifest.Timeouts) { own.Init = 4 * time.Second })))
	})
}

func TestSession_aHookThatDoesNotHeedItsContextIsBusyAndHarmsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := startHost(t, plugin.Define("deaf").OnInit(deaf(release)), offering("good", "tool:good"))
		_, err := h.Start(t.Context(), manifestFor("deaf"), StartOptions{})
		require.ErrorContains(t, err, "did not finish within 30s")
		require.EqualValues(t, 1, wantPhase(t, h, "deaf", lifecycle.Failed).Busy)
		startReady(t, h, manifestFor("good"))
		wantCall(t, h, "tool:good", `"good"`)

		info, err := h.Stop(t.Context(), "plugin-session-0")
		require.NoError(t, err)
		require.EqualValues(t, 1, info.Busy, "the stop did not wait for it")
		close(release)
		settle()
		wantNoSession(t, h, "deaf")
	})
}

func TestSession_aHooksContextEndsAtItsDeadlineAndAtAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		causes := make(chan error, 2)
		watches := hook(func(ctx context.Context) error {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return nil
		})
		h := startHost(t, plugin.Define("a").OnInit(watches))
		_, err := h.Start(t.Context(), manifestFor("a"), StartOptions{})
		require.ErrorContains(t, err, "did not finish within 30s")
		require.Error(t, <-causes)

		started := beginStart(t, h, manifestFor("a"))
		_, err = h.Stop(t.Context(), h.Sessions()[0].ID)
		require.NoError(t, err)
		wantCode(t, <-causes, protocol.CodeCancelled, "plugin a was stopped")
		got := <-started
		wantCode(t, got.err, protocol.CodeCancelled, "plugin a was stopped")
		require.Equal(t, lifecycle.Stopped, got.info.Phase)
	})
}

func TestSession_nothingComesBackToLifeAfterAStop(t *testing.T) {
	for name, m := range map[string]*manifest.Manifest{
		"waiting":      manifestFor("a", requires("cap:late")),
		"initializing": manifestFor("slow"),
		"configuring":  manifestFor("a", needsConfiguration),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stops := 0
				counts := hook(func(context.Context) error { stops++; return nil })
				h := startHost(t, offering("a", "tool:a").OnStop(counts), offering("slow", "tool:a").OnInit(lasts(time.Second)).OnStop(counts))
				events := listen(t, h, KindPhase|KindCapability, nil)
				started := beginStart(t, h, m)
				_, err := h.Stop(t.Context(), "plugin-session-0")
				require.NoError(t, err)
				_, err = h.SetCapability(t.Context(), "cap:late", lifecycle.CapReady, nil)
				require.NoError(t, err)
				time.Sleep(time.Hour)
				require.Equal(t, "stopped", events.phases(m.Name)[len(events.phases(m.Name))-1])
				require.Empty(t, h.Sessions())
				wantOffers(t, h, "cap:late ready")
				require.Equal(t, map[bool]int{true: 1}[name == "configuring"], stops, "only what was initialized has to be stopped")
				if name != "configuring" {
					wantCode(t, (<-started).err, protocol.CodeCancelled, "plugin "+m.Name+" was stopped")
				}
			})
		})
	}
}

func TestSession_stopTwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stops := 0
		h := startHost(t, plugin.Define("a").OnStop(func(ctx context.Context, s *plugin.Session) error {
			stops++
			return lasts(time.Second)(ctx, s)
		}))
		info := startReady(t, h, manifestFor("a"))
		stop := func() (SessionInfo, error) { return h.Stop(t.Context(), info.ID) }
		first, second := begun(stop), begun(stop)
		for _, done := range []<-chan outcomeOf{first, second} {
			got := <-done
			require.NoError(t, got.err)
			require.Equal(t, lifecycle.Stopped, got.info.Phase)
		}
		require.Equal(t, 1, stops)
	})
}

func TestSession_stopHookIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a").OnStop(lasts(time.Hour)), plugin.Define("b").OnStop(hook(func(context.Context) error {
			return errors.New("no luck")
		})))
		events := listen(t, h, KindDropped, nil)
		for _, name := range []string{"a", "b"} {
			info := startReady(t, h, manifestFor(name))
			_, err := h.Stop(t.Context(), info.ID)
			require.NoError(t, err)
		}
		require.Equal(t, []string{
			"a drops late-stop 1 the stop hook did not finish within 5s",
			"b drops stop-hook 1 no luck",
		}, events.all())
	})
}

func TestSession_stopHookIsNotCalledAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a").
			OnSetup(hook(func(context.Context) error { return errors.New("no luck") })).
			OnStop(hook(func(context.Context) error { panic("not to be called") })))
		events := listen(t, h, KindDropped, nil)
		info, err := h.Start(t.Context(), manifestFor("a"), StartOptions{})
		require.EqualError(t, err, "no luck")
		_, err = h.Stop(t.Context(), info.ID)
		require.NoError(t, err)
		require.Empty(t, events.all())
	})
}

func TestSession_stopOfALoadedOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "tool:a").OnStop(hook(func(context.Context) error { panic("not to be called") })))
		info, err := h.Load(t.Context(), manifestFor("a"), StartOptions{})
		require.NoError(t, err)
		info, err = h.Stop(t.Context(), info.ID)
		require.NoError(t, err)
		require.Equal(t, lifecycle.Stopped, info.Phase)
	})
}

func TestSession_versionsAreNegotiated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		_, err := h.Start(t.Context(), manifestFor("a"), StartOptions{
			Compatibility: protocol.VersionRequest{SupportedProtocol: []string{"v9"}},
		})
		require.EqualError(t, err, "Negotiation rejected: protocol: No overlapping supported versions. host=[v1]; peer=[v9].")
		wantPhase(t, h, "a", lifecycle.Failed)
	})
}

// mute narrates, and panics at one moment.
type mute struct {
	airi.Dialect
	at protocol.MomentKind
}

func (d mute) Narrate(m protocol.Moment) []protocol.Event {
	if m.What == d.at {
		panic("lost for words")
	}
	return d.Dialect.Narrate(m)
}

func TestSession_aPanicInItsOwnCodeEndsIt(t *testing.T) {
	for name, at := range map[string]protocol.MomentKind{"in the middle": protocol.MomentPrepared, "at ready": protocol.MomentReady} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log notebook
				h := startHostWith(t, Options{
					Dialects: []protocol.Dialect{mute{at: at}}, Log: log.logger(), LogEvents: KindPhase,
				}, offering("bad", "tool:bad"), offering("good", "tool:good"))
				listen(t, h, KindChannel, nil)
				_, err := h.Start(t.Context(), manifestFor("bad"), StartOptions{})
				require.EqualError(t, err, "the session of plugin bad: panic: lost for words")
				require.Equal(t, lifecycle.CapWithdrawn, wantPhase(t, h, "bad", lifecycle.Failed).Offers[0].State)
				require.Contains(t, log.String(), `msg="the session panicked" plugin=bad session=plugin-session-0 error="panic: lost for words" stack=`)
				_, err = h.Stop(t.Context(), "plugin-session-0")
				require.NoError(t, err)
				wantNoSession(t, h, "bad")
				startReady(t, h, manifestFor("good", func(m *manifest.Manifest) { m.Dialect = "none" }))
			})
		})
	}
}

func TestSession_aPanicWhileItFailsKeepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHostWith(t, Options{Dialects: []protocol.Dialect{mute{at: protocol.MomentFailed}}},
			offering("bad", "tool:bad").OnInit(hook(func(context.Context) error { return errors.New("no luck") })))
		listen(t, h, KindChannel, nil)
		_, err := h.Start(t.Context(), manifestFor("bad"), StartOptions{})
		require.EqualError(t, err, "no luck")
		require.Equal(t, "no luck", wantPhase(t, h, "bad", lifecycle.Failed).Reason)
		_, err = h.Stop(t.Context(), "plugin-session-0")
		require.NoError(t, err)
		wantNoSession(t, h, "bad")
	})
}

// wild is a program whose plain questions panic.
type wild struct {
	*plugin.Definition
	at string
}

type wildPort struct {
	protocol.Port
	at string
}

func (w wild) Open(home protocol.Home) protocol.Port {
	if w.at == "open" {
		panic("wild")
	}
	return wildPort{w.Definition.Open(home), w.at}
}

func (w wild) Offers() []protocol.Offer {
	if w.at == "offers" {
		panic("wild")
	}
	return w.Definition.Offers()
}

func (p wildPort) Has(step protocol.Step) bool {
	if p.at == string(step) {
		panic("wild")
	}
	return p.Port.Has(step)
}

func (p wildPort) Listens() bool {
	if p.at == "listens" {
		panic("wild")
	}
	return p.Port.Listens()
}

func TestSession_aProgramMayPanicAnywhere(t *testing.T) {
	for _, at := range []string{"open", "offers", "listens", "load", "init", "setup", "stop"} {
		t.Run(at, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startHostWith(t, Options{
					Dialects: []protocol.Dialect{airi.Dialect{}},
					Programs: map[string]protocol.Program{"wild": wild{offering("wild", "tool:x"), at}},
				}, offering("good", "tool:good"))
				info, err := h.Start(t.Context(), manifestFor("wild"), StartOptions{})
				if at == "stop" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, "panic: wild")
					require.Equal(t, lifecycle.Failed, info.Phase)
				}
				info, err = h.Stop(t.Context(), "plugin-session-0")
				require.NoError(t, err)
				require.Equal(t, lifecycle.Stopped, info.Phase)
				startReady(t, h, manifestFor("good"))
			})
		})
	}
}

func TestSession_startingTwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("slow").OnInit(lasts(time.Second)))
		info, err := h.Load(t.Context(), manifestFor("slow"), StartOptions{})
		require.NoError(t, err)
		first := begun(func() (SessionInfo, error) { return h.Init(t.Context(), info.ID, StartOptions{}) })
		_, err = h.Init(t.Context(), info.ID, StartOptions{})
		require.EqualError(t, err, "Session plugin-session-0 cannot initialize from phase preparing. Expected loaded.")
		require.NoError(t, (<-first).err)
	})
}
