package actors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport"
	"github.com/airi-host/airi-host/transport/memory"
	"github.com/airi-host/airi-host/transport/process"
)

// far is the far end of a plugin's connection, in the hands of a test. Its words
// are those of the dialect "plain": one line of text a frame.
type far struct {
	t    *testing.T
	host *Host
	conn *memory.Conn
}

// connect starts a host with one plugin, "far", at the other end of a pipe.
func connect(t *testing.T, opts Options, pipe memory.Options, d protocol.Dialect) *far {
	t.Helper()
	opts.Dialects = append(opts.Dialects, d)
	f := &far{t: t, host: startHostWith(t, opts)}
	f.host.connect = func(context.Context, *handle, manifest.Entry) (transport.Conn, *process.Process, error) {
		var near *memory.Conn
		near, f.conn = memory.Pipe(pipe)
		return near, nil, nil
	}
	return f
}

// farManifest describes the plugin at the far end.
func farManifest(fields ...field) *manifest.Manifest {
	m := manifestFor("far", fields...)
	m.Dialect, m.Entrypoints, m.Host.Command = "plain", manifest.Entrypoints{}, []string{"far"}
	return m
}

// ready is a far end whose session is ready, with these offers.
func ready(t *testing.T, opts Options, pipe memory.Options, d protocol.Dialect, keys ...string) *far {
	t.Helper()
	f := connect(t, opts, pipe, d)
	_, err := f.host.Load(t.Context(), farManifest(), StartOptions{})
	require.NoError(t, err)
	for _, key := range keys {
		f.says("offer " + key)
	}
	info, err := f.host.Init(t.Context(), "plugin-session-0", StartOptions{})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Ready, info.Phase)
	return f
}

// says sends frames to the host and lets it take them in.
func (f *far) says(lines ...string) {
	f.t.Helper()
	for _, line := range lines {
		require.NoError(f.t, f.conn.Send([]byte(line)))
	}
	settle()
}

// hears checks the next frames from the host.
func (f *far) hears(lines ...string) {
	f.t.Helper()
	for _, want := range lines {
		got, err := f.conn.Recv()
		require.NoError(f.t, err)
		require.Equal(f.t, want, string(got))
	}
}

// hearsTheEnd checks that nothing comes but the end.
func (f *far) hearsTheEnd() {
	f.t.Helper()
	_, err := f.conn.Recv()
	require.ErrorIs(f.t, err, io.EOF)
}

// call begins a call of a key.
func (f *far) call(key string) <-chan outcomeOf {
	f.t.Helper()
	return beginCall(f.t, f.host, protocol.Call{Key: key})
}

// wantFailed checks that the session has failed with a reason.
func (f *far) wantFailed(reason string) {
	f.t.Helper()
	settle()
	require.Equal(f.t, reason, wantPhase(f.t, f.host, "far", lifecycle.Failed).Reason)
}

func TestPeer_reachesReadyAndAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, plain{}, "tool:a", "model:B")
		wantOffers(t, f.host, "tool:a ready", "model:B ready")
		done := beginCall(t, f.host, protocol.Call{Key: "tool:a", Input: []byte(`{"x":1}`)})
		other := f.call("model:B")
		f.hears(`call 1 tool:a {"x":1}`, "call 2 model:B ")
		require.EqualValues(t, 2, wantPhase(t, f.host, "far", lifecycle.Ready).InFlight)
		f.says("fail 2 no luck", `answer 1 {"content":"hi"}`)
		got := <-done
		require.NoError(t, got.err)
		require.Equal(t, `{"content":"hi"}`, got.result)
		require.EqualError(t, (<-other).err, "no luck")
		f.says("retract tool:a")
		wantOffers(t, f.host, "model:B ready")
		f.says("offer tool:late")
		wantOffers(t, f.host, "model:B ready", "tool:late ready")
	})
}

func TestPeer_carriesOutEffectsInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, plain{})
		events := listen(t, f.host, KindChannel|KindWire|KindDropped, nil)
		f.says("both ways", "emit hello", "drop thing", "progress 1 x", "alive 1", "chunk 7")
		f.hears("first", "third")
		require.Equal(t, []string{
			"far wire true both ways", "far wire false first", "far channel true second", "far wire false third",
			"far wire true emit hello", "far channel true hello",
			"far wire true drop thing", "far drops thing 1 because",
			"far wire true progress 1 x", "far drops progress 1 nobody follows the call", "far wire true alive 1",
			"far wire true chunk 7", "far drops chunk 1 no such route: 7",
		}, events.all())
	})
}

