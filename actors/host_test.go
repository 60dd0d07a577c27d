package actors

import (
	"context"
	"encoding/json"
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

func TestHost_startTakesAPluginToReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran []string
		step := func(name string) plugin.Hook {
			return hook(func(context.Context) error { ran = append(ran, name); return nil })
		}
		h := startHost(t, offering("hello", "tool:greet").OnInit(step("init")).OnSetup(step("setup")).OnStop(step("stop")))
		events := listen(t, h, KindPhase|KindCapability, nil)
		info := startReady(t, h, manifestFor("hello"))
		require.Equal(t, SessionInfo{
			ID: "plugin-session-0", Plugin: "hello", Module: "hello-0", File: "hello/plugin.json",
			Phase: lifecycle.Ready, Since: time.Now(), Worker: WorkerInfo{State: lifecycle.WorkerRunning},
		}, info)
		require.Equal(t, []string{
			"loaded", "authenticating", "authenticated", "announced", "preparing", "prepared", "configured", "ready",
		}, events.phases("hello"))
		require.Equal(t, []string{"hello tool:greet: announced → ready", "hello: configured → ready"}, events.all()[8:])
		wantCall(t, h, "tool:greet", `"hello"`)

		info, err := h.Stop(t.Context(), info.ID)
		require.NoError(t, err)
		require.Equal(t, lifecycle.Stopped, info.Phase)
		require.Equal(t, []string{"init", "setup", "stop"}, ran)
		require.Equal(t, []string{
			"hello tool:greet: ready → withdrawn plugin hello is being stopped",
			"hello: ready → stopped",
		}, events.all()[10:])
		require.Empty(t, h.Sessions())
		wantOffers(t, h)
	})
}

func TestHost_loadAndInitAreTwoSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("hello", "tool:greet"))
		info, err := h.Load(t.Context(), manifestFor("hello"), StartOptions{})
		require.NoError(t, err)
		require.Equal(t, lifecycle.Loaded, info.Phase)
		wantOffers(t, h)
		info, err = h.Init(t.Context(), info.ID, StartOptions{})
		require.NoError(t, err)
		require.Equal(t, lifecycle.Ready, info.Phase)
		_, err = h.Init(t.Context(), info.ID, StartOptions{})
		require.EqualError(t, err, "Session plugin-session-0 cannot initialize from phase ready. Expected loaded.")
	})
}

func TestHost_unknownSessionsAreRefusedInTheReferencesWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		for text, do := range map[string]func() (SessionInfo, error){
			"Unable to initialize plugin session: plugin-session-9": func() (SessionInfo, error) {
				return h.Init(t.Context(), "plugin-session-9", StartOptions{})
			},
			"Unable to reload missing plugin session: plugin-session-9": func() (SessionInfo, error) {
				return h.Reload(t.Context(), "plugin-session-9", StartOptions{})
			},
			"Unable to configure plugin session: plugin-session-9": func() (SessionInfo, error) {
				return h.ApplyConfiguration(t.Context(), "plugin-session-9", protocol.Config{})
			},
			"Unable to update plugin session: plugin-session-9": func() (SessionInfo, error) {
				return h.MarkConfigurationNeeded(t.Context(), "plugin-session-9", "")
			},
		} {
			_, err := do()
			require.EqualError(t, err, text)
		}
		info, err := h.Stop(t.Context(), "plugin-session-9")
		require.NoError(t, err, "nothing is there, nothing has to be stopped")
		require.Zero(t, info)
	})
}

func TestHost_idsAreNeverUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"), plugin.Define("b"))
		require.Equal(t, "plugin-session-0", startReady(t, h, manifestFor("a")).ID)
		require.Equal(t, "plugin-session-1", startReady(t, h, manifestFor("b")).ID)
		_, err := h.Stop(t.Context(), "plugin-session-1")
		require.NoError(t, err)
		again := startReady(t, h, manifestFor("b"))
		require.Equal(t, "plugin-session-2", again.ID)
		require.Equal(t, "b-2", again.Module)
	})
}

