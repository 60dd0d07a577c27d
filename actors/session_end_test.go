package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

func TestOffers_areAnnouncedWithTheSessionAndReadyBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "tool:a").OnInit(lasts(time.Second)))
		var standing []string
		listen(t, h, KindPhase, func(e Event) {
			if e.(PhaseChanged).To == lifecycle.Ready {
				standing = append(standing, string(h.Offers()[0].State))
			}
		})
		started := beginStart(t, h, manifestFor("a"))
		wantOffers(t, h, "tool:a announced")
		require.NoError(t, (<-started).err)
		settle()
		require.Equal(t, []string{"ready"}, standing)
	})
}

func TestOffers_canBeCalledTheMomentThatReadyIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const runs = 1000
		h := startHost(t, offering("a", "tool:a"))
		called := make(chan error)
		listen(t, h, KindPhase, func(e Event) {
			if e.(PhaseChanged).To == lifecycle.Ready {
				_, err := h.Invoke(t.Context(), protocol.Call{Key: "tool:a", Plugin: "a"})
				called <- err
			}
		})
		for range runs {
			done := make(chan SessionInfo, 1)
			go func() {
				info, _ := h.Start(t.Context(), manifestFor("a"), StartOptions{})
				done <- info
			}()
			require.NoError(t, <-called)
			_, err := h.Stop(t.Context(), (<-done).ID)
			require.NoError(t, err)
		}
	})
}

func TestOffers_areWithdrawnBeforeTheEndIsTold(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(t *testing.T, h *Host)
		want []string
		seen []string // in the registry, when the end was told
	}{
		"failed": {func(t *testing.T, h *Host) {
			t.Helper()
			h.find("plugin-session-0").self.tell(lost{why: errors.New("no luck")})
		}, []string{
			"a tool:a: ready → withdrawn plugin a failed: no luck", "a tool:b: ready → withdrawn plugin a failed: no luck",
			"a: ready → failed no luck",
		}, []string{"withdrawn", "withdrawn"}},
		"stopped": {func(t *testing.T, h *Host) {
			t.Helper()
			_, err := h.Stop(t.Context(), "plugin-session-0")
			require.NoError(t, err)
		}, []string{
			"a tool:a: ready → withdrawn plugin a is being stopped", "a tool:b: ready → withdrawn plugin a is being stopped",
			"a: ready → stopped",
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startHostWith(t, Options{Restart: RestartPolicy{Disabled: true}}, offering("a", "tool:a", "tool:b"))
				startReady(t, h, manifestFor("a"))
				var seen []string
				events := listen(t, h, KindPhase|KindCapability, func(e Event) {
					if e.Kind() != KindPhase {
						return
					}
					for _, o := range h.Offers() {
						seen = append(seen, string(o.State))
					}
				})
				test.end(t, h)
				require.Equal(t, test.want, events.all())
				require.Equal(t, test.seen, seen)
			})
		})
	}
}

func TestOffers_newCallsAreRefusedWhileTheStopHookRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "tool:a").OnStop(lasts(time.Second)))
		info := startReady(t, h, manifestFor("a"))
		stopped := begun(func() (SessionInfo, error) { return h.Stop(t.Context(), info.ID) })
		_, err := callKey(t, h, "tool:a")
		wantCode(t, err, protocol.CodeNotReady, "tool:a of plugin a is not ready: withdrawn (plugin a is being stopped)")
		require.NoError(t, (<-stopped).err)
		_, err = callKey(t, h, "tool:a")
		wantCode(t, err, protocol.CodeNotFound, "nobody offers tool:a: plugin a offers it when it runs, and is stopped: start it")
	})
}

// keepSession is a plugin whose session a test gets hold of.
func keepSession(name string, to **plugin.Session) *plugin.Definition {
	return plugin.Define(name).OnInit(func(_ context.Context, s *plugin.Session) error {
		*to = s
		return nil
	})
}