func TestPeer_aStepThatIsNotAnsweredHasALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := connect(t, Options{}, memory.Options{}, plain{silent: true})
		_, err := f.host.Start(t.Context(), farManifest(), StartOptions{})
		const text = "load of plugin far did not finish within 30s: mend its hook, or raise airi-host.timeouts.load in its manifest"
		require.EqualError(t, err, text)
		f.hears("run load")
		f.hearsTheEnd()
		f.wantFailed(text)
	})
}

func TestPeer_stepsThatAreAnsweredLateMeanNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := connect(t, Options{}, memory.Options{}, plain{silent: true})
		started := beginStart(t, f.host, farManifest())
		f.hears("run load")
		f.says("ran setup", "ran load", "ran load")
		f.hears("run init")
		f.says("ran init", "ran setup", "ran setup")
		f.hears("run setup")
		require.NoError(t, (<-started).err)
		stopped := begun(func() (SessionInfo, error) { return f.host.Stop(t.Context(), "plugin-session-0") })
		f.hears("run stop")
		f.says("ran stop")
		f.hearsTheEnd()
		require.NoError(t, (<-stopped).err)
	})
}

func TestPeer_aFullQueueIsAnOverloadAndTheConnectionLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{QueueRecords: 2}, plain{}, "tool:a")
		first, second := f.call("tool:a"), f.call("tool:a")
		_, err := callKey(t, f.host, "tool:a")
		wantCode(t, err, protocol.CodeOverloaded,
			"tool:a of plugin far was not called: the peer reads too slowly: the send queue is full")
		require.Empty(t, wantPhase(t, f.host, "far", lifecycle.Ready).Dropped)
		f.hears("call 1 tool:a ", "call 2 tool:a ")
		f.says("answer 2 2", "answer 1 1")
		require.Equal(t, "1", (<-first).result)
		require.Equal(t, "2", (<-second).result)
		fourth := f.call("tool:a")
		f.hears("call 4 tool:a ")
		f.says("answer 4 4")
		require.NoError(t, (<-fourth).err)
	})
}

// A timer that was stopped may be kept by the runtime until its time, and keeps its call.
func TestPeer_aCallThatIsGivenUpKeepsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, plain{}, "tool:a")
		one := &call{done: make(chan struct{}, 1)}
		f.host.pool.New = func() any { return one }
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := f.host.Invoke(ctx, protocol.Call{Key: "tool:a", Input: json.RawMessage(`{}`)})
		require.Equal(t, protocol.CodeCancelled, protocol.CodeOf(err))
		f.hears("call 1 tool:a {}", "cancel 1 cancelled")
		require.NotZero(t, one.id)
		require.Nil(t, one.Input)
	})
}

func TestPeer_aCancelThatCannotBeSentIsNoHarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{Timeouts: Timeouts{Call: time.Second}}, memory.Options{QueueRecords: 1}, plain{}, "tool:a")
		done := f.call("tool:a")
		require.Equal(t, protocol.CodeTimeout, protocol.CodeOf((<-done).err))
		f.hears("call 1 tool:a ")
		wantPhase(t, f.host, "far", lifecycle.Ready)
	})
}

func TestPeer_whatIsTooLongOrCannotBeWrittenFailsItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{MaxRecord: 64}, plain{}, "tool:a")
		for input, text := range map[string]string{
			`{"x":"` + strings.Repeat("1", 56) + `"}`: "tool:a of plugin far was not called: a frame is longer than the limit of 64 bytes",
			`{"x":"` + strings.Repeat("1", 57) + `"}`: "tool:a of plugin far was not called: a frame is longer than the limit of 64 bytes",
			`{"unwritable":1}`:                        "tool:a of plugin far was not called: this cannot be written",
		} {
			_, err := f.host.Invoke(t.Context(), protocol.Call{Key: "tool:a", Input: json.RawMessage(input)})
			require.EqualError(t, err, text)
		}
		done := f.call("tool:a")
		f.hears("call 3 tool:a ") // what is too long by itself was not even tried
		f.says("answer 3 3")
		require.NoError(t, (<-done).err)
	})
}

// gives is a service with one answer.
func gives(result string) protocol.Service {
	return protocol.ServiceFunc(func(context.Context, protocol.Call) (json.RawMessage, error) { return []byte(result), nil })
}

