package capability

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// waited is how a Wait ended, and when.
type waited struct {
	got   *Descriptor
	err   error
	after time.Duration
}

// startWait waits in another goroutine, which is asleep when startWait returns.
func startWait(ctx context.Context, r *Registry, key Key, timeout time.Duration) <-chan waited {
	begun, result := time.Now(), make(chan waited, 1)
	go func() {
		d, err := r.Wait(ctx, key, timeout)
		result <- waited{d, err, time.Since(begun)}
	}()
	synctest.Wait()
	return result
}

// wantNobodyWaits checks that nothing is left of those who waited.
func wantNobodyWaits(t *testing.T, r *Registry) {
	t.Helper()
	require.Zero(t, r.Waiting())
	require.Empty(t, r.waits.rooms)
}

func TestWait_readyAlready(t *testing.T) {
	r := New(Options{})
	want := hostReady(t, r, "k")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := r.Wait(ended, "k", 0) // what is there need not be awaited
	require.NoError(t, err)
	require.Equal(t, &want, got)
	wantNobodyWaits(t, r)
}

func TestWait_allGetTheSameDescriptorOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{})
		own, cancel := context.WithCancel(t.Context())
		defer cancel()
		waits := []<-chan waited{
			startWait(t.Context(), r, "k", 0),
			startWait(t.Context(), r, "k", time.Minute),
			startWait(context.Background(), r, "k", 0),
			startWait(own, r, "k", 0),
		}
		other := startWait(t.Context(), r, "other", time.Minute)
		require.Equal(t, 5, r.Waiting())

		hostAnnounced(t, r, "k") // not ready yet
		time.Sleep(time.Second)
		require.Equal(t, 5, r.Waiting())

		want := hostReady(t, r, "k")
		hostAnnounced(t, r, "k") // gone again before anybody ran
		for _, w := range waits {
			got := <-w
			require.NoError(t, got.err)
			require.Equal(t, &want, got.got)
			require.Equal(t, time.Second, got.after)
		}
		require.Equal(t, 1, r.Waiting(), "the other key's")
		hostReady(t, r, "other")
		require.NoError(t, (<-other).err)
		wantNobodyWaits(t, r)
	})
}

func TestWait_isForAnyOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{})
		hostAnnounced(t, r, "tool:x")
		waits := startWait(t.Context(), r, "tool:x", 0)
		serve(t, r, 7, plugin("p"), "tool:x", 0)
		got := <-waits
		require.NoError(t, got.err)
		require.Equal(t, &Descriptor{Key: "tool:x", State: ready, UpdatedAt: 7}, got.got)
	})
}

func TestWait_timesOut(t *testing.T) {
	tests := []struct {
		timeout, after time.Duration
		want           string
	}{
		{30 * time.Millisecond, 30 * time.Millisecond, "Capability `nope` is not ready after 30ms."},
		{0, DefaultWait, "Capability `nope` is not ready after 15000ms."},
		{-1, DefaultWait, "Capability `nope` is not ready after 15000ms."},
		{1500 * time.Microsecond, 2 * time.Millisecond, "Capability `nope` is not ready after 1ms."}, // never too early
		{1<<63 - 1, longest, "Capability `nope` is not ready after 31536000000ms."},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.timeout), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := New(Options{})
				got := <-startWait(t.Context(), r, "nope", tt.timeout)
				require.EqualError(t, got.err, tt.want)
				require.IsType(t, &TimeoutError{}, got.err)
				require.Equal(t, tt.after, got.after)
				wantNobodyWaits(t, r)
			})
		})
	}
}

func TestWait_eachHasItsOwnTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{})
		long := startWait(t.Context(), r, "k", 10*time.Millisecond)
		time.Sleep(4 * time.Millisecond)
		short := startWait(t.Context(), r, "k", 6*time.Millisecond) // ends at the same moment
		later := startWait(t.Context(), r, "k", 7*time.Millisecond)
		require.Equal(t, &TimeoutError{"k", 10 * time.Millisecond}, (<-long).err)
		require.Equal(t, &TimeoutError{"k", 6 * time.Millisecond}, (<-short).err)
		require.Equal(t, 1, r.Waiting())
		require.Equal(t, &TimeoutError{"k", 7 * time.Millisecond}, (<-later).err)
		wantNobodyWaits(t, r)
	})
}

