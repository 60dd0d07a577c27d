package actors

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport/memory"
)

// visitor is a guest whose far end is in the hands of a test.
type visitor struct {
	*far
	session string
	settled <-chan error
	// ended gets what its session failed of, or nil, when that is over.
	ended chan error
}

// comes makes a guest, which has not joined.
func comes(t *testing.T, h *Host, name, instance string, fields ...field) (*visitor, Guest) {
	t.Helper()
	near, conn := memory.Pipe(memory.Options{})
	v := &visitor{far: &far{t: t, host: h, conn: conn}, ended: make(chan error, 1)}
	m := &manifest.Manifest{Dialect: "plain", Name: name}
	for _, set := range fields {
		set(m)
	}
	return v, Guest{Manifest: m, Instance: instance, Dialect: plain{}, Conn: near, Ended: func(err error) { v.ended <- err }}
}

func (v *visitor) joins(g Guest) {
	v.t.Helper()
	var err error
	v.session, v.settled, err = v.host.Join(v.t.Context(), g)
	require.NoError(v.t, err)
	settle()
}

// guest has one join, and offer keys.
func guest(t *testing.T, h *Host, name, instance string, keys ...string) *visitor {
	t.Helper()
	v, g := comes(t, h, name, instance)
	v.joins(g)
	require.NoError(t, <-v.settled)
	for _, key := range keys {
		v.says("offer " + key)
	}
	return v
}

// goes ends its connection.
func (v *visitor) goes() {
	v.t.Helper()
	require.NoError(v.t, v.conn.Close())
	settle()
}

// wantAs checks where it stands, and why.
func (v *visitor) wantAs(phase lifecycle.State, reason string) {
	v.t.Helper()
	settle()
	got, err := v.host.Inspect(v.session)
	require.NoError(v.t, err)
	require.Equal(v.t, phase, got.Phase)
	require.Equal(v.t, reason, got.Reason)
}

// wantOver checks that its session has ended, without a failure.
func (v *visitor) wantOver() {
	v.t.Helper()
	settle()
	select {
	case err := <-v.ended:
		require.NoError(v.t, err)
	default:
		require.Fail(v.t, "its session has not ended")
	}
}

// wantNothingLeft checks that nothing is kept of guests.
func wantNothingLeft(t *testing.T, h *Host) {
	t.Helper()
	settle()
	h.mu.Lock()
	defer h.mu.Unlock()
	require.Empty(t, h.sessions)
	require.Empty(t, h.guests)
	require.Empty(t, h.plugins)
	require.Empty(t, h.logs)
	require.Empty(t, h.left)
	for key := range h.supervisors {
		require.Fail(t, "a supervisor is left", "%q", key)
	}
	require.Empty(t, h.snapshot().Offers())
}

func TestGuest_joinsAndIsCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		phases := listen(t, h, KindPhase, nil)
		v := guest(t, h, "bot", "1", "tool:a")
		require.Equal(t, []string{"loaded", "authenticating", "authenticated", "announced", "preparing", "prepared", "configured", "ready"}, phases.phases("bot"))
		is := wantPhase(t, h, "bot", lifecycle.Ready)
		require.Equal(t, "1", is.Instance)
		require.Equal(t, v.session, is.ID)
		require.Len(t, is.Offers, 1)
		require.Equal(t, "1", is.Offers[0].Owner.Instance)

		done := v.call("tool:a")
		v.skips("event ")
		v.says(`answer 1 {"content":"hi"}`)
		require.Equal(t, `{"content":"hi"}`, (<-done).result)
		v.goes()
		v.wantOver()
		wantNothingLeft(t, h)
	})
}

// skips reads until a frame that does not begin so.
func (v *visitor) skips(prefix string) string {
	v.t.Helper()
	for {
		frame, err := v.conn.Recv()
		require.NoError(v.t, err)
		if len(frame) < len(prefix) || string(frame[:len(prefix)]) != prefix {
			return string(frame)
		}
	}
}

