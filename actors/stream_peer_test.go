package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/memory"
	"github.com/airi-host/airi-host/transport/ndjson"
	"github.com/airi-host/airi-host/transport/process"
)

func TestPeerStream_itemsComeInOrderBeforeTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, plain{}, "tool:a")
		var items []string
		done := beginCall(t, f.host, protocol.Call{Key: "tool:a", Input: []byte(`{}`), Progress: into(&items)})
		f.hears("call 1 tool:a {} follows")
		f.says("progress 1 1", "progress 1 2\nprogress 1 3\nanswer 1 4\nprogress 1 5")
		got := <-done
		require.NoError(t, got.err)
		require.Equal(t, "4", got.result)
		require.Equal(t, []string{"1", "2", "3"}, items)
		require.Equal(t, map[string]uint64{"progress": 1}, wantPhase(t, f.host, "far", lifecycle.Ready).Dropped)

		failed := beginCall(t, f.host, protocol.Call{Key: "tool:a", Progress: into(&items)})
		f.hears("call 2 tool:a  follows")
		f.says("progress 2 6\nfail 2 no luck")
		require.EqualError(t, (<-failed).err, "no luck")
		require.Equal(t, []string{"1", "2", "3", "6"}, items)
	})
}

// stuck is a caller who takes one item, and is at it until release.
func stuck(release <-chan struct{}, items *[]string) func(json.RawMessage) error {
	return func(item json.RawMessage) error {
		*items = append(*items, string(item))
		<-release
		return nil
	}
}

func TestPeerStream_aSlowCallerHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, plain{}, "tool:a", "tool:b")
		release, items := make(chan struct{}), []string{}
		slow := beginCall(t, f.host, protocol.Call{Key: "tool:a", Progress: stuck(release, &items)})
		f.hears("call 1 tool:a  follows")
		f.says("progress 1 1", "progress 1 2", "progress 1 3", "answer 1 4")
		other := f.call("tool:b")
		f.hears("call 2 tool:b ")
		f.says("answer 2 5")
		require.Equal(t, "5", (<-other).result)
		close(release)
		require.Equal(t, "4", (<-slow).result)
		require.Equal(t, []string{"1", "2", "3"}, items)
	})
}

func TestPeerStream_tooMuchEndsTheCallAndNothingElse(t *testing.T) {
	for full, test := range map[string]struct {
		limits Limits
		fit    int
	}{
		"2 items wait, the limit (streamItems)":               {Limits{StreamItems: 2}, 2},
		"8 bytes of items wait, the limit is 5 (streamBytes)": {Limits{StreamBytes: 5}, 2},
		"1024 items wait, the limit (streamItems)":            {Limits{}, 1024},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := ready(t, Options{Limits: test.limits}, memory.Options{}, plain{}, "tool:a", "tool:b")
			release, items := make(chan struct{}), []string{}
			slow := beginCall(t, f.host, protocol.Call{Key: "tool:a", Progress: stuck(release, &items)})
			neighbor := f.call("tool:b")
			f.hears("call 1 tool:a  follows", "call 2 tool:b ")
			f.says("progress 1 1234")
			for range test.fit {
				f.says("progress 1 1234")
			}
			require.Empty(t, wantPhase(t, f.host, "far", lifecycle.Ready).Dropped)
			f.says("progress 1 1234")
			f.hears("cancel 1 overloaded")
			f.says("progress 1 1234", "answer 2 5")
			require.Equal(t, "5", (<-neighbor).result)
			close(release)
			wantCode(t, (<-slow).err, protocol.CodeOverloaded,
				"tool:a of plugin far sends faster than its caller takes: "+full+": take its items faster, or raise the host's limit")
			require.Equal(t, []string{"1234"}, items)
			require.Equal(t, map[string]uint64{"progress": uint64(test.fit) + 2}, wantPhase(t, f.host, "far", lifecycle.Ready).Dropped)
			again := f.call("tool:a")
			f.hears("call 3 tool:a ")
			f.says("answer 3 6")
			require.Equal(t, "6", (<-again).result)
		})
	}
}

