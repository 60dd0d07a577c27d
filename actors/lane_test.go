package actors

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLane_letsThroughInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lane
		var order []int
		turns := []*turn{l.follow(), l.follow(), l.follow(), l.follow()}
		for _, n := range []int{3, 1, 2} {
			go func() {
				turns[n].await(t.Context(), time.Time{})
				order = append(order, n)
				turns[n].leave()
			}()
		}
		settle()
		require.Empty(t, order)
		turns[0].leave()
		turns[0].leave()
		settle()
		require.Equal(t, []int{1, 2, 3}, order)
		l.follow().await(t.Context(), time.Time{})
		var none *turn
		none.await(t.Context(), time.Time{})
		none.leave()
	})
}

func TestLane_whoGivesUpHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lane
		first, second, third := l.follow(), l.follow(), l.follow()
		began := time.Now()
		second.await(t.Context(), began.Add(time.Second))
		require.Equal(t, time.Second, time.Since(began))
		second.leave()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		third.await(ctx, time.Time{})
		require.Same(t, first, l.queue[0])
		first.leave()
		third.await(t.Context(), time.Time{})
		third.leave()
		require.Empty(t, l.queue)
	})
}

func TestLane_isBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lane
		most := Limits{Events: 2, EventBytes: 10}
		first, err := l.enter(100, most)
		require.NoError(t, err, "who comes alone finds room")
		began := time.Now()
		_, err = l.enter(1, most)
		require.EqualError(t, err, "100 bytes of events wait for it, the limit is 10 (eventBytes)")
		require.Equal(t, mostPatience, time.Since(began))
		_, err = l.enter(-90, most) // as if the first one were short
		require.NoError(t, err)
		_, err = l.enter(0, most)
		require.NoError(t, err)
		_, err = l.enter(0, most)
		require.EqualError(t, err, "2 events wait for it, the limit (events)")
		require.Equal(t, mostPatience, time.Since(began), "a slow one holds up its emitters once")
		first.leave()
		_, err = l.enter(0, most)
		require.NoError(t, err)
	})
}

func TestLane_roomIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lane
		most := Limits{Events: 1, EventBytes: 1}
		for range 1000 { // each leaves after a time for which patience is made good
			one, err := l.enter(0, most)
			require.NoError(t, err)
			time.AfterFunc(2*itemPatience, one.leave)
		}
	})
}