func TestGuest_isRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, plugin.Define("own"), plugin.Define("stopped"))
		startReady(t, h, manifestFor("own"))
		info := startReady(t, h, manifestFor("stopped"))
		_, err := h.Stop(t.Context(), info.ID)
		require.NoError(t, err)
		guest(t, h, "bot", "1")

		for want, set := range map[string]func(*Guest){
			"a guest: expected a manifest, a dialect and a connection":                              func(g *Guest) { g.Dialect = nil },
			"plugin new: instance: expected one, for others of its name may come":                   func(g *Guest) { g.Instance = "" },
			"code: name: a plugin must have a name that is not blank":                               func(g *Guest) { g.Manifest.Name = " \ufeff" },
			"plugin airi-host is the host itself: a guest needs another name":                       func(g *Guest) { g.Manifest.Name = "airi-host" },
			"plugin own is one of the host's own: a guest needs another name":                       func(g *Guest) { g.Manifest.Name = "own" },
			"plugin stopped is one of the host's own: a guest needs another name":                   func(g *Guest) { g.Manifest.Name = "stopped" },
			"plugin bot: instance 1 is here already: choose another one, or wait until it has left": func(g *Guest) { g.Manifest.Name = "bot" },
		} {
			v, g := comes(t, h, "new", "1")
			set(&g)
			_, _, err := h.Join(t.Context(), g)
			require.EqualError(t, err, want)
			require.NoError(t, v.conn.Send([]byte("x")), "the connection is still the caller's")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, g := comes(t, h, "new", "1")
		_, _, err = h.Join(ctx, g)
		require.ErrorIs(t, err, context.Canceled)
		require.Len(t, h.Sessions(), 2)
	})
}

func TestGuest_instancesTakeTurnsAndAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		for _, instance := range []string{"1", "2"} {
			v := guest(t, h, "bot", instance, "tool:a")
			go live(v.conn, int(instance[0]-'0'), nil, false)
		}
		require.Len(t, h.Sessions(), 2)
		var turns []string
		for range 4 {
			result, err := callKey(t, h, "tool:a")
			require.NoError(t, err)
			turns = append(turns, result)
		}
		slices.Sort(turns)
		require.Equal(t, []string{"1", "1", "2", "2"}, turns)
		for _, instance := range []string{"1", "2"} {
			for range 2 {
				result, err := h.Invoke(t.Context(), protocol.Call{Key: "tool:a", Plugin: "bot", Instance: instance})
				require.NoError(t, err)
				require.Equal(t, instance, said(result))
			}
		}
		_, err := h.Invoke(t.Context(), protocol.Call{Key: "tool:a", Plugin: "bot", Instance: "3"})
		require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(err))
	})
}

// A call waits for the instance that it names, or that has announced the key, whatever
// the others of its name do.
func TestGuest_aCallWaitsForTheInstanceThatIsComing(t *testing.T) {
	for name, c := range map[string]protocol.Call{
		"by its key":      {Key: "tool:a"},
		"by its plugin":   {Key: "tool:a", Plugin: "bot"},
		"by its instance": {Key: "tool:a", Plugin: "bot", Instance: "1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startHost(t)
				v, g := comes(t, h, "bot", "1", requires("tool:needed"))
				v.joins(g)
				v.says("offer tool:a")
				v.wantAs(lifecycle.WaitingDeps, "Waiting for capabilities: tool:needed")
				guest(t, h, "bot", "2", "tool:other")
				done := beginCall(t, h, c)
				guest(t, h, "helper", "1", "tool:needed")
				require.NoError(t, <-v.settled)
				go live(v.conn, 1, nil, false)
				got := <-done
				require.NoError(t, got.err)
				require.Equal(t, "1", got.result)
			})
		})
	}
}

