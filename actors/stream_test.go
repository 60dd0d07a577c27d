package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
)

// reports is a handler that reports 1, 2, … n, one at a time after a pause, and answers
// "done" after another.
func reports(n int, pause time.Duration) plugin.Handler {
	return func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		for i := range n + 1 {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
			if i == n {
				break
			}
			if err := plugin.Report(ctx, i+1); err != nil {
				return nil, err
			}
		}
		return json.RawMessage(`"done"`), nil
	}
}

// into collects items.
func into(items *[]string) func(json.RawMessage) error {
	return func(item json.RawMessage) error {
		*items = append(*items, string(item))
		return nil
	}
}

// fedWith is a request stream of items, with an error at its end.
func fedWith(end error, items ...string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		for _, item := range items {
			if !yield(json.RawMessage(item), nil) {
				return
			}
		}
		if end != nil {
			yield(nil, end)
		}
	}
}

// hearsAll is a handler that answers with what it was fed, as text.
func hearsAll(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
	var got []string
	for item, err := range plugin.Feed[json.RawMessage](ctx) {
		if err != nil {
			got = append(got, err.Error())
		} else {
			got = append(got, string(item))
		}
	}
	return json.Marshal(got)
}

func TestStream_itemsComeInOrderBeforeTheResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, handling("a", "model:A", reports(3, time.Second)))
		startReady(t, h, manifestFor("a"))
		var items []string
		got, err := h.Invoke(t.Context(), protocol.Call{Key: "model:A", Progress: into(&items)})
		require.NoError(t, err)
		require.Equal(t, `"done"`, string(got))
		require.Equal(t, []string{"1", "2", "3"}, items)
		require.Zero(t, wantPhase(t, h, "a", lifecycle.Ready).InFlight)
	})
}

func TestStream_aHandlerWaitsForItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, handling("a", "model:A", reports(3, 0)))
		startReady(t, h, manifestFor("a"))
		began := time.Now()
		_, err := h.Invoke(t.Context(), protocol.Call{
			Key: "model:A", Idle: 500 * time.Millisecond, // the time that the caller takes is not the handler's
			Progress: func(json.RawMessage) error { time.Sleep(time.Second); return nil },
		})
		require.NoError(t, err)
		require.Equal(t, 3*time.Second, time.Since(began))
	})
}

func TestStream_noneComesAfterTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late, more := make(chan error, 1), make(chan struct{})
		h := startHost(t, handling("a", "model:A", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			go func() {
				<-more
				late <- plugin.Report(ctx, "late")
			}()
			return nil, plugin.Report(ctx, 1)
		}))
		startReady(t, h, manifestFor("a"))
		var items []string
		_, err := h.Invoke(t.Context(), protocol.Call{Key: "model:A", Progress: into(&items), Idle: time.Hour})
		require.NoError(t, err)
		close(more)
		require.EqualError(t, <-late, "the call is over: context canceled")
		require.Equal(t, []string{"1"}, items)
	})
}

func TestStream_aHandlerIsToldWhatItsCallerSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		enough, heard := errors.New("enough"), make(chan error, 1)
		h := startHost(t, handling("a", "model:A", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			heard <- plugin.Report(ctx, 1)
			return json.RawMessage(`"all the same"`), nil
		}))
		startReady(t, h, manifestFor("a"))
		got, err := h.Invoke(t.Context(), protocol.Call{Key: "model:A", Progress: func(json.RawMessage) error { return enough }})
		require.NoError(t, err)
		require.Equal(t, `"all the same"`, string(got))
		require.Same(t, enough, <-heard)
	})
}

func TestStream_aPanicOfItsCallerEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		h := startHost(t, handling("a", "model:A", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			ended <- plugin.Report(ctx, 1)
			return nil, nil
		}))
		startReady(t, h, manifestFor("a"))
		require.PanicsWithValue(t, "oh no", func() {
			_, _ = h.Invoke(t.Context(), protocol.Call{Key: "model:A", Progress: func(json.RawMessage) error { panic("oh no") }})
		})
		require.EqualError(t, <-ended, "the call is over: context canceled")
		settle()
		require.Zero(t, wantPhase(t, h, "a", lifecycle.Ready).InFlight)
	})
}

