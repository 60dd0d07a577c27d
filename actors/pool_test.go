package actors

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestPool_oneThatIsHeldUpHoldsUpNobody(*testing.T) {
	p := newPool(2)
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
		p := newPool(2)
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