// Wherever it stands, a guest whose connection ends has left: that is no crash.
func TestGuest_leavesFromWhereverItStands(t *testing.T) {
	for name, to := range map[string]func(t *testing.T, h *Host) *visitor{
		"while it loads": func(t *testing.T, h *Host) *visitor {
			t.Helper()
			v, g := comes(t, h, "bot", "1")
			g.Dialect = plain{silent: true}
			v.joins(g)
			v.hears("run load")
			return v
		},
		"while it waits": func(t *testing.T, h *Host) *visitor {
			t.Helper()
			v, g := comes(t, h, "bot", "1", requires("tool:never"))
			v.joins(g)
			v.says("offer tool:a")
			return v
		},
		"while it prepares": func(t *testing.T, h *Host) *visitor {
			t.Helper()
			v, g := comes(t, h, "bot", "1")
			g.Dialect = plain{silent: true}
			v.joins(g)
			v.says("ran load", "offer tool:a")
			v.wantAs(lifecycle.Preparing, "")
			return v
		},
		"for want of its configuration": func(t *testing.T, h *Host) *visitor {
			t.Helper()
			v, g := comes(t, h, "bot", "1", needsConfiguration)
			v.joins(g)
			require.NoError(t, <-v.settled)
			v.wantAs(lifecycle.ConfigurationNeeded, "Host requested configuration before activation.")
			return v
		},
		"ready": func(t *testing.T, h *Host) *visitor {
			t.Helper()
			return guest(t, h, "bot", "1", "tool:a")
		},
		"absent": func(t *testing.T, h *Host) *visitor {
			t.Helper()
			v := guest(t, h, "bot", "1", "tool:a")
			v.says("absent gone")
			return v
		},
		"with what it has logged": func(t *testing.T, h *Host) *visitor {
			t.Helper()
			v := guest(t, h, "bot", "1", "tool:a")
			v.says("log a line")
			require.NotEmpty(t, h.Logs("bot", 0))
			return v
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startHost(t)
				crashes := listen(t, h, KindRestart, nil)
				phases := listen(t, h, KindPhase, nil)
				v := to(t, h)
				began := time.Now()
				v.goes()
				v.wantOver()
				require.Equal(t, "stopped", phases.phases("bot")[len(phases.phases("bot"))-1])
				require.NotContains(t, phases.phases("bot"), "failed")
				require.Empty(t, crashes.all())
				require.Zero(t, time.Since(began), "there is nothing to wait for")
				wantNothingLeft(t, h)
				guest(t, h, "bot", "1").goes() // it may come again
				wantNothingLeft(t, h)
			})
		})
	}
}

func TestGuest_leavesWithCallsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		v := guest(t, h, "bot", "1", "tool:a")
		first, second := v.call("tool:a"), v.call("tool:a")
		v.goes()
		for _, done := range []<-chan outcomeOf{first, second} {
			require.Equal(t, protocol.CodeOutcomeUnknown, protocol.CodeOf((<-done).err))
		}
		v.wantOver()
		wantNothingLeft(t, h)
	})
}

// A kill that comes while it leaves, before what it offers is withdrawn, ends it as well.
func TestGuest_isKilledWhileItLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		v := guest(t, h, "bot", "1", "tool:a")
		who := h.find(v.session)
		hold := make(chan struct{})
		h.registry.tell(tracked{dropOffers{owner: who.owner()}, func() { <-hold }})
		require.NoError(t, v.conn.Close())
		settle()
		who.self.tell(kill{})
		settle()
		close(hold)
		v.wantOver()
		wantNothingLeft(t, h)
	})
}

// Another one of the same instance, which comes while the first leaves, waits for that.
func TestGuest_theNextOneWaitsUntilTheFirstHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		v := guest(t, h, "bot", "1", "tool:a")
		hold := make(chan struct{})
		h.registry.tell(tracked{dropOffers{owner: h.find(v.session).owner()}, func() { <-hold }})
		require.NoError(t, v.conn.Close())
		settle()
		next, g := comes(t, h, "bot", "1")
		joined := make(chan struct{})
		go func() { defer close(joined); next.joins(g) }()
		settle()
		third, g := comes(t, h, "bot", "1")
		_, _, err := h.Join(t.Context(), g)
		require.ErrorContains(t, err, "is here already")
		require.NoError(t, third.conn.Close())
		close(hold)
		<-joined
		v.wantOver()
		require.NoError(t, <-next.settled)
		next.wantAs(lifecycle.Ready, "")
	})
}

func TestGuest_thousandsLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		come := func(n int) {
			v := guest(t, h, fmt.Sprintf("bot-%d", n%7), fmt.Sprint(n), "tool:a")
			v.says("log a line")
			v.goes()
			v.wantOver()
		}
		come(0)
		wantNothingLeft(t, h)
		before, known, heap := runtime.NumGoroutine(), actorsOf(h), heapNow()
		for n := range 10_000 {
			come(n)
		}
		wantNothingLeft(t, h)
		time.Sleep(deadLettersLive)
		settle()
		require.LessOrEqual(t, runtime.NumGoroutine(), before+2)
		require.Equal(t, known, actorsOf(h))
		// The actor library has 32,768 small tables for its actors, each of which is made with
		// the first one in it, some 300 bytes.
		require.Less(t, heapNow(), heap+(10<<20), "bytes")
	})
}