func TestHost_aNameIsRefusedTwiceWhileItIsAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		first := startReady(t, h, manifestFor("a"))
		_, err := h.Start(t.Context(), manifestFor("a", named(" a "), func(m *manifest.Manifest) { m.File = "other.json" }), StartOptions{})
		require.EqualError(t, err, "plugin a is already loaded as plugin-session-0 from a/plugin.json: "+
			"stop that first, or give other.json another name")
		_, err = h.Stop(t.Context(), first.ID)
		require.NoError(t, err)
		startReady(t, h, manifestFor("a"))
	})
}

func TestHost_aFailedSessionMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := true
		h := startHost(t, plugin.Define("a").OnInit(hook(func(context.Context) error {
			if fails {
				return errors.New("no luck")
			}
			return nil
		})))
		info, err := h.Start(t.Context(), manifestFor("a"), StartOptions{})
		require.EqualError(t, err, "no luck")
		require.Equal(t, lifecycle.Failed, info.Phase)
		require.Equal(t, "no luck", wantPhase(t, h, "a", lifecycle.Failed).Reason)
		fails = false
		startReady(t, h, manifestFor("a"))
		require.Len(t, h.Sessions(), 1)
	})
}

func TestHost_blankNamesAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		_, err := h.Load(t.Context(), manifestFor("x", named(" \t")), StartOptions{})
		require.EqualError(t, err, "x/plugin.json: name: a plugin must have a name that is not blank")
	})
}

func TestHost_anUnknownBuiltinNamesWhatThereIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("b"), plugin.Define("a"))
		info, err := h.Load(t.Context(), manifestFor("x"), StartOptions{})
		const text = `plugin x: x/plugin.json: entrypoints.go: no plugin x is compiled into this host (there are: a, b)`
		require.EqualError(t, err, text)
		require.Equal(t, lifecycle.Failed, info.Phase)
		require.Equal(t, text, info.Reason)

		bare := startHost(t)
		_, err = bare.Load(t.Context(), manifestFor("x", func(m *manifest.Manifest) { m.File = "" }), StartOptions{})
		require.EqualError(t, err, `plugin x: code: entrypoints.go: no plugin x is compiled into this host (there are: none)`)
	})
}

func TestHost_aModuleWithoutALauncherIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHostWith(t, Options{Dialects: []protocol.Dialect{airi.Dialect{}}})
		_, err := h.Load(t.Context(), manifestFor("x", func(m *manifest.Manifest) {
			m.Entrypoints, m.Host.Command = manifest.Entrypoints{}, []string{"worker", "--flag"}
		}), StartOptions{})
		require.EqualError(t, err, "plugin x: this host cannot run airi plugins from a file (worker --flag): only what is compiled in")
	})
}

func TestHost_startAllNumbersInTheOrderGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("slow").OnInit(lasts(time.Minute/4)), plugin.Define("fast"))
		var done []string
		list := []*manifest.Manifest{manifestFor("slow"), manifestFor("fast"), manifestFor("fast")}
		got := h.StartAll(t.Context(), list, func(m *manifest.Manifest) StartOptions {
			return StartOptions{RequireConfiguration: m == list[1]}
		}, func(o Outcome) {
			if o.Manifest == list[0] {
				done = append(done, o.Info.ID)
			}
		})
		require.Equal(t, []string{"plugin-session-0"}, done)
		require.Equal(t, lifecycle.Ready, got[0].Info.Phase)
		require.Equal(t, "plugin-session-1", got[1].Info.ID)
		require.Equal(t, lifecycle.ConfigurationNeeded, got[1].Info.Phase)
		require.ErrorContains(t, got[2].Err, "plugin fast is already loaded as plugin-session-1")
	})
}

func TestHost_aCallerThatGivesUpIsToldWhereThePluginStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("slow").OnInit(lasts(20*time.Second)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := h.Start(ctx, manifestFor("slow"), StartOptions{})
		require.EqualError(t, err, "plugin slow is still preparing: context deadline exceeded")
		time.Sleep(20 * time.Second)
		wantPhase(t, h, "slow", lifecycle.Ready)
	})
}