func TestPeerStream_aCallerWhoHasHadEnoughEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, plain{}, "tool:a")
		enough := errors.New("enough")
		done := beginCall(t, f.host, protocol.Call{Key: "tool:a", Progress: func(json.RawMessage) error { return enough }})
		f.hears("call 1 tool:a  follows")
		f.says("progress 1 1\nprogress 1 2")
		require.Same(t, enough, (<-done).err)
		f.hears("cancel 1 refused")
		require.Equal(t, map[string]uint64{"progress": 1}, wantPhase(t, f.host, "far", lifecycle.Ready).Dropped)

		answered := beginCall(t, f.host, protocol.Call{Key: "tool:a", Progress: func(json.RawMessage) error { return enough }})
		f.hears("call 2 tool:a  follows")
		f.says("progress 2 1\nanswer 2 2")
		require.Same(t, enough, (<-answered).err, "though there is a result")
	})
}

func TestPeerStream_aPanicOfItsCallerEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, plain{}, "tool:a")
		caught := make(chan any, 1)
		go func() {
			defer func() { caught <- recover() }()
			_, _ = f.host.Invoke(t.Context(), protocol.Call{Key: "tool:a", Progress: func(json.RawMessage) error { panic("oh no") }})
		}()
		f.hears("call 1 tool:a  follows")
		f.says("progress 1 1")
		require.Equal(t, "oh no", <-caught)
		f.hears("cancel 1 cancelled")
		require.Zero(t, wantPhase(t, f.host, "far", lifecycle.Ready).InFlight)
	})
}

func TestPeerStream_theLimitsOnTimeTellThePeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := connect(t, Options{}, memory.Options{}, plain{})
		_, err := f.host.Load(t.Context(), farManifest(bounded(func(l *manifest.Timeouts) { l.Idle = 100 * time.Millisecond })), StartOptions{})
		require.NoError(t, err)
		f.says("offer tool:a")
		_, err = f.host.Init(t.Context(), "plugin-session-0", StartOptions{})
		require.NoError(t, err)

		began := time.Now()
		idle := f.call("tool:a") // it does not follow, so that items are signs of life only
		f.hears("call 1 tool:a ")
		for _, sign := range []string{"alive 1", "progress 1 1"} {
			time.Sleep(90 * time.Millisecond)
			f.says(sign)
		}
		wantCode(t, (<-idle).err, protocol.CodeTimeout,
			"tool:a of plugin far made no progress for 100ms (the plugin's limit airi-host.timeouts.idle)")
		require.Equal(t, 280*time.Millisecond, time.Since(began))
		f.hears("cancel 1 idle")

		began = time.Now()
		release, items := make(chan struct{}), []string{}
		bound := beginCall(t, f.host, protocol.Call{
			Key: "tool:a", Idle: 50 * time.Millisecond, Deadline: began.Add(170 * time.Millisecond), Progress: stuck(release, &items),
		})
		f.hears("call 2 tool:a  follows")
		for range 6 {
			time.Sleep(25 * time.Millisecond)
			f.says("progress 2 1")
		}
		f.hears("cancel 2 deadline") // though its caller is still at the first item
		require.Equal(t, 170*time.Millisecond, time.Since(began))
		close(release)
		wantCode(t, (<-bound).err, protocol.CodeTimeout, "tool:a of plugin far did not answer before the deadline (the call's own deadline)")
		require.Equal(t, []string{"1"}, items)
		require.Equal(t, map[string]uint64{"progress": 6}, wantPhase(t, f.host, "far", lifecycle.Ready).Dropped)
		f.says("answer 2 7")
		require.Equal(t, map[string]uint64{"progress": 6, "late-answer": 1}, wantPhase(t, f.host, "far", lifecycle.Ready).Dropped)
	})
}

func TestPeerStream_itsEndFreesTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{Restart: RestartPolicy{Disabled: true}}, memory.Options{}, streaming{}, "tool:a")
		var items []string
		waits := func(yield func(json.RawMessage, error) bool) {
			for yield([]byte(`1`), nil) {
				time.Sleep(time.Second)
			}
		}
		done := beginCall(t, f.host, protocol.Call{Key: "tool:a", Progress: into(&items), Feed: waits})
		f.hears("call 1 tool:a  follows feeds", "feed 1 1")
		f.says("progress 1 1")
		require.NoError(t, f.conn.Close())
		require.EqualError(t, (<-done).err, "lost: EOF")
		require.Equal(t, []string{"1"}, items)
	})
}