// actorsOf is how many actors a host has.
func actorsOf(h *Host) (n int) {
	for _, bucket := range h.sys.actors.ProcessRegistry.LocalPIDs.LocalPIDs {
		n += bucket.Count()
	}
	return n
}

// heapNow is how many bytes are in use.
func heapNow() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// One that fails is told as failed, with why, and then forgotten.
func TestGuest_failsAndIsForgotten(t *testing.T) {
	for name, row := range map[string]struct {
		fail func(v *visitor, g Guest)
		why  string
	}{
		"for want of what it requires": {func(v *visitor, g Guest) {
			requires("tool:never")(g.Manifest)
			v.joins(g)
			time.Sleep(15 * time.Second)
		}, "Capability `tool:never` is not ready after 15000ms."},
		"by a step that does not end": {func(v *visitor, g Guest) {
			g.Dialect = plain{silent: true}
			v.joins(g)
			time.Sleep(30 * time.Second)
		}, "load of plugin bot did not finish within 30s: it has to tell the host when it is over; or raise timeouts.load in the host's settings"},
		"by what it says": {func(v *visitor, g Guest) {
			v.joins(g)
			v.says("offer tool:a", "end of my wits")
		}, "of my wits"},
		"by a panic in its driver": {func(v *visitor, g Guest) {
			v.joins(g)
			v.says("offer tool:a", "panic attack")
		}, "the driver of plugin bot: panic: attack"},
		"by a panic in making its driver": {func(v *visitor, g Guest) {
			g.Dialect = unmakeable{}
			v.joins(g)
		}, "the session of plugin bot: panic: no driver"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startHost(t)
				phases := listen(t, h, KindPhase, nil)
				v, g := comes(t, h, "bot", "1")
				row.fail(v, g)
				settle()
				require.EqualError(t, <-v.ended, row.why)
				if err := <-v.settled; err != nil {
					require.EqualError(t, err, row.why)
				}
				list := phases.phases("bot")
				require.Equal(t, []string{"failed " + row.why, "stopped"}, list[len(list)-2:])
				wantNothingLeft(t, h)
				require.Error(t, v.conn.Send(nil), "its connection is closed")
			})
		})
	}
}

// unmakeable has no driver.
type unmakeable struct{ plain }

func (unmakeable) NewDriver(protocol.Settings) protocol.Driver { panic("no driver") }

// What waits for a start hears of the failure, however late the supervisor tells it.
func TestGuest_theOutcomeIsTheFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		for range 200 {
			v, g := comes(t, h, "bot", "1")
			v.joinsUnsettled(g)
			require.NoError(t, v.conn.Send([]byte("end of it")))
			if err := <-v.settled; err != nil {
				require.EqualError(t, err, "of it")
			}
			require.EqualError(t, <-v.ended, "of it")
		}
	})
}

func (v *visitor) joinsUnsettled(g Guest) {
	v.t.Helper()
	var err error
	v.session, v.settled, err = v.host.Join(context.Background(), g)
	require.NoError(v.t, err)
}

func TestGuest_isStoppedByHandAndNotReloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		v := guest(t, h, "bot", "1", "tool:a")
		_, err := h.Reload(t.Context(), v.session, StartOptions{})
		wantCode(t, err, protocol.CodeInvalid, "plugin bot is a guest, which the host cannot start: stop it, and it may come again")
		v.wantAs(lifecycle.Ready, "")
		info, err := h.Stop(t.Context(), v.session)
		require.NoError(t, err)
		require.Equal(t, lifecycle.Stopped, info.Phase)
		v.wantOver()
		require.NoError(t, h.Remove("bot"))
		wantNothingLeft(t, h)
	})
}

// A guest that is absent is degraded, in whatever phase it says so.
func TestGuest_isAbsentAndPresent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		v := guest(t, h, "bot", "1", "tool:a")
		v.says("absent")
		v.wantAs(lifecycle.Degraded, "it does not say why")
		v.says("absent it is gone")
		v.wantAs(lifecycle.Degraded, "it is gone")
		wantOffers(t, h, "tool:a degraded")
		_, err := callKey(t, h, "tool:a")
		require.Equal(t, protocol.CodeNotReady, protocol.CodeOf(err))
		require.ErrorContains(t, err, "it is gone")
		v.says("offer tool:b")
		wantOffers(t, h, "tool:a degraded", "tool:b announced")
		v.says("present")
		v.wantAs(lifecycle.Ready, "")
		wantOffers(t, h, "tool:a ready", "tool:b ready")
		v.says("present", "absent again", "present", "absent for good")
		v.wantAs(lifecycle.Degraded, "for good")
	})
}

