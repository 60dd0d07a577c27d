package actors

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNews_wakeOnceAndAreBounded(t *testing.T) {
	woken := 0
	n := &news{wake: func() { woken++ }}
	for range mostNews {
		n.add(Logged{})
	}
	for range 3 {
		n.add(Dropped{})
	}
	n.add(PhaseChanged{})
	require.Equal(t, 1, woken)

	list, lost := n.take(10)
	require.Len(t, list, 10)
	require.Zero(t, lost, "what was lost was behind those that wait still")
	require.False(t, n.leave())
	list, lost = n.take(mostNews)
	require.Len(t, list, mostNews-10)
	require.EqualValues(t, 3, lost.of(KindDropped|KindWire))
	require.EqualValues(t, 4, lost.of(KindsUsual))
	require.Zero(t, lost.of(KindLog))
	require.True(t, n.leave())
	n.add(Logged{})
	require.Equal(t, 2, woken)
}

// A router that cannot keep up loses events for those who want them.
func TestNews_whatIsLostIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		log, wire := h.Subscribe(KindLog, mostNews), h.Subscribe(KindWire, 0)
		h.news.mu.Lock()
		h.news.watched = true // as if it rested
		h.news.mu.Unlock()
		for range mostNews + 5 {
			h.publish(Logged{})
		}
		h.Subscribe(KindLog, 1).Close() // it has handed on all by then
		require.Len(t, log.C, mostNews)
		require.EqualValues(t, 5, log.Dropped())
		require.Zero(t, wire.Dropped())
		log.Close()
		wire.Close()
	})
}

func TestNews_allComeInOrderHoweverMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := startHost(t)
		sub, stuck := h.Subscribe(KindDropped, 0), h.Subscribe(KindDropped, 2)
		const many = 3000 // more than there are rounds in a while
		for i := range uint64(many) {
			h.publish(Dropped{Count: i})
			if i%100 == 0 {
				synctest.Wait()
			}
		}
		for i := range uint64(many) {
			require.Equal(t, i, (<-sub.C).(Dropped).Count)
		}
		require.EqualValues(t, many-2, stuck.Dropped())
		sub.Close()
		stuck.Close()
	})
}

func TestPace_restsAfterMuch(t *testing.T) {
	at := time.Now()
	var p pace
	rest := func(took time.Duration) time.Duration {
		d := p.rest(at, at.Add(took))
		at = at.Add(took)
		return d
	}
	require.Zero(t, rest(longRound))
	require.Equal(t, 400*time.Microsecond, rest(100*time.Microsecond))
	require.Equal(t, mostRest, rest(time.Second))
	at = at.Add(time.Second)
	for range mostRounds - 1 {
		require.Zero(t, rest(10*time.Microsecond))
	}
	require.Equal(t, roundsTime-mostRounds*10*time.Microsecond, rest(10*time.Microsecond))
	at = at.Add(roundsTime)
	require.Zero(t, rest(0))
}

// Each kind has a place of its own.
func TestPerKind_countsEveryKind(t *testing.T) {
	var all perKind
	var kinds Kind
	for kind := range kindNames {
		all.add(kind)
		kinds |= kind
		require.EqualValues(t, 1, all.of(kind), "%s", kind)
	}
	require.EqualValues(t, len(kindNames), all.of(kinds))
}