func TestPeerStream_aFeedThatMeetsTheEndLeavesTheCallToIt(t *testing.T) {
	for name, end := range map[string]func(*far) error{
		"its peer is gone": func(f *far) error { return f.conn.Close() },
		"its call is over": func(f *far) error { return f.conn.Send([]byte("answer 1 3")) },
	} {
		synctest.Test(t, func(t *testing.T) {
			f := ready(t, Options{Restart: RestartPolicy{Disabled: true}}, memory.Options{}, streaming{}, "tool:a")
			release, items, next := make(chan struct{}), []string{}, make(chan struct{})
			done := beginCall(t, f.host, protocol.Call{Key: "tool:a", Progress: stuck(release, &items), Feed: func(yield func(json.RawMessage, error) bool) {
				for range next {
					if !yield([]byte(`1`), nil) {
						return
					}
				}
			}})
			next <- struct{}{}
			f.hears("call 1 tool:a  follows feeds", "feed 1 1")
			f.says("progress 1 1", "progress 1 2")
			require.NoError(t, end(f))
			next <- struct{}{}
			settle()
			close(release)
			got := <-done
			if name == "its call is over" {
				require.NoError(t, got.err)
				require.Equal(t, "3", got.result)
			} else {
				require.EqualError(t, got.err, "lost: EOF")
			}
			require.Equal(t, []string{"1", "2"}, items)
			close(next)
		})
	}
}

// deafened is a connection that stops taking what is sent before its end is received.
type deafened struct {
	transport.Conn
	deaf atomic.Bool
}

func (d *deafened) Send(record []byte) error {
	if d.deaf.Load() {
		return errors.New("broken pipe")
	}
	return d.Conn.Send(record)
}

func TestPeerStream_aFeedThatMeetsABrokenPipeWaitsForTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := connect(t, Options{Restart: RestartPolicy{Disabled: true}}, memory.Options{}, streaming{})
		wire, dial := &deafened{}, f.host.connect
		f.host.connect = func(ctx context.Context, h *handle, e manifest.Entry) (c transport.Conn, p *process.Process, err error) {
			wire.Conn, p, err = dial(ctx, h, e)
			return wire, p, err
		}
		_, err := f.host.Load(t.Context(), farManifest(), StartOptions{})
		require.NoError(t, err)
		f.says("offer tool:a")
		_, err = f.host.Init(t.Context(), "plugin-session-0", StartOptions{})
		require.NoError(t, err)

		next := make(chan struct{})
		done := beginCall(t, f.host, protocol.Call{Key: "tool:a", Feed: func(yield func(json.RawMessage, error) bool) {
			<-next
			yield([]byte(`1`), nil)
		}})
		f.hears("call 1 tool:a  feeds")
		wire.deaf.Store(true)
		close(next)
		settle()
		require.NoError(t, f.conn.Close())
		require.EqualError(t, (<-done).err, "lost: EOF")
	})
}

func TestPeerStream_anAnswerEndsTheIdleLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, plain{}, "tool:a")
		release, items := make(chan struct{}), []string{}
		done := beginCall(t, f.host, protocol.Call{Key: "tool:a", Idle: 50 * time.Millisecond, Progress: stuck(release, &items)})
		f.hears("call 1 tool:a  follows")
		f.says("progress 1 1", "progress 1 2", "answer 1 3")
		time.Sleep(time.Second) // its caller's
		close(release)
		got := <-done
		require.NoError(t, got.err)
		require.Equal(t, "3", got.result)
		require.Equal(t, []string{"1", "2"}, items)
	})
}

func TestPeerStream_feedsThePeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, streaming{}, "data:a")
		done := beginCall(t, f.host, protocol.Call{Key: "data:a", Feed: fedWith(nil, "1", "2")})
		f.hears("call 1 data:a  feeds", "feed 1 1", "feed 1 2", "feed-end 1 <nil>", "and that was all")
		f.says("answer 1 3")
		require.Equal(t, "3", (<-done).result)

		torn := beginCall(t, f.host, protocol.Call{Key: "data:a", Feed: fedWith(errors.New("torn"), "1")})
		f.hears("call 2 data:a  feeds", "feed 2 1", "feed-end 2 torn", "and that was all")
		panics := beginCall(t, f.host, protocol.Call{Key: "data:a", Feed: func(func(json.RawMessage, error) bool) { panic("oh no") }})
		f.hears("call 3 data:a  feeds", "feed-end 3 panic: oh no", "and that was all")
		f.says("answer 2 4", "answer 3 5")
		require.Equal(t, "4", (<-torn).result)
		require.Equal(t, "5", (<-panics).result)
	})
}