func TestWait_endsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, why := New(Options{}), errors.New("the caller left")
		shared, cancelShared := context.WithCancelCause(t.Context())
		own, cancelOwn := context.WithCancelCause(t.Context())
		first := startWait(shared, r, "k", time.Minute)
		second := startWait(shared, r, "k", time.Minute)
		third := startWait(own, r, "k", time.Minute)
		fourth := startWait(context.Background(), r, "k", time.Minute)

		cancelOwn(why)
		require.EqualError(t, (<-third).err, "waiting for capability k: the caller left")
		require.Equal(t, 3, r.Waiting())
		cancelShared(why)
		require.ErrorIs(t, (<-first).err, why)
		require.ErrorIs(t, (<-second).err, why)
		require.Equal(t, 1, r.Waiting())

		_, err := r.Wait(shared, "k", time.Minute)
		require.ErrorIs(t, err, why, "an ended context does not wait at all")
		deadline, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = r.Wait(deadline, "k", time.Minute)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, &TimeoutError{"k", time.Minute}, (<-fourth).err)
		wantNobodyWaits(t, r)
	})
}

func TestWait_refusesABadKey(t *testing.T) {
	r := New(Options{})
	_, err := r.Wait(t.Context(), "tool:", 0)
	require.ErrorContains(t, err, "has no name")
	require.ErrorContains(t, r.WaitAll(t.Context(), []Key{"a", ""}, 0), "is empty")
	wantNobodyWaits(t, r)
}

func TestWait_limit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{MaxWaiters: 2})
		cancel, err := r.Watch(Requirements{anyOf("k")}, func(bool, []Key) {})
		require.NoError(t, err)
		first := startWait(t.Context(), r, "k", time.Second)
		full := &WaitLimitError{Waiting: "k", Limit: 2}
		_, err = r.Wait(t.Context(), "k", 0)
		require.Equal(t, full, err)
		_, err = r.Watch(Requirements{anyOf("k")}, func(bool, []Key) { t.Error("told nevertheless") })
		require.Equal(t, full, err)

		cancel()
		require.Equal(t, full, r.WaitAll(t.Context(), []Key{"l", "k"}, 0)) // one fits, two do not
		require.Equal(t, 1, r.Waiting(), "and the one has left again")
		require.Error(t, (<-first).err)
		wantNobodyWaits(t, r)
	})
}

func TestWaitAll_withoutKeys(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, New(Options{}).WaitAll(ended, nil, 0))
}

func TestWaitAll_onceReadyCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, result := New(Options{}), make(chan error, 1)
		hostReady(t, r, "there")
		go func() { result <- r.WaitAll(t.Context(), []Key{"a", "b", "there", "b"}, time.Second) }()
		synctest.Wait()
		require.Equal(t, 3, r.Waiting())
		hostReady(t, r, "b")
		hostAnnounced(t, r, "b")
		hostAnnounced(t, r, "there")
		time.Sleep(999 * time.Millisecond)
		hostReady(t, r, "a")
		require.NoError(t, <-result)
		wantNobodyWaits(t, r)
	})
}

func TestWaitAll_firstErrorEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Options{})
		hostReady(t, r, "a")
		begun := time.Now()
		err := r.WaitAll(t.Context(), []Key{"a", "m1", "m2"}, 25*time.Millisecond)
		require.EqualError(t, err, "Capability `m1` is not ready after 25ms.")
		require.Equal(t, 25*time.Millisecond, time.Since(begun))
		wantNobodyWaits(t, r)

		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		err = r.WaitAll(ctx, []Key{"m1", "m2"}, 25*time.Millisecond)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		synctest.Wait()
		wantNobodyWaits(t, r)

		stranger := startWait(context.Background(), r, "m1", time.Second) // m1's room is another's
		err = r.WaitAll(ctx, []Key{"m1"}, 25*time.Millisecond)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		mine, leave := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer leave()
		err = r.WaitAll(mine, []Key{"m1", "m2"}, 25*time.Millisecond)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 1, r.Waiting())
		require.Error(t, (<-stranger).err)
		wantNobodyWaits(t, r)
	})
}

func TestRegistry_closeEndsAllWaits(t *testing.T) {
	r := New(Options{})
	_, _, err := r.Ready(time.Now(), "there", nil)
	require.NoError(t, err)
	ended := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, ctx := range []context.Context{t.Context(), ctx} {
		go func() {
			_, err := r.Wait(ctx, "missing", time.Hour)
			ended <- err
		}()
	}
	go func() { ended <- r.WaitAll(t.Context(), []Key{"there", "missing", "other"}, time.Hour) }()
	for r.Waiting() < 4 {
		runtime.Gosched()
	}
	r.Close()
	r.Close()
	for range 3 {
		require.ErrorIs(t, <-ended, ErrClosed)
	}
	_, err = r.Wait(t.Context(), "missing", time.Hour)
	require.ErrorIs(t, err, ErrClosed)
	_, err = r.Wait(t.Context(), "there", time.Hour)
	require.NoError(t, err, "what is there need not be awaited")
	require.Zero(t, r.Waiting())
}