func TestHost_reloadMakesANewSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "tool:x"))
		first := startReady(t, h, manifestFor("a"))
		info, err := h.Reload(t.Context(), first.ID, StartOptions{})
		require.NoError(t, err)
		require.Equal(t, "plugin-session-1", info.ID)
		require.Equal(t, lifecycle.Ready, info.Phase)
		require.Len(t, h.Sessions(), 1)
		wantCall(t, h, "tool:x", `"a"`)
	})
}

func TestHost_inspectTellsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := offering("a", "tool:x").OnInit(func(_ context.Context, s *plugin.Session) error {
			s.Log().Info("hello")
			return nil
		})
		h := startHost(t, p, offering("b", "tool:y"))
		startReady(t, h, manifestFor("b"))
		info, err := h.Start(t.Context(), manifestFor("a", requires("tool:y|tool:z")), StartOptions{Requires: []string{"tool:y"}})
		require.NoError(t, err)
		byName := wantPhase(t, h, "a", lifecycle.Ready)
		byID, err := h.Inspect(info.ID)
		require.NoError(t, err)
		require.Equal(t, byName, byID)
		require.Equal(t, []string{"tool:y or tool:z", "tool:y"}, byName.Requires)
		require.Len(t, byName.Offers, 1)
		require.Equal(t, "hello", byName.Log[0].Text)
		wantNoSession(t, h, "nobody")
	})
}

func TestHost_dialectsAreGivenOnce(t *testing.T) {
	_, err := New(Options{Dialects: []protocol.Dialect{airi.Dialect{}, airi.Dialect{}}})
	require.EqualError(t, err, "the dialect airi is given twice")
}

func TestHost_hasAnIDOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		require.Equal(t, "here", startHostWith(t, Options{ID: "here"}).ID())
		require.NotEqual(t, startHost(t).ID(), startHost(t).ID())
	})
}

func TestHost_servicesAnswerBeforePlugins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		caller := plugin.Define("caller")
		plugin.Handle(caller, "model:ASK", func(ctx context.Context, in json.RawMessage) (json.RawMessage, error) {
			var out json.RawMessage
			err := plugin.From(ctx).Call(ctx, "clock", in, &out)
			return out, err
		})
		says := func(word string) protocol.Service {
			return protocol.ServiceFunc(func(_ context.Context, c protocol.Call) (json.RawMessage, error) {
				return json.RawMessage(`"` + word + " to " + c.Caller + `"`), nil
			})
		}
		h := startHostWith(t, Options{Services: map[string]protocol.Service{"clock": says("tick")}}, caller, offering("rival", "clock"))
		startReady(t, h, manifestFor("rival"))
		startReady(t, h, manifestFor("caller"))
		wantCall(t, h, "model:ASK", `"tick to caller"`)
		wantCall(t, h, "clock", `"tick to "`)
		result, err := h.Invoke(t.Context(), protocol.Call{Key: "clock", Plugin: "rival"})
		require.NoError(t, err)
		require.JSONEq(t, `"rival"`, said(result), "a plugin that is named is asked")

		require.NoError(t, h.SetService(t.Context(), protocol.ServiceOffer{
			Key: "clock", Service: says("tock"), Listed: true, Metadata: []byte(`{"v":2}`),
		}))
		wantCall(t, h, "model:ASK", `"tock to caller"`)
		d, err := h.Wait(t.Context(), 0, "clock")
		require.NoError(t, err)
		require.Equal(t, lifecycle.CapReady, d.State)

		require.NoError(t, h.SetService(t.Context(), protocol.ServiceOffer{
			Key: "clock",
			Service: protocol.ServiceFunc(func(context.Context, protocol.Call) (json.RawMessage, error) {
				panic("broken clock")
			}),
		}))
		_, err = callKey(t, h, "model:ASK")
		require.EqualError(t, err, "panic: broken clock")
	})
}