func TestPeerStream_aFeedWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{QueueRecords: 2}, streaming{}, "data:a")
		done := beginCall(t, f.host, protocol.Call{Key: "data:a", Feed: fedWith(nil, "1", "2", "3", "4")})
		began := time.Now()
		time.Sleep(time.Second) // nobody reads
		f.hears("call 1 data:a  feeds", "feed 1 1", "feed 1 2", "feed 1 3", "feed 1 4", "feed-end 1 <nil>", "and that was all")
		require.Less(t, time.Since(began), time.Second+5*longestPause)
		f.says("answer 1 5")
		require.Equal(t, "5", (<-done).result)
		p, ok := f.host.find("plugin-session-0").through().(*peer)
		require.True(t, ok)
		require.Nil(t, p.held, "what was sent is let go of")

		stuck := beginCall(t, f.host, protocol.Call{Key: "data:a", Feed: fedWith(nil, "1", "2", "3"), Deadline: time.Now().Add(time.Second)})
		wantCode(t, (<-stuck).err, protocol.CodeTimeout, "data:a of plugin far did not answer before the deadline (the call's own deadline)")
	})
}

func TestPeerStream_anItemThatCannotBeSentEndsTheCall(t *testing.T) {
	for item, why := range map[string]string{
		strings.Repeat("1", 65): "a frame is longer than the limit of 64 bytes",
		strings.Repeat("1", 64): "a frame is longer than the limit of 64 bytes",
		`"unwritable"`:          "this cannot be written",
	} {
		synctest.Test(t, func(t *testing.T) {
			f := ready(t, Options{}, memory.Options{MaxRecord: 64}, streaming{}, "data:a")
			_, err := f.host.Invoke(t.Context(), protocol.Call{Key: "data:a", Feed: fedWith(nil, "1", item)})
			wantCode(t, err, protocol.CodeInvalid, "the request stream of data:a of plugin far cannot be sent: "+why)
			f.hears("call 1 data:a  feeds", "feed 1 1", "cancel 1 not sent")
			wantPhase(t, f.host, "far", lifecycle.Ready)
		})
	}
}

func TestPeerStream_aFeedEndsWithItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, streaming{}, "data:a")
		left := make(chan struct{})
		ticks := func(yield func(json.RawMessage, error) bool) {
			defer close(left)
			for yield([]byte(`1`), nil) {
				time.Sleep(time.Second)
			}
		}
		done := beginCall(t, f.host, protocol.Call{Key: "data:a", Feed: ticks})
		f.hears("call 1 data:a  feeds", "feed 1 1")
		f.says("answer 1 3")
		require.Equal(t, "3", (<-done).result)
		<-left
		next := f.call("data:a")
		f.hears("call 2 data:a ") // and nothing before it
		f.says("answer 2 4")
		require.NoError(t, (<-next).err)
	})
}

func TestPeerStream_aWireWithoutRequestStreamsIsNotFed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, plain{}, "data:a")
		_, err := f.host.Invoke(t.Context(), protocol.Call{Key: "data:a", Feed: fedWith(nil)})
		wantCode(t, err, protocol.CodeInvalid, "data:a of plugin far was not called: the wire of plain has no request streams: give the call an input")
	})
}

