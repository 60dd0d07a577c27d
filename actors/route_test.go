package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport/memory"
)

// opened is what came of the opening of a route.
type opened struct {
	route *Route
	err   error
}

// open begins to open a channel at the far end.
func (f *far) open(ctx context.Context) <-chan opened {
	f.t.Helper()
	done := make(chan opened, 1)
	go func() {
		r, err := f.host.OpenDuplex(ctx, RouteRequest{Plugin: "far", Params: json.RawMessage(`{}`)})
		done <- opened{r, err}
	}()
	settle()
	return done
}

// routeTo opens one.
func (f *far) routeTo(n int) *Route {
	f.t.Helper()
	done := f.open(f.t.Context())
	f.hears(fmt.Sprintf("open %d duplex {}", n))
	f.says(fmt.Sprintf("opened %d", n))
	got := <-done
	require.NoError(f.t, got.err)
	return got.route
}

// withRoutes runs a test in a bubble, in which f.t is its T.
func withRoutes(t *testing.T, test func(f *far)) {
	t.Helper()
	withRoutesIn(t, Limits{RouteChunks: 4, RouteBytes: 64}, test)
}

func withRoutesIn(t *testing.T, l Limits, test func(f *far)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(ready(t, Options{Limits: l}, memory.Options{}, routed{}, "tool:a"))
	})
}

// nextOf is what a route gives next.
func nextOf(t *testing.T, r io.Reader) string {
	t.Helper()
	b := make([]byte, 100)
	n, err := r.Read(b)
	require.NoError(t, err)
	return string(b[:n])
}

func wantExit(t *testing.T, r *Route, want protocol.Exit) {
	t.Helper()
	got, err := r.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestRoute_fromOpenToExit(t *testing.T) {
	withRoutes(t, func(f *far) {
		t := f.t
		r := f.routeTo(1)
		require.Equal(t, lifecycle.RouteOpen, r.Phase())
		require.Equal(t, "far plugin-session-0", r.Plugin()+" "+r.Session())
		f.says("chunk 1 early")
		require.Equal(t, "early", nextOf(t, r))
		f.says("chunk 1 a")
		require.Equal(t, "a", nextOf(t, r))
		f.says("chunk 1 b", "exit 1 3", "chunk 1 c")
		wantExit(t, r, protocol.Exit{Code: 3, HasCode: true})
		require.Equal(t, lifecycle.RouteClosing, r.Phase())
		_, err := r.Write([]byte("x"))
		wantCode(t, err, protocol.CodeNotReady, "the duplex of plugin far is not written to: its program has ended")
		rest, err := io.ReadAll(r) // until what comes behind the exit is taken no more
		require.NoError(t, err)
		require.Equal(t, "bc", string(rest))
		f.hears("close 1")
		require.Equal(t, lifecycle.RouteClosed, r.Phase())
		f.says("closed 1")
		require.NoError(t, r.Close())
		wantExit(t, r, protocol.Exit{Code: 3, HasCode: true})
	})
}

func TestRoute_isNotOpened(t *testing.T) {
	withRoutes(t, func(f *far) {
		t := f.t
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := f.open(ctx)
		f.hears("open 1 duplex {}")
		f.says("refused 1 no such door")
		require.EqualError(t, (<-done).err, "no such door")
		f.hears("close 1")
		done = f.open(ctx)
		f.hears("open 2 duplex {}")
		cancel()
		wantCode(t, (<-done).err, protocol.CodeCancelled, "the duplex of plugin far was not opened: the caller gave up: context canceled")
		f.hears("close 2")
		f.says("opened 2", "closed 2", "closed 1")

		_, err := f.host.OpenPTY(t.Context(), RouteRequest{Plugin: "nobody"})
		wantCode(t, err, protocol.CodeNotFound, "no plugin nobody runs: no pty is opened")
		_, err = f.host.OpenPTY(t.Context(), RouteRequest{Plugin: "far", Params: json.RawMessage(`"unwritable"`)})
		require.ErrorContains(t, err, "pty of plugin far was not called: this cannot be written")
		_, err = f.host.Stop(t.Context(), "plugin-session-0")
		require.NoError(t, err)
		_, err = f.host.OpenPTY(t.Context(), RouteRequest{Plugin: "far"})
		require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(err))
	})
}