func TestHost_waits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHostWith(t, Options{Timeouts: Timeouts{Capabilities: 25 * time.Millisecond}})
		for _, timeout := range []time.Duration{0, -1, 25 * time.Millisecond} {
			_, err := h.Wait(t.Context(), timeout, "x")
			require.EqualError(t, err, "Capability `x` is not ready after 25ms.")
		}
		require.EqualError(t, h.WaitAll(t.Context(), time.Second, "x"), "Capability `x` is not ready after 1000ms.")

		_, err := h.SetCapability(t.Context(), "x", lifecycle.CapReady, []byte(`{"a":1}`))
		require.NoError(t, err)
		raw, err := h.WaitCapability(t.Context(), "x", 0)
		require.NoError(t, err)
		require.Contains(t, string(raw), `"key":"x","state":"ready","metadata":{"a":1}`)
		all, err := h.CapabilitySnapshot()
		require.NoError(t, err)
		require.Equal(t, "["+string(raw)+"]", string(all))

		both := make(chan error, 1)
		go func() { both <- h.WaitAll(t.Context(), time.Hour, "x", "y") }()
		settle()
		require.Empty(t, both)
		_, err = h.SetCapability(t.Context(), "y", lifecycle.CapReady, nil)
		require.NoError(t, err)
		require.NoError(t, <-both)
		_, err = h.WaitCapability(t.Context(), "z", time.Second)
		require.EqualError(t, err, "Capability `z` is not ready after 1000ms.")
	})
}

// TestHost_oneSilentPluginHoldsUpNobody is the story of six: one never answers, one
// needs another that takes its time, two need each other.
func TestHost_oneSilentPluginHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t,
			plugin.Define("silent").OnInit(lasts(time.Hour)), offering("quick", "tool:quick"),
			offering("slow", "tool:slow").OnInit(lasts(3*time.Second)), plugin.Define("needs"),
			offering("x", "tool:x"), offering("y", "tool:y"))
		events := listen(t, h, KindWaiting, nil)
		began := time.Now()
		took := make(chan time.Duration, 6)
		list := []*manifest.Manifest{
			manifestFor("silent", bounded(func(own *manifest.Timeouts) { own.Init = 20 * time.Second })),
			manifestFor("quick"), manifestFor("slow"), manifestFor("needs", requires("tool:slow")),
			manifestFor("x", requires("tool:y")), manifestFor("y", requires("tool:x")),
		}
		got := begun(func() (SessionInfo, error) {
			h.StartAll(t.Context(), list, nil, func(Outcome) { took <- time.Since(began) })
			return SessionInfo{}, nil
		})
		require.ElementsMatch(t, []string{"x waits for [tool:y] x>y>x", "y waits for [tool:x] y>x>y"}, events.cycles())
		require.Zero(t, time.Since(began), "the cycle is named at once")
		require.Contains(t, events.all(), "needs waits for [tool:slow]")
		<-got
		var times []time.Duration
		for range list {
			times = append(times, <-took)
		}
		require.Equal(t, []time.Duration{
			0, 3 * time.Second, 3 * time.Second, 15 * time.Second, 15 * time.Second, 20 * time.Second,
		}, times)
		require.Equal(t, "init of plugin silent did not finish within 20s: mend its hook, or raise airi-host.timeouts.init in its manifest",
			wantPhase(t, h, "silent", lifecycle.Failed).Reason)
		wantPhase(t, h, "needs", lifecycle.Ready)
		require.Contains(t, wantPhase(t, h, "x", lifecycle.Failed).Reason, "Capability `tool:y` is not ready after 15000ms.")
	})
}

func TestHost_refusesWhatIsNil(t *testing.T) {
	_, err := New(Options{Dialects: []protocol.Dialect{counting{}, nil}})
	require.EqualError(t, err, "dialect 1 of those given is nil")
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		_, err := h.Start(t.Context(), nil, StartOptions{})
		require.EqualError(t, err, "expected a manifest, got nil")
		outcomes := h.StartAll(t.Context(), []*manifest.Manifest{nil}, nil, nil)
		require.EqualError(t, outcomes[0].Err, "expected a manifest, got nil")
	})
}

// A caller that is gone would never learn of the session.
func TestLoad_beginsNothingForACallerThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a"))
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := h.Load(gone, manifestFor("a"), StartOptions{})
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, h.Sessions())
	})
}