func TestGuest_isAbsentBeforeItIsReady(t *testing.T) {
	for name, back := range map[string]bool{"and comes back": true, "and does not": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startHost(t)
				v, g := comes(t, h, "bot", "1", requires("tool:needed"))
				v.joins(g)
				v.says("offer tool:a", "absent gone")
				v.wantAs(lifecycle.WaitingDeps, "Waiting for capabilities: tool:needed")
				if back {
					v.says("present")
				}
				guest(t, h, "helper", "1", "tool:needed")
				require.NoError(t, <-v.settled)
				if back {
					v.wantAs(lifecycle.Ready, "")
					wantOffers(t, h, "tool:a ready", "tool:needed ready")
					return
				}
				v.wantAs(lifecycle.Degraded, "gone")
				wantOffers(t, h, "tool:a degraded", "tool:needed ready")
				v.says("present")
				v.wantAs(lifecycle.Ready, "")
				wantOffers(t, h, "tool:a ready", "tool:needed ready")
			})
		})
	}
}

// One that lacks something and is absent is degraded until both are over, and says which
// of them it is that lasts.
func TestGuest_isAbsentAndLacksSomething(t *testing.T) {
	for name, row := range map[string]struct {
		first, second string
	}{
		"absent first": {"absent gone", "lack"}, "lacking first": {"lack", "absent gone"},
	} {
		for _, last := range []string{"present", "have"} {
			t.Run(name+", then "+last, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := startHost(t)
					helper := guest(t, h, "helper", "1", "tool:needed")
					v, g := comes(t, h, "bot", "1", requires("tool:needed"))
					v.joins(g)
					require.NoError(t, <-v.settled)
					does := func(what string) {
						switch what {
						case "lack":
							helper.says("absent too")
						case "have":
							helper.says("present")
						default:
							v.says(what)
						}
					}
					does(row.first)
					does(row.second)
					v.wantAs(lifecycle.Degraded, "gone")
					if last == "present" {
						does("have")
						v.wantAs(lifecycle.Degraded, "gone")
					} else {
						does("present")
						v.wantAs(lifecycle.Degraded, "missing capabilities: tool:needed")
					}
					does(last)
					v.wantAs(lifecycle.Ready, "")
				})
			})
		}
	}
}

// A configuration that is asked for while it is absent waits for it.
func TestGuest_isAbsentWhileItNeedsItsConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		v := guest(t, h, "bot", "1", "tool:a")
		v.says("absent gone")
		_, err := h.MarkConfigurationNeeded(t.Context(), v.session, "for a test")
		require.NoError(t, err)
		v.says("present", "absent again")
		v.wantAs(lifecycle.ConfigurationNeeded, "for a test")
		_, err = h.ApplyConfiguration(t.Context(), v.session, protocol.Config{ID: "c", Full: []byte("{}")})
		require.NoError(t, err)
		v.wantAs(lifecycle.Degraded, "again")
		wantOffers(t, h, "tool:a degraded")
		v.says("present")
		v.wantAs(lifecycle.Ready, "")
		wantOffers(t, h, "tool:a ready")
	})
}

func TestGuest_theHostShutsDownWhileGuestsJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		type outcome struct {
			v   *visitor
			err error
		}
		all := make(chan outcome, 100)
		for n := range cap(all) {
			v, g := comes(t, h, "bot", fmt.Sprint(n%50))
			if n%3 == 0 {
				g.Dialect = plain{silent: true}
			}
			go func() {
				_, settled, err := h.Join(context.Background(), g)
				v.settled = settled
				all <- outcome{v, err}
			}()
		}
		runtime.Gosched()
		require.NoError(t, h.Shutdown(t.Context()))
		for range cap(all) {
			if o := <-all; o.err == nil {
				<-o.v.settled //nolint:errcheck // whatever it is
				require.NoError(t, <-o.v.ended)
			}
		}
		_, g := comes(t, h, "late", "1")
		_, _, err := h.Join(t.Context(), g)
		require.ErrorIs(t, err, ErrShutdown)
	})
}