func TestRoute_writesWaitForRoom(t *testing.T) {
	withRoutes(t, func(f *far) {
		t := f.t
		r := f.routeTo(1)
		done := make(chan outcomeOf, 1)
		go func() {
			n, err := r.Write([]byte("0123456789abcdefghijABC"))
			done <- outcomeOf{result: fmt.Sprint(n), err: err}
		}()
		settle()
		f.hears("write 1 01234567", "write 1 89abcdef") // 16 bytes may be on their way
		f.says("wrote 1 8")
		f.hears("write 1 ghijABC")
		got := <-done
		require.NoError(t, got.err)
		require.Equal(t, "23", got.result)
		f.says("wrote 1 8", "wrote 1 7")

		for range farRoom.Writes {
			_, err := r.Write([]byte("."))
			require.NoError(t, err)
		}
		go func() {
			_, err := r.Write([]byte("."))
			done <- outcomeOf{err: err}
		}()
		settle()
		f.hears("write 1 .", "write 1 .", "write 1 .")
		require.Empty(t, done)
		require.NoError(t, r.Close())
		require.ErrorIs(t, (<-done).err, io.ErrClosedPipe)
		f.hears("close 1")
	})
}

func TestRoute_closeIsOnceAndDropsWhatWasNotRead(t *testing.T) {
	withRoutes(t, func(f *far) {
		t := f.t
		r := f.routeTo(1)
		f.says("chunk 1 a")
		require.Equal(t, "a", nextOf(t, r))
		f.says("chunk 1 b")
		blocked := f.routeTo(2)
		got := make(chan error, 1)
		go func() {
			_, err := blocked.Read(make([]byte, 1))
			got <- err
		}()
		settle()
		for range 2 {
			require.NoError(t, r.Close())
			require.NoError(t, blocked.Close())
		}
		require.ErrorIs(t, <-got, io.ErrClosedPipe)
		_, err := r.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.ErrClosedPipe)
		_, err = r.Wait(t.Context())
		require.ErrorIs(t, err, io.ErrClosedPipe)
		f.hears("close 1", "close 2")
		f.says("chunk 1 late", "exit 1 0", "closed 1", "closed 1", "chunk 1 later")
		_, err = r.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.ErrClosedPipe)
		require.Equal(t, uint64(1), wantPhase(t, f.host, "far", lifecycle.Ready).Dropped["chunk"])
	})
}

func TestRoute_keepsNothingOfWhatWasReadOrIsNotWanted(t *testing.T) {
	withRoutes(t, func(f *far) {
		t := f.t
		r := f.routeTo(1)
		f.says("chunk 1 abc", "chunk 1 d")
		require.Equal(t, "abcd", nextOf(t, r))
		require.Nil(t, r.rest)
		f.says("chunk 1 ef")
		_, err := r.Read(make([]byte, 1))
		require.NoError(t, err)
		require.Equal(t, "f", string(r.rest))
		require.NoError(t, r.Close())
		f.hears("close 1")
		n, err := r.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.ErrClosedPipe)
		require.Zero(t, n)
		require.Nil(t, r.rest)
	})
}

// A terminal's chunks are small: one read takes all of them that are there, and tells of the
// end with the next one.
func TestRoute_readsWhatIsThereAsFarAsItFits(t *testing.T) {
	withRoutes(t, func(f *far) {
		t := f.t
		r := f.routeTo(1)
		f.says("chunk 1 abc", "chunk 1 d", "chunk 1 efgh")
		short := make([]byte, 6)
		n, err := r.Read(short)
		require.NoError(t, err)
		require.Equal(t, "abcdef", string(short[:n]))
		f.says("chunk 1 i", "exit 1 0", "chunk 1 j")
		require.Equal(t, "ghij", nextOf(t, r))
		f.hears("close 1")
		_, err = r.Read(short)
		require.ErrorIs(t, err, io.EOF)
	})
}