func TestStream_theLimitsOnTime(t *testing.T) {
	const ms = time.Millisecond
	for name, test := range map[string]struct {
		host, plugin, own, deadline time.Duration
		reports                     int
		pause                       time.Duration
		err                         string
		took                        time.Duration
	}{
		"no limit by default":       {reports: 1, pause: time.Second, took: 2 * time.Second},
		"the call's own":            {own: 50 * ms, pause: time.Second, err: "model:A of plugin a made no progress for 50ms (the call's own idle limit)", took: 50 * ms},
		"each item starts it anew":  {own: 50 * ms, reports: 10, pause: 30 * ms, took: 330 * ms},
		"and after the last one":    {own: 50 * ms, reports: 2, pause: 30 * ms, took: 90 * ms},
		"the deadline ends it all":  {own: 50 * ms, deadline: 250 * ms, reports: 100, pause: 30 * ms, err: "model:A of plugin a did not answer before the deadline (the call's own deadline)", took: 250 * ms},
		"the plugin's":              {host: time.Minute, plugin: 50 * ms, pause: time.Second, err: "model:A of plugin a made no progress for 50ms (the plugin's limit airi-host.timeouts.idle)", took: 50 * ms},
		"the host's":                {host: 50 * ms, pause: time.Second, err: "model:A of plugin a made no progress for 50ms (the host's limit timeouts.idle)", took: 50 * ms},
		"none, whatever others say": {host: 50 * ms, own: -1, pause: time.Second, took: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log notebook
				h := startHostWith(t, Options{Timeouts: Timeouts{Idle: test.host}, Log: log.logger()}, handling("a", "model:A", reports(test.reports, test.pause)))
				startReady(t, h, manifestFor("a", bounded(func(l *manifest.Timeouts) { l.Idle = test.plugin })))
				for _, follows := range []bool{true, false} {
					c, items := protocol.Call{Key: "model:A", Idle: test.own}, []string{}
					began := time.Now()
					if follows {
						c.Progress = into(&items)
					}
					if test.deadline > 0 {
						c.Deadline = began.Add(test.deadline)
					}
					_, err := h.Invoke(t.Context(), c)
					require.Equal(t, test.took, time.Since(began))
					if test.err == "" {
						require.NoError(t, err)
					} else {
						wantCode(t, err, protocol.CodeTimeout, test.err)
					}
					if follows && test.err == "" {
						require.Len(t, items, test.reports)
					}
					settle()
					require.Zero(t, wantPhase(t, h, "a", lifecycle.Ready).Busy, "the handler heeds its context")
				}
			})
		})
	}
}

func TestStream_aHandlerLearnsWhyItsCallIsOver(t *testing.T) {
	gone := errors.New("gone home")
	for name, test := range map[string]struct {
		call protocol.Call
		want string
	}{
		"idle":      {protocol.Call{Idle: time.Second}, "model:A of plugin a made no progress for 1s (the call's own idle limit)"},
		"its owner": {protocol.Call{Idle: time.Hour}, "gone home"},
	} {
		synctest.Test(t, func(t *testing.T) {
			cause := make(chan error, 1)
			h := startHost(t, handling("a", "model:A", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
				<-ctx.Done()
				cause <- context.Cause(ctx)
				return nil, ctx.Err()
			}))
			startReady(t, h, manifestFor("a"))
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(10*time.Second, func() { cancel(gone) })
			test.call.Key = "model:A"
			_, err := h.Invoke(ctx, test.call)
			require.EqualError(t, <-cause, test.want, name)
			if name == "its owner" {
				require.ErrorIs(t, err, gone)
				require.Equal(t, protocol.CodeCancelled, protocol.CodeOf(err))
			}
		})
	}
}