func TestOffers_comeAndGoWhileTheSessionIsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *plugin.Session
		h := startHost(t, keepSession("a", &s))
		startReady(t, h, manifestFor("a"))
		events := listen(t, h, KindCapability, nil)
		plugin.Handle(s, "tool:late", answers(`1`))
		wantCall(t, h, "tool:late", `1`)
		plugin.Handle(s, "tool:late", answers(`2`), plugin.Describe("better"))
		wantCall(t, h, "tool:late", `2`)
		require.Equal(t, "better", h.Offers()[0].Description)
		require.NoError(t, s.Withdraw("tool:late"))
		_, err := callKey(t, h, "tool:late")
		wantCode(t, err, protocol.CodeNotFound, "nobody offers tool:late")
		wantCode(t, s.Withdraw("tool:late"), protocol.CodeNotFound, "plugin a does not offer tool:late")
		require.Equal(t, []string{
			"a tool:late:  → announced", "a tool:late: announced → ready", "a tool:late: ready → withdrawn",
		}, events.all())
	})
}

func TestOffers_madeWhileTheSessionIsDegradedAreReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *plugin.Session
		h := startHost(t, keepSession("a", &s))
		set(t, h, "cap:x", lifecycle.CapReady)
		startReady(t, h, manifestFor("a", requires("cap:x")))
		set(t, h, "cap:x", lifecycle.CapDegraded)
		settle()
		wantPhase(t, h, "a", lifecycle.Degraded)
		plugin.Handle(s, "tool:late", answers(`1`))
		wantCall(t, h, "tool:late", `1`)
	})
}

func TestOffers_areRefusedAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *plugin.Session
		h := startHost(t, keepSession("a", &s))
		info := startReady(t, h, manifestFor("a"))
		_, err := h.Stop(t.Context(), info.ID)
		require.NoError(t, err)
		plugin.Handle(s, "tool:late", answers(`1`))
		wantOffers(t, h)
		require.Equal(t, "the host refused an offer key=tool:late error=plugin a was stopped", h.Logs("a", 0)[0].Text)
		require.EqualError(t, s.Withdraw("tool:late"), "plugin a was stopped")
		require.EqualError(t, s.Send("x", nil), "plugin a was stopped")
		require.EqualError(t, s.Wait(t.Context(), "x"), "plugin a was stopped")
		require.EqualError(t, s.Call(t.Context(), "x", nil, nil), "plugin a was stopped")
	})
}

func TestOffers_aboveTheLimitAreTheAuthorsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("greedy").OnSetup(func(_ context.Context, s *plugin.Session) error {
			for i := range capability.DefaultMaxOffers + 2 {
				plugin.Handle(s, fmt.Sprintf("tool:%d", i), answers(`1`))
			}
			return nil
		}))
		info, err := h.Start(t.Context(), manifestFor("greedy"), StartOptions{})
		require.EqualError(t, err, "offering tool:4096: plugin greedy cannot offer tool:4096: "+
			"it offers 4096 capabilities, its limit: take some back, or raise the limit")
		require.Equal(t, lifecycle.Failed, info.Phase)
		require.Len(t, h.Offers(), capability.DefaultMaxOffers)
	})
}

func TestOffers_thatWereRefusedCannotBeTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *plugin.Session
		h := startHost(t, keepSession("a", &s))
		startReady(t, h, manifestFor("a"))
		plugin.Handle(s, "tool:x", answers(`1`), plugin.InputSchema([]byte(`{`)))
		settle()
		wantCode(t, s.Withdraw("tool:x"), protocol.CodeNotFound, "plugin a does not offer tool:x")
		plugin.Handle(s, "tool:x", answers(`1`))
		plugin.Handle(s, "tool:x", answers(`2`), plugin.InputSchema([]byte(`{`)))
		settle()
		require.NoError(t, s.Withdraw("tool:x"), "the first one stands")
		wantOffers(t, h)
	})
}