func TestPeer_anAnswerThatCannotBeSentIsAnError(t *testing.T) {
	services := map[string]protocol.Service{"long": gives(strings.Repeat("1", 200)), "bad": gives(`"unwritable"`), "good": gives(`7`)}
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{Services: services}, memory.Options{MaxRecord: 128}, plain{})
		f.says("serve 1 long")
		f.hears("failed 1 the host's answer cannot be sent: a frame is longer than the limit of 128 bytes")
		f.says("serve 2 bad")
		f.hears("failed 2 the host's answer cannot be sent: this cannot be written")
		f.says("serve 3 good")
		f.says("serve 4 none")
		f.hears("result 3 7", "failed 4 nobody offers none")
		wantPhase(t, f.host, "far", lifecycle.Ready)
	})
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{Services: services}, memory.Options{MaxRecord: 64}, plain{})
		f.says("serve 1 long") // even the error is too long
		f.wantFailed("answering plugin far: a frame is longer than the limit of 64 bytes")
	})
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{Services: services}, memory.Options{MaxRecord: 128}, plain{forgetful: true})
		f.says("serve 1 good")
		f.hears("result 1 7")
		f.says("serve 2 bad")
		f.wantFailed("answering plugin far: the host's answer cannot be sent: this cannot be written")
	})
}

func TestPeer_aFrameOfNobodysThatCannotBeSentEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{MaxRecord: 64}, plain{})
		f.says("say unwritable")
		f.wantFailed("sending to plugin far: this cannot be written")
	})
}

func TestPeer_servesAndAbandons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 2)
		hang := protocol.ServiceFunc(func(ctx context.Context, c protocol.Call) (json.RawMessage, error) {
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return nil, errors.New(c.Caller + " gave up")
		})
		f := ready(t, Options{Services: map[string]protocol.Service{"hang": hang}}, memory.Options{}, plain{}, "tool:own")
		f.says("serve 1 hang", "serve 2 hang")
		require.Empty(t, ended)
		f.says("abandon 1", "abandon 9")
		require.ErrorIs(t, <-ended, context.Canceled)
		f.hears("failed 1 far gave up")

		f.says("serve 3 tool:own") // a peer may call itself
		f.hears("call 1 tool:own ")
		f.says("answer 1 5")
		f.hears("result 3 5")
		require.NoError(t, f.conn.Close())
		require.ErrorIs(t, <-ended, context.Canceled, "what a lost peer asked for ends")
	})
}

func TestPeer_timers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, plain{})
		began := time.Now()
		f.says("timer 1 2s", "timer 2 3s", "timer 3 1s", "timer 3 4s", "untimer 2", "untimer 9")
		f.hears("fired 1")
		require.Equal(t, 2*time.Second, time.Since(began))
		f.hears("fired 3")
		require.Equal(t, 4*time.Second, time.Since(began), "a timer that is set again starts anew")
		f.says("timer 1 1s")
		_, err := f.host.Stop(t.Context(), "plugin-session-0")
		require.NoError(t, err)
		f.hearsTheEnd()
	})
}

func TestPeer_badFramesAreCountedAndItLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, plain{})
		events := listen(t, f.host, KindDropped, nil)
		f.says("unreadable", "panic in the codec", "unreadable", "say still here")
		f.hears("still here")
		require.Equal(t, []string{"far drops bad-frame 1 this is no frame"}, events.all())
		require.Equal(t, map[string]uint64{"bad-frame": 3}, wantPhase(t, f.host, "far", lifecycle.Ready).Dropped)
	})
}

func TestPeer_itsEndFreesAllThatWaitOnce(t *testing.T) {
	for name, test := range map[string]struct {
		end       func(f *far)
		forgetful bool
		reason    string
		text      string
	}{
		"the connection ends": {func(f *far) { _ = f.conn.Close() }, false, "EOF", "lost: EOF"},
		"a forgetful driver": {
			func(f *far) { _ = f.conn.Close() }, true, "EOF",
			"outcome unknown: tool:a was in flight at plugin far: EOF",
		},
		"the driver gives up": {func(f *far) { f.says("end of story") }, false, "of story", "lost: of story"},
		"the driver panics": {
			func(f *far) { f.says("panic oh no") }, false, "the driver of plugin far: panic: oh no",
			"outcome unknown: tool:a was in flight at plugin far: the driver of plugin far: panic: oh no",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := ready(t, Options{Restart: RestartPolicy{Disabled: true}}, memory.Options{}, plain{forgetful: test.forgetful}, "tool:a")
				events := listen(t, f.host, KindPhase|KindCapability|KindDropped, nil)
				first, second := f.call("tool:a"), f.call("tool:a")
				began := time.Now()
				test.end(f)
				for _, done := range []<-chan outcomeOf{first, second} {
					wantCode(t, (<-done).err, protocol.CodeOutcomeUnknown, test.text)
				}
				require.Zero(t, time.Since(began))
				f.wantFailed(test.reason)
				require.Equal(t, []string{
					"far tool:a: ready → withdrawn plugin far failed: " + test.reason, "far: ready → failed " + test.reason,
				}, events.all())
				_, err := callKey(t, f.host, "tool:a")
				wantCode(t, err, protocol.CodeNotReady, "tool:a of plugin far is not ready: failed ("+test.reason+")")
				startReadyAgain(t, f)
			})
		})
	}
}