func TestStream_nestedCallsHaveTheirCallersTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := make(chan error, 1)
		outer := handling("outer", "model:OUTER", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			err := plugin.From(ctx).Call(ctx, "model:INNER", nil, nil, plugin.Follow(func(item int) error { return plugin.Report(ctx, -item) }))
			inner <- err
			return nil, err
		})
		h := startHost(t, outer, handling("inner", "model:INNER", reports(100, time.Second)))
		startReady(t, h, manifestFor("outer", func(m *manifest.Manifest) { m.Host.Invoke = []string{"*"} }))
		startReady(t, h, manifestFor("inner"))
		var items []string
		c := protocol.Call{Key: "model:OUTER", Deadline: time.Now().Add(2500 * time.Millisecond), Progress: into(&items)}
		_, err := h.Invoke(t.Context(), c)
		require.Equal(t, protocol.CodeTimeout, protocol.CodeOf(err), "both end at the same moment, and either may be the first to say so")
		wantCode(t, <-inner, protocol.CodeTimeout, "model:INNER of plugin inner did not answer before the deadline (the caller's deadline)")
		require.Equal(t, []string{"-1", "-2"}, items)

		c.Deadline, c.Idle = time.Time{}, 500*time.Millisecond
		_, err = h.Invoke(t.Context(), c)
		wantCode(t, err, protocol.CodeTimeout, "model:OUTER of plugin outer made no progress for 500ms (the call's own idle limit)")
		require.Equal(t, protocol.CodeCancelled, protocol.CodeOf(<-inner), "the inner call had no such limit")
	})
}

func TestStream_endsWithItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHostWith(t, Options{Timeouts: Timeouts{Drain: time.Second}}, handling("a", "model:A", reports(1000, time.Second)))
		info := startReady(t, h, manifestFor("a"))
		var items []string
		done := beginCall(t, h, protocol.Call{Key: "model:A", Progress: into(&items), Deadline: time.Now().Add(time.Hour)})
		_, err := h.Stop(t.Context(), info.ID)
		require.NoError(t, err)
		wantCode(t, (<-done).err, protocol.CodeOutcomeUnknown, "outcome unknown: model:A was in flight at plugin a: it has ended")
	})
}

func TestStream_feedsAHandler(t *testing.T) {
	torn := errors.New("torn")
	for name, test := range map[string]struct {
		feed iter.Seq2[json.RawMessage, error]
		want string
	}{
		"nothing":  {fedWith(nil), `null`},
		"items":    {fedWith(nil, `1`, `"b"`), `["1","\"b\""]`},
		"failed":   {fedWith(torn, `1`), `["1","torn"]`},
		"panicked": {func(yield func(json.RawMessage, error) bool) { yield([]byte(`1`), nil); panic("oh no") }, `["1","panic: oh no"]`},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log notebook
			h := startHostWith(t, Options{Log: log.logger()}, handling("a", "data:a", hearsAll))
			startReady(t, h, manifestFor("a"))
			got, err := h.Invoke(t.Context(), protocol.Call{Key: "data:a", Feed: test.feed})
			require.NoError(t, err, name)
			require.Equal(t, test.want, string(got), name)
			if name == "panicked" {
				require.Contains(t, log.String(), `msg="a caller's request stream panicked" callee="plugin a" error="panic: oh no" stack="goroutine`)
			}
		})
	}
}

func TestStream_aFeedIsReadOnceAndAsFastAsItIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made, told := 0, make(chan bool, 1)
		endless := func(yield func(json.RawMessage, error) bool) {
			for yield([]byte(`1`), nil) {
				made++
			}
			told <- true
		}
		h := startHost(t, handling("a", "data:a", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			taken := 0
			for _, err := range plugin.Feed[int](ctx) {
				if err != nil {
					return nil, err
				}
				if taken++; taken == 3 {
					break
				}
				time.Sleep(time.Second)
			}
			for _, err := range plugin.Feed[int](ctx) {
				return nil, err
			}
			return nil, nil
		}))
		startReady(t, h, manifestFor("a"))
		_, err := h.Invoke(t.Context(), protocol.Call{Key: "data:a", Feed: endless})
		wantCode(t, err, protocol.CodeInvalid, "a request stream can be read once")
		require.True(t, <-told)
		require.Equal(t, 3, made, "as many as were taken")
	})
}