func TestOffers_theHighestPriorityWinsAndTheManifestsIsTheDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		high := plugin.Define("high")
		plugin.Handle(high, "tool:x", answers(`"high"`), plugin.Priority(5))
		h := startHost(t, offering("low", "tool:x"), high, offering("middle", "tool:x"))
		startReady(t, h, manifestFor("low"))
		wantCall(t, h, "tool:x", `"low"`)
		startReady(t, h, manifestFor("middle", priority(3)))
		wantCall(t, h, "tool:x", `"middle"`)
		startReady(t, h, manifestFor("high", priority(1)))
		wantCall(t, h, "tool:x", `"high"`)
		_, err := h.Stop(t.Context(), "plugin-session-2")
		require.NoError(t, err)
		wantCall(t, h, "tool:x", `"middle"`)
	})
}

func TestOffers_aPromiseThatIsNotKeptIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a").OnSetup(func(_ context.Context, s *plugin.Session) error {
			plugin.Handle(s, "tool:kept", answers(`1`))
			return nil
		}), plugin.Define("b"))
		events := listen(t, h, KindDropped, nil)
		waiting := beginStart(t, h, manifestFor("b", requires("tool:broken")))
		startReady(t, h, manifestFor("a", promises("tool:kept", "tool:broken")))
		const why = "plugin a did not offer it, though airi-host.offers in its manifest says so"
		wantOffers(t, h, "tool:kept ready", "tool:broken withdrawn")
		wantCall(t, h, "tool:kept", `1`)
		require.Equal(t, []string{"a drops promise 1 tool:broken: " + why}, events.all())
		_, err := callKey(t, h, "tool:broken")
		wantCode(t, err, protocol.CodeNotReady, "tool:broken of plugin a is not ready: withdrawn ("+why+")")
		require.EqualError(t, (<-waiting).err, "Capability `tool:broken` is not ready after 15000ms. tool:broken: "+why)
	})
}

func TestOffers_aPromiseMayBeKeptLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *plugin.Session
		h := startHost(t, keepSession("a", &s))
		info := startReady(t, h, manifestFor("a", promises("tool:x")))
		wantOffers(t, h, "tool:x withdrawn")
		plugin.Handle(s, "tool:x", answers(`1`))
		wantCall(t, h, "tool:x", `1`)
		_, err := h.Stop(t.Context(), info.ID)
		require.NoError(t, err)
		wantOffers(t, h)
	})
}

func TestOffers_aBrokenPromiseGoesWithItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("a"))
		info := startReady(t, h, manifestFor("a", promises("tool:x")))
		_, err := h.Stop(t.Context(), info.ID)
		require.NoError(t, err)
		wantOffers(t, h)
	})
}

func TestOffers_theHostsNameIsTheHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("airi-host", "tool:x"))
		events := listen(t, h, KindDropped, nil)
		startReady(t, h, manifestFor("airi-host"))
		require.Equal(t, []string{"airi-host drops offer 1 plugin airi-host: the name is the host's own: choose another"}, events.all())
		wantOffers(t, h)
	})
}

func TestOffers_ofACallThatIsInFlightWhenItsSessionEnds(t *testing.T) {
	for name, how := range map[string]struct {
		end  func(h *Host)
		took time.Duration
	}{
		"failed":  {end: func(h *Host) { h.find("plugin-session-0").self.tell(lost{why: errors.New("no luck")}) }},
		"stopped": {end: func(h *Host) { h.find("plugin-session-0").self.tell(stop{make(chan error, 1)}) }, took: defaultDrainTimeout},
		"killed":  {end: func(h *Host) { h.find("plugin-session-0").self.tell(kill{}) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := plugin.Define("a")
				plugin.Handle(p, "tool:a", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				})
				h := startHost(t, p)
				startReady(t, h, manifestFor("a"))
				done := beginCall(t, h, protocol.Call{Key: "tool:a"})
				began := time.Now()
				how.end(h)
				wantCode(t, (<-done).err, protocol.CodeOutcomeUnknown, "outcome unknown: tool:a was in flight at plugin a: it has ended")
				require.Equal(t, how.took, time.Since(began))
			})
		})
	}
}