// startReadyAgain starts the far plugin once more, as a new session.
func startReadyAgain(t *testing.T, f *far) {
	t.Helper()
	info, err := f.host.Start(t.Context(), farManifest(), StartOptions{})
	require.NoError(t, err)
	require.Equal(t, "plugin-session-1", info.ID)
	require.Equal(t, lifecycle.Ready, info.Phase)
}

func TestPeer_callsInFlightWhenItIsStoppedAreFreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, plain{}, "tool:a")
		done := f.call("tool:a")
		_, err := f.host.Stop(t.Context(), "plugin-session-0")
		require.NoError(t, err)
		wantCode(t, (<-done).err, protocol.CodeOutcomeUnknown, "lost: plugin far was stopped")
	})
}

// TestPeer_aDeadlineIsNamedAndALateAnswerIsDropped: exactly one cancel goes out,
// and what comes late completes nothing newer.
func TestPeer_aDeadlineIsNamedAndALateAnswerIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, plain{}, "tool:a")
		events := listen(t, f.host, KindDropped, nil)
		began := time.Now()
		_, err := f.host.Invoke(t.Context(), protocol.Call{Key: "tool:a", Deadline: began.Add(100 * time.Millisecond)})
		wantCode(t, err, protocol.CodeTimeout, "tool:a of plugin far did not answer before the deadline (the call's own deadline)")
		require.Equal(t, 100*time.Millisecond, time.Since(began))
		f.hears("call 1 tool:a ", "cancel 1 deadline")
		newer := f.call("tool:a")
		f.hears("call 2 tool:a ")
		require.Empty(t, events.all(), "the cancelled call itself is no late answer")
		f.says("answer 1 1")
		require.Equal(t, []string{"far drops late-answer 1"}, events.all())
		require.Empty(t, newer)
		f.says("answer 2 2", "answer 2 2")
		require.Equal(t, "2", (<-newer).result)
		require.Equal(t, map[string]uint64{"late-answer": 2}, wantPhase(t, f.host, "far", lifecycle.Ready).Dropped)
	})
}

// Large frames that are encoded one after the other under the peer's lock must not
// make those behind them later and later: what is too late already is not sent.
func TestPeer_aCallWhoseTimeIsOverIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, plain{}, "tool:x")
		late := f.host.newCall()
		late.Call = protocol.Call{Key: "tool:late"}
		require.True(t, late.complete(nil, errLate))
		link := f.host.current("far").through()
		link.invoke(late)
		link.cancel(late, "deadline")
		call := f.call("tool:x")
		f.hears("call 1 tool:x ")
		f.says("answer 1 1")
		require.Equal(t, "1", (<-call).result)
	})
}

func TestPeer_aCallerThatGivesUpCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, plain{}, "tool:a")
		ctx, cancel := context.WithCancel(t.Context())
		done := begun(func() (SessionInfo, error) {
			_, err := f.host.Invoke(ctx, protocol.Call{Key: "tool:a"})
			return SessionInfo{}, err
		})
		cancel()
		wantCode(t, (<-done).err, protocol.CodeCancelled,
			"tool:a of plugin far did not answer: the caller gave up: context canceled")
		f.hears("call 1 tool:a ", "cancel 1 cancelled")
	})
}

func TestPeer_isNotReadWhileItsSessionIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{Limits: Limits{Facts: 3}}, memory.Options{}, plain{})
		busy := make(chan struct{})
		f.host.current("far").self.tell(registered{func() { <-busy }})
		for i := range 10 {
			f.says(fmt.Sprintf("offer tool:%d", i))
		}
		f.says("say done")
		got := make(chan struct{})
		go func() { f.hears("done"); close(got) }()
		settle()
		require.Empty(t, f.host.Offers())
		select {
		case <-got:
			require.Fail(t, "the host read on, although three facts wait for the session")
		default:
		}
		close(busy)
		<-got
		settle()
		require.Len(t, f.host.Offers(), 10)
	})
}