func TestPeerStream_theReaderReceivesIt(t *testing.T) {
	h, c := startPrompt(t)
	var items []string
	for led := c.led.Load(); c.led.Load() == led; {
		wantCall(t, h, "tool:a", "1")
	}
	for range 100 { // the reader stands by at first
		led := c.led.Load()
		wantCall(t, h, "tool:a", "1")
		got, err := h.Invoke(t.Context(), protocol.Call{Key: "tool:a", Progress: into(&items)})
		require.NoError(t, err)
		require.JSONEq(t, `{"data":1}`, string(got))
		require.LessOrEqual(t, c.led.Load(), led+1)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 200 {
				call := protocol.Call{Key: "tool:a"}
				if (i+n)%3 == 0 {
					call.Idle = time.Minute
				}
				if _, err := h.Invoke(t.Context(), call); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	require.False(t, c.collided.Load(), "two received at once")
}

func TestPeerStream_aBurstIsNotTooMuchForWhoTakesItAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, plain{}, "tool:a")
		const n = 20_000
		items := 0
		done := beginCall(t, f.host, protocol.Call{Key: "tool:a", Progress: func(json.RawMessage) error { items++; return nil }})
		f.hears("call 1 tool:a  follows")
		f.says(strings.Repeat("progress 1 1\n", n) + "answer 1 2")
		got := <-done
		require.NoError(t, got.err)
		require.Equal(t, n, items)
	})
}

func TestPeerStream_leavesRoomForCalls(t *testing.T) {
	require.False(t, isMuch(ndjson.Stats{QueuedRecords: busyRecords - 1, QueuedBytes: busyBytes - 1}))
	require.True(t, isMuch(ndjson.Stats{QueuedRecords: busyRecords}))
	require.True(t, isMuch(ndjson.Stats{QueuedBytes: busyBytes}))
	require.Less(t, 4*busyRecords, ndjson.DefaultQueueRecords)
	require.Less(t, 4*busyBytes, ndjson.DefaultQueueBytes)
}

// A peer that has not heard of a call is not told of its end: to one who knows calls by
// their streams alone, that would be the first of it.
func TestPeerStream_whatNeverLeftIsNotCancelled(t *testing.T) {
	for name, row := range map[string]struct {
		room   int
		before []string
		after  []string
	}{
		"no item left":  {1, []string{"call 1 tool:a "}, nil},
		"the first did": {2, []string{"call 1 tool:a ", "feed 2 1"}, []string{"cancel 2 deadline"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := ready(t, Options{}, memory.Options{QueueRecords: row.room}, streaming{plain{shy: true}}, "tool:a", "data:a")
				filling := f.call("tool:a")
				hour := func(yield func(json.RawMessage, error) bool) {
					_ = yield([]byte(`1`), nil)
					time.Sleep(time.Hour)
				}
				done := beginCall(t, f.host, protocol.Call{Key: "data:a", Feed: hour, Deadline: time.Now().Add(time.Second)})
				time.Sleep(time.Second - longestPause/4) // there is room for the cancel, and it is not yet looked for
				f.hears(row.before...)
				require.Equal(t, protocol.CodeTimeout, protocol.CodeOf((<-done).err))
				f.hears(row.after...)
				next := f.call("tool:a")
				f.hears("call 3 tool:a ") // and nothing before it
				f.says("answer 1 1")
				f.says("answer 3 3")
				require.NoError(t, (<-filling).err)
				require.NoError(t, (<-next).err)
				time.Sleep(time.Hour)
			})
		})
	}
}

// A request stream that ends with the context of its call has not come to its end.
func TestPeerStream_aFeedThatEndsWithItsCallerIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		local := plugin.Define("local")
		ends := make(chan error, 1)
		plugin.Handle(local, "data:local", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			var last error
			for _, err := range plugin.Feed[int](ctx) {
				last = err
			}
			ends <- last
			return nil, nil
		})
		f := ready(t, Options{Programs: map[string]protocol.Program{"local": local}}, memory.Options{}, streaming{}, "data:far")
		startReady(t, f.host, manifestFor("local"))
		for n := range 100 {
			for _, key := range []string{"data:far", "data:local"} {
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() {
					_, err := f.host.Invoke(ctx, protocol.Call{Key: key, Feed: func(yield func(json.RawMessage, error) bool) {
						if yield([]byte(`1`), nil) {
							<-ctx.Done()
						}
					}})
					done <- err
				}()
				settle()
				cancel()
				err := <-done
				if key == "data:local" { // which may answer first
					require.Error(t, <-ends)
					continue
				}
				require.Equal(t, protocol.CodeCancelled, protocol.CodeOf(err))
				f.hears(fmt.Sprintf("call %d data:far  feeds", n+1), fmt.Sprintf("feed %d 1", n+1), fmt.Sprintf("cancel %d cancelled", n+1))
			}
		}
	})
}