// watchedContext counts who waits for its end.
type watchedContext struct {
	context.Context
	waiting *atomic.Int64
}

func (w watchedContext) Value(any) any { return nil }

func (w watchedContext) AfterFunc(f func()) (stop func() bool) {
	w.waiting.Add(1)
	stopped := context.AfterFunc(w.Context, f)
	return func() bool {
		w.waiting.Add(-1)
		return stopped()
	}
}

// Whoever opens many routes in one context, a program's own, is left with none of them.
func TestRoute_leavesItsContextWhenItIsOver(t *testing.T) {
	withRoutes(t, func(f *far) {
		t := f.t
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		watched := watchedContext{ctx, new(atomic.Int64)}
		done := f.open(watched)
		f.hears("open 1 duplex {}")
		f.says("opened 1")
		r := (<-done).route
		require.Positive(t, watched.waiting.Load())
		require.NoError(t, r.Close())
		f.hears("close 1")
		require.Zero(t, watched.waiting.Load())
	})
}

// A route that its owner has closed stays one, whatever ends behind it.
func TestRoute_whatEndedItStays(t *testing.T) {
	withRoutes(t, func(f *far) {
		t := f.t
		ctx, cancel := context.WithCancel(t.Context())
		done := f.open(ctx)
		f.hears("open 1 duplex {}")
		f.says("opened 1")
		r := (<-done).route
		require.NoError(t, r.Close())
		f.hears("close 1")
		cancel()
		_, err := r.Wait(t.Context())
		require.ErrorIs(t, err, io.ErrClosedPipe)
		_, err = f.host.Stop(t.Context(), "plugin-session-0")
		require.NoError(t, err)
		_, err = r.Wait(t.Context())
		require.ErrorIs(t, err, io.ErrClosedPipe)
	})
}

func TestRoute_aSlowReaderLosesItsRouteAndHoldsUpNobody(t *testing.T) {
	long := strings.Repeat("x", joinedChunk)
	for full, chunks := range map[string][]string{
		"4 items wait, the limit (routeChunks)":                      {long, long, long, long, "5"},
		"16385 bytes of items wait, the limit is 16385 (routeBytes)": {long, long, long, long + "y", "z"},
	} {
		withRoutesIn(t, Limits{RouteChunks: 4, RouteBytes: 4*joinedChunk + 1}, func(f *far) {
			t := f.t
			r := f.routeTo(1)
			f.says("chunk 1 first")
			require.Equal(t, "first", nextOf(t, r))
			other := f.call("tool:a")
			f.hears("call 1 tool:a ")
			began := time.Now()
			for _, text := range chunks {
				f.says("chunk 1 " + text)
			}
			f.says("answer 1 5")
			require.Equal(t, "5", (<-other).result)
			require.LessOrEqual(t, time.Since(began), mostPatience+time.Millisecond)
			f.hears("close 1")
			rest, err := io.ReadAll(r)
			wantCode(t, err, protocol.CodeOverloaded, "the duplex of plugin far sends faster than it is read: "+full+": read it faster, or raise the host's limit")
			require.Len(t, rest, len(fmt.Sprint(chunks[:len(chunks)-1]))-len(chunks), "what came before is read")
			_, err = r.Wait(t.Context())
			require.Equal(t, protocol.CodeOverloaded, protocol.CodeOf(err))
			require.Equal(t, uint64(1), wantPhase(t, f.host, "far", lifecycle.Ready).Dropped["chunk"])
		})
	}
}