func TestPeer_isFreedFromItsGateByItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{Limits: Limits{Facts: 1}}, memory.Options{}, plain{})
		busy := make(chan struct{})
		f.host.current("far").self.tell(registered{func() { <-busy }})
		f.says("offer tool:a", "offer tool:b")
		stopped := begun(func() (SessionInfo, error) { return f.host.Stop(t.Context(), "plugin-session-0") })
		close(busy)
		require.NoError(t, (<-stopped).err)
		wantOffers(t, f.host)
	})
}

func TestPeer_endsOnceHoweverOftenItIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, plain{}, "tool:a")
		link := f.host.current("far").through()
		for range 3 {
			link.end(errors.New("enough"))
			link.kill()
		}
		settle()
		_, err := callKey(t, f.host, "tool:a")
		wantCode(t, err, protocol.CodeNotReady, "tool:a of plugin far was not called: it has ended")
		link.emit(protocol.Event{Name: "late"})
		_, err = f.host.Stop(t.Context(), "plugin-session-0")
		require.NoError(t, err)
		wantNoSession(t, f.host, "far")
	})
}

func TestPeer_aWorkerThatGoesDuringItsStopHookIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := connect(t, Options{}, memory.Options{}, plain{silent: true})
		started := beginStart(t, f.host, farManifest())
		f.says("ran load")
		f.says("ran init")
		f.says("ran setup")
		require.NoError(t, (<-started).err)
		began := time.Now()
		stopped := begun(func() (SessionInfo, error) { return f.host.Stop(t.Context(), "plugin-session-0") })
		require.NoError(t, f.conn.Close())
		require.NoError(t, (<-stopped).err)
		require.Zero(t, time.Since(began), "nobody waits for the answer of a stop hook that went")
	})
}

func TestPeer_aStopWaitsForAConnectionThatIsBeingMade(t *testing.T) {
	for name, test := range map[string]struct {
		dial func(ctx context.Context) error
		want time.Duration
	}{
		"and is cut short":  {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, 0},
		"and lets it go":    {func(context.Context) error { time.Sleep(time.Second); return nil }, time.Second},
		"and after a panic": {func(ctx context.Context) error { <-ctx.Done(); panic("oh no") }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := startHostWith(t, Options{Dialects: []protocol.Dialect{plain{}}})
				near, remote := memory.Pipe(memory.Options{})
				h.connect = func(ctx context.Context, _ *handle, _ manifest.Entry) (transport.Conn, *process.Process, error) {
					return near, nil, test.dial(ctx)
				}
				started := beginStart(t, h, farManifest())
				began := time.Now()
				_, err := h.Stop(t.Context(), "plugin-session-0")
				require.NoError(t, err)
				require.Equal(t, test.want, time.Since(began))
				wantCode(t, (<-started).err, protocol.CodeCancelled, "plugin far was stopped")
				if test.want > 0 {
					_, err = remote.Recv()
					require.ErrorIs(t, err, io.EOF, "nothing of the plugin is left")
				}
			})
		})
	}
}

func TestPeer_aConnectionThatCannotBeMadeFailsTheLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHostWith(t, Options{Dialects: []protocol.Dialect{plain{}}})
		h.connect = func(context.Context, *handle, manifest.Entry) (transport.Conn, *process.Process, error) {
			return nil, nil, errors.New("no such program")
		}
		info, err := h.Load(t.Context(), farManifest(), StartOptions{})
		require.EqualError(t, err, "no such program")
		require.Equal(t, lifecycle.Failed, info.Phase)
		_, err = h.Stop(t.Context(), info.ID)
		require.NoError(t, err)
	})
}

func TestPeer_tellsOfAnEndByForceWhatWasInUse(t *testing.T) {
	for name, row := range map[string]struct {
		used bool
		step process.Step
		err  error
		want string
	}{
		"in good order":        {true, process.StepStdin, nil, "level=DEBUG"},
		"by force":             {true, process.StepKill, nil, "level=INFO"},
		"by force, in the bud": {false, process.StepKill, nil, "level=DEBUG"},
		"not at all":           {false, process.StepKill, errors.New("it survives"), `level=WARN .* error="it survives"`},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			h := &Host{log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
			p := &peer{host: h, h: &handle{Origin: Origin{Plugin: "far"}}, used: row.used}
			p.tellEnd(process.StopReport{Step: row.step}, row.err)
			require.Regexp(t, row.want, log.String())
			require.Equal(t, row.err != nil, strings.Contains(log.String(), "error="))
		})
	}
}
