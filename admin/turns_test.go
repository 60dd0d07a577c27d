package admin

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
)

func TestTurns_areShortWhereManyFollow(t *testing.T) {
	from := make(chan actors.Event, 100)
	for i := range 100 {
		from <- actors.Dropped{Count: uint64(i)}
	}
	list := drain([]actors.Event{actors.Logged{}}, from, 10)
	require.Len(t, list, 10)
	require.EqualValues(t, 8, list[9].(actors.Dropped).Count)
	require.Len(t, drain(nil, from, 1000), 91)
	close(from)
	require.Len(t, drain(list, from, 1000), 10)
}

func TestTurns_restLongerTheMoreAreWoken(t *testing.T) {
	for _, c := range []struct {
		took  time.Duration
		woken int
		want  time.Duration
	}{
		{shortWork, 0, 0},
		{shortWork, 1, 0},
		{shortWork, crowd, crowd * restFollower},
		{time.Millisecond, 1, 4 * time.Millisecond},
		{time.Second, 0, mostRest},
	} {
		require.Equal(t, c.want, restAfter(c.took, c.woken), fmt.Sprint(c))
	}
}

func TestTurns_wakeFewAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		feeds := make([]*feed, 3*crowd)
		began, given := time.Now(), 0
		spread(feeds, func(*feed) bool {
			require.Equal(t, time.Duration(given/crowd)*crowd*restFollower, time.Since(began))
			given++
			return true
		})
		require.Equal(t, 3*crowd, given)
	})
}

// However fast it comes, followers are told all or what they have missed.
func TestTurns_loseNothingUncounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tk := &talk{listeners: map[*feed]*listener{}}
		var feeds []*feed
		for range 100 {
			f := newFeed(Limits{FollowLines: 10, FollowBytes: 1 << 20})
			tk.listeners[f] = &listener{shown: map[actors.Logged]int{}}
			feeds = append(feeds, f)
		}
		var list []actors.Event
		for i := range 25 {
			list = append(list, actors.Logged{Text: fmt.Sprint(i)})
		}
		require.Equal(t, 100, tk.tell(list, 3))
		for _, f := range feeds {
			waiting, missed := f.depth()
			require.Equal(t, 10, waiting)
			require.EqualValues(t, 3+15, missed)
		}
	})
}