// A program that writes in small pieces is held to what it writes, and not to how often.
func TestRoute_shortChunksWaitAsOne(t *testing.T) {
	withRoutesIn(t, Limits{RouteChunks: 2, RouteBytes: 1 << 20}, func(f *far) {
		r := f.routeTo(1)
		for range 2 * joinedChunk {
			f.says("chunk 1 x")
		}
		f.says("exit 1 0")
		all, err := io.ReadAll(r)
		require.NoError(f.t, err)
		require.Equal(f.t, strings.Repeat("x", 2*joinedChunk), string(all))
	})
}

func TestRoute_endsWithItsContext(t *testing.T) {
	withRoutes(t, func(f *far) {
		t := f.t
		ctx, cancel := context.WithCancelCause(t.Context())
		done := f.open(ctx)
		f.hears("open 1 duplex {}")
		f.says("opened 1")
		r := (<-done).route
		cancel(errors.New("lunch"))
		f.hears("close 1")
		_, err := r.Read(make([]byte, 1))
		wantCode(t, err, protocol.CodeCancelled, "the duplex of plugin far was closed: its context has ended: lunch")
		waiting, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		_, err = f.routeTo(2).Wait(waiting)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// A plugin leaves: its routes are over before its end is told.
func TestRoute_isOverBeforeItsSessionsEndIsTold(t *testing.T) {
	for name, row := range map[string]struct {
		end    func(*far)
		phase  lifecycle.State
		reason string
	}{
		"stop":    {func(f *far) { go func() { _, _ = f.host.Stop(context.Background(), "plugin-session-0") }() }, lifecycle.Stopped, "the route has ended: plugin far is being stopped"},
		"crash":   {func(f *far) { _ = f.conn.Close() }, lifecycle.Failed, "lost: EOF"},
		"fault":   {func(f *far) { _ = f.conn.Send([]byte("end badly")) }, lifecycle.Failed, "lost: badly"},
		"retired": {func(f *far) { _ = f.conn.Send([]byte("violate the rules")) }, lifecycle.Failed, "lost: the rules"},
	} {
		t.Run(name, func(t *testing.T) {
			withRoutes(t, func(f *far) {
				t := f.t
				r := f.routeTo(1)
				f.says("chunk 1 last")
				opening := f.open(t.Context())
				f.hears("open 2 duplex {}")
				sub := f.host.Subscribe(KindPhase, 0)
				defer sub.Close()
				over := make(chan struct{})
				go func() {
					defer close(over)
					for e := range sub.C {
						if e.(PhaseChanged).To == row.phase {
							select {
							case <-r.over:
							default:
								t.Error("it is not over yet")
							}
							return
						}
					}
				}()
				row.end(f)
				<-over
				require.Error(t, (<-opening).err)
				rest, err := io.ReadAll(r)
				require.EqualError(t, err, row.reason)
				require.Equal(t, "last", string(rest))
				_, err = r.Wait(t.Context())
				require.EqualError(t, err, row.reason)
				_, err = r.Write([]byte("x"))
				require.Error(t, err)
			})
		})
	}
}

// A peer that cannot be trusted with its routes is ended, and not started again by itself.
func TestRoute_aRetiredPeerStaysDown(t *testing.T) {
	withRoutes(t, func(f *far) {
		t := f.t
		f.says("violate the rules")
		f.hearsTheEnd()
		f.wantFailed("the rules")
		time.Sleep(time.Hour)
		require.Zero(t, wantPhase(t, f.host, "far", lifecycle.Failed).Worker.Crashes)
	})
}

func TestHost_tellsOfStreams(t *testing.T) {
	withRoutes(t, func(f *far) {
		t := f.t
		f.says("stream 2 unheard")
		sub := f.host.Subscribe(KindStream, 0)
		defer sub.Close()
		f.says("stream 1", "stream 2 7", "stream 3")
		var got []string
		for range 3 {
			e := (<-sub.C).(Streamed)
			got = append(got, fmt.Sprint(e.Plugin, " ", e.What, " ", e.Channel, " ", e.Scope, " ", string(e.Item)))
		}
		require.Equal(t, []string{"far open c acme ", "far item c acme 7", "far close c acme "}, got)
	})
}
