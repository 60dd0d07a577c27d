package actors

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPool_oneThatIsHeldUpHoldsUpNobody(*testing.T) {
	p := newPool(2, 2)
	defer p.close()
	gate := make(chan struct{})
	var held, others sync.WaitGroup
	for range 100 {
		held.Add(1)
		p.Schedule(func() { defer held.Done(); <-gate })
	}
	for range 100 {
		others.Add(1)
		p.Schedule(others.Done)
	}
	others.Wait()
	close(gate)
	held.Wait()
}

func TestPool_keepsAFewGoroutinesAndLetsThemGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(2, 2)
		var all sync.WaitGroup
		for range 100 {
			all.Add(1)
			p.Schedule(all.Done)
		}
		all.Wait()
		synctest.Wait()
		require.LessOrEqual(t, p.parked.Load(), p.most)
		require.Positive(t, p.parked.Load())
		p.close()
		synctest.Wait()
		require.Zero(t, p.parked.Load())

		done := make(chan struct{})
		p.Schedule(func() { close(done) })
		<-done // it still runs
	})
}

func TestPool_letsThoseGoWhomABurstNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(8, 3)
		defer p.close()
		burst := func(size int) {
			gate := make(chan struct{})
			var all sync.WaitGroup
			for range size {
				all.Add(1)
				p.Schedule(func() { defer all.Done(); <-gate })
			}
			close(gate)
			all.Wait()
			synctest.Wait()
		}
		for range 2 {
			burst(20)
			require.EqualValues(t, 8, p.parked.Load())
			time.Sleep(shedTime - 1)
			require.EqualValues(t, 8, p.parked.Load())
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			require.EqualValues(t, 3, p.parked.Load())
		}
		burst(3)
		time.Sleep(time.Hour)
		require.EqualValues(t, 3, p.parked.Load(), "they go on waiting")
	})
}