// What the host starts itself goes before guests of its name.
func TestGuest_yieldsToAPluginOfTheHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("bot", "tool:a"))
		one, two := guest(t, h, "bot", "1", "tool:a"), guest(t, h, "bot", "2", "tool:a")
		other := guest(t, h, "other", "1")
		startReady(t, h, manifestFor("bot"))
		settle()
		for _, v := range []*visitor{one, two} {
			require.EqualError(t, <-v.ended, "plugin bot is one of the host's own: a guest needs another name")
		}
		other.wantAs(lifecycle.Ready, "")
		require.Len(t, h.Sessions(), 2)
		wantOffers(t, h, "tool:a ready")
		wantCall(t, h, "tool:a", `"bot"`)
	})
}

// Those of a circle tell each other their events themselves; all others hear of them by
// the host, and they of what others say.
func TestGuest_eventsOfACircle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []string
		own := plugin.Define("own")
		plugin.Handle(own, "event:x", answers(""))
		h := startHost(t, own)
		calls := listen(t, h, KindCall, func(e Event) { heard = append(heard, e.(Called).Session) })
		ownInfo := startReady(t, h, manifestFor("own"))
		in := func(circle, name, instance string) *visitor {
			v, g := comes(t, h, name, instance)
			g.Circle = circle
			v.joins(g)
			require.NoError(t, <-v.settled)
			v.says("offer event:x")
			go live(v.conn, 1, nil, false)
			return v
		}
		a1, a2 := in("a", "bot", "1"), in("a", "bot", "2")
		b, none := in("b", "bot", "3"), in("", "bot", "4")
		hear := func() []string {
			time.Sleep(time.Second) // the router rests now and then
			calls.all()
			got := heard
			heard = nil
			slices.Sort(got)
			return got
		}
		sorted := func(all ...string) []string { slices.Sort(all); return all }
		hear()

		a1.says("serve-told 1 event:x {}")
		require.Equal(t, sorted(ownInfo.ID, b.session, none.session), hear(), "all but its own circle")
		a1.says("serve 1 event:x {}")
		require.Equal(t, sorted(ownInfo.ID, a1.session, a2.session, b.session, none.session), hear(), "all")
		none.says("serve-told 1 event:x {}")
		require.Equal(t, sorted(ownInfo.ID, a1.session, a2.session, b.session, none.session), hear(), "all")
		_, err := callKey(t, h, "event:x")
		require.NoError(t, err)
		require.Equal(t, sorted(ownInfo.ID, a1.session, a2.session, b.session, none.session), hear(), "all")

		require.True(t, h.Hears("event:x", "a"))
		require.True(t, h.Hears("event:x", ""))
		require.False(t, h.Hears("event:y", ""))
		b.goes()
		none.goes()
		_, err = h.Stop(t.Context(), ownInfo.ID)
		require.NoError(t, err)
		require.False(t, h.Hears("event:x", "a"))
		require.True(t, h.Hears("event:x", "b"))
	})
}

// Instances wait each for itself, and are named when they wait for each other.
func TestGuest_instancesWaitForThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		waits := listen(t, h, KindWaiting, nil)
		one, g := comes(t, h, "bot", "1", requires("tool:x"), promises("tool:y"))
		one.joins(g)
		two, g := comes(t, h, "bot", "2", requires("tool:y"))
		two.joins(g)
		three, g := comes(t, h, "bot", "3", requires("tool:z"), promises("tool:x"))
		g.Manifest.Host.Requires = nil
		requires("tool:y")(g.Manifest)
		three.joins(g)
		require.Contains(t, waits.all(), "bot waits for [tool:x] bot (1)>bot (3)>bot (1)")
		require.Contains(t, waits.all(), "bot waits for [tool:y] bot (3)>bot (1)>bot (3)")

		two.goes()
		two.wantOver()
		one.wantAs(lifecycle.WaitingDeps, "Waiting for capabilities: tool:x")
		guest(t, h, "helper", "1", "tool:x")
		require.NoError(t, <-one.settled)
		three.wantAs(lifecycle.WaitingDeps, "Waiting for capabilities: tool:y")
		one.says("offer tool:y")
		require.NoError(t, <-three.settled)
	})
}