func TestStream_aFeedEndsWithItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := func(ctx context.Context) iter.Seq2[json.RawMessage, error] {
			return func(yield func(json.RawMessage, error) bool) {
				<-ctx.Done()
				require.False(t, yield([]byte(`1`), nil))
			}
		}
		h := startHost(t, handling("a", "data:a", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			for _, err := range plugin.Feed[int](ctx) {
				return nil, err
			}
			return nil, nil
		}))
		startReady(t, h, manifestFor("a"))
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		_, err := h.Invoke(t.Context(), protocol.Call{Key: "data:a", Feed: waits(ctx), Deadline: began.Add(time.Second)})
		wantCode(t, err, protocol.CodeTimeout, "data:a of plugin a did not answer before the deadline (the call's own deadline)")
		require.Equal(t, time.Second, time.Since(began), "the stream has not come to its next item")
		settle()
		require.Zero(t, wantPhase(t, h, "a", lifecycle.Ready).Busy, "nor does the handler wait for it")
		cancel()
	})
}

func TestStream_whatCannotBeFed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t, offering("a", "data:a", "event:e"))
		startReady(t, h, manifestFor("a"))
		_, err := h.Invoke(t.Context(), protocol.Call{Key: "data:a", Feed: fedWith(nil), Input: []byte(`1`)})
		wantCode(t, err, protocol.CodeInvalid, "data:a: a call with a request stream has no input beside it: give one of the two")
		_, err = h.Invoke(t.Context(), protocol.Call{Key: "event:e", Feed: fedWith(nil)})
		wantCode(t, err, protocol.CodeInvalid, "event:e: an event has one payload: give it as the input, not as a request stream")
	})
}

func TestStream_anEventHasManyWhoHearItAndNobodyWhoFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := make(chan error, 2)
		hear := func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			heard <- plugin.Report(ctx, 1)
			return nil, nil
		}
		h := startHost(t, handling("a", "event:e", hear), handling("b", "event:e", hear))
		startReady(t, h, manifestFor("a"))
		startReady(t, h, manifestFor("b"))
		_, err := h.Invoke(t.Context(), protocol.Call{Key: "event:e", Progress: func(json.RawMessage) error { return errors.New("nobody asked") }})
		require.NoError(t, err)
		require.NoError(t, <-heard)
		require.NoError(t, <-heard)
	})
}

func TestStream_aServiceHasOneToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		double := protocol.ServiceFunc(func(_ context.Context, c protocol.Call) (json.RawMessage, error) {
			n := 0
			for item, err := range c.Feed {
				if err != nil {
					return nil, err
				}
				n++
				if err := c.Progress(append(item, item...)); err != nil {
					return nil, err
				}
			}
			return fmt.Append(nil, n), nil
		})
		hang := protocol.ServiceFunc(func(ctx context.Context, _ protocol.Call) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		broken := protocol.ServiceFunc(func(context.Context, protocol.Call) (json.RawMessage, error) { panic("oh no") })
		h := startHostWith(t, Options{Services: map[string]protocol.Service{"double": double, "hang": hang, "broken": broken}})
		var items []string
		got, err := h.Invoke(t.Context(), protocol.Call{Key: "double", Feed: fedWith(nil, "1", "2"), Progress: into(&items)})
		require.NoError(t, err)
		require.Equal(t, "2", string(got))
		require.Equal(t, []string{"11", "22"}, items)
		_, err = h.Invoke(t.Context(), protocol.Call{Key: "hang", Idle: time.Second})
		wantCode(t, err, protocol.CodeTimeout, "hang of the host made no progress for 1s (the call's own idle limit)")
		_, err = h.Invoke(t.Context(), protocol.Call{Key: "hang", Progress: into(&items), Deadline: time.Now().Add(time.Second)})
		wantCode(t, err, protocol.CodeTimeout, "hang of the host did not answer before the deadline (the call's own deadline)")
		_, err = h.Invoke(t.Context(), protocol.Call{Key: "broken", Progress: into(&items)})
		require.EqualError(t, err, "panic: oh no")
	})
}
