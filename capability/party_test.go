package capability

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// lateContext does something just before it is asked whether it has ended: that is
// after Wait has seen that its key is not ready, and before it is registered.
type lateContext struct {
	context.Context
	do func()
}

func (c lateContext) Err() error {
	c.do()
	return c.Context.Err()
}

func TestWait_readyBetweenTheLooks(t *testing.T) {
	r := New(Options{})
	var want Descriptor
	ctx := lateContext{t.Context(), func() { want = hostReady(t, r, "k") }}
	got, err := r.Wait(ctx, "k", time.Minute)
	require.NoError(t, err)
	require.Equal(t, &want, got)
	require.NotEmpty(t, want.Key)
	wantNobodyWaits(t, r)
}

// Waiters come and go while keys flip: none may sleep on once its key is ready, and
// nothing may be left behind. A lost wake-up would end in a timeout.
func TestWait_losesNoWakeUp(t *testing.T) {
	const keys, waiters, rounds = 4, 8, 150
	r := New(Options{})
	key := func(n int) Key { return Key(fmt.Sprint("k", n%keys)) }
	var running atomic.Int64
	var all sync.WaitGroup
	for n := range waiters {
		running.Add(1)
		all.Go(func() {
			defer running.Add(-1)
			for i := range rounds {
				waitSomehow(t, r, key(n+i), i)
			}
		})
	}
	for i := 0; running.Load() > 0; i++ { // the writer, until nobody waits any more
		hostReady(t, r, key(i))
		runtime.Gosched()
		hostAnnounced(t, r, key(i))
	}
	all.Wait()
	wantNobodyWaits(t, r)
}

// waitSomehow waits for one key in one of several ways, or gives up at any moment.
func waitSomehow(t *testing.T, r *Registry, key Key, i int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var err error
	switch i % 4 {
	case 0:
		_, err = r.Wait(t.Context(), key, time.Minute)
	case 1:
		_, err = r.Wait(ctx, key, time.Minute)
	case 2:
		err = r.WaitAll(t.Context(), []Key{key, "k0"}, time.Minute)
	default:
		go cancel()
		if _, err = r.Wait(ctx, key, time.Minute); errors.Is(err, context.Canceled) {
			err = nil
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// Every one of many gives up, for any of the reasons, or is woken: in the end there
// is nobody.
func TestWait_leavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, random := New(Options{}), rand.New(rand.NewPCG(11, 12))
		shared, cancel := context.WithTimeout(t.Context(), 40*time.Millisecond)
		defer cancel()
		var all sync.WaitGroup
		for range 500 {
			key := Key(fmt.Sprint("k", random.IntN(5)))
			timeout := time.Duration(random.IntN(100)) * time.Millisecond
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(100))*time.Millisecond)
			defer cancel()
			if random.IntN(2) == 0 {
				ctx = shared
			}
			all.Go(func() { _, _ = r.Wait(ctx, key, timeout) })
			all.Go(func() { _ = r.WaitAll(ctx, []Key{key, "k4", "never"}, timeout) })
			time.Sleep(time.Duration(random.IntN(200)) * time.Microsecond)
		}
		hostReady(t, r, "k1")
		hostReady(t, r, "k4")
		all.Wait()
		synctest.Wait()
		wantNobodyWaits(t, r)
	})
}
