package jobs

import (
	"sync/atomic"
	"testing"
	"time"
)

// setClock is a clock of the wall's that is as wrong as it is set.
type setClock struct{ wrong atomic.Int64 }

func (c *setClock) set(by time.Duration) { c.wrong.Store(int64(by)) }
func (c *setClock) now() time.Time       { return time.Now().Add(time.Duration(c.wrong.Load())) }

func TestScheduler_goesByAClockThatIsSet(t *testing.T) {
	for name, test := range map[string]struct {
		by   time.Duration
		want []string
	}{
		"years back":   {-3660 * 24 * time.Hour, []string{"11m0s p job:often" + byTimer, "21m0s p job:often" + byTimer}},
		"an hour back": {-time.Hour, []string{"11m0s p job:often" + byTimer, "21m0s p job:often" + byTimer}},
		"a little back: nothing that has run runs again": {-3 * time.Minute, []string{"14m0s p job:often" + byTimer, "24m0s p job:often" + byTimer}},
		"ahead: what was missed runs once": {time.Hour, []string{
			"2m0s p job:often" + byTimer, "11m0s p job:often" + byTimer, "21m0s p job:often" + byTimer,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var clock setClock
			inBubble(t, Options{Now: clock.now}, func(b *bench) {
				b.set("p", Job{"often", "1-59/10 * * * *"}) // at 1, 11, 21 minutes past the hour
				b.pass(time.Minute + time.Second)
				b.wantCalls("1m0s p job:often" + byTimer)
				clock.set(test.by)
				b.pass(24 * time.Minute)
				b.wantCalls(test.want...)
			})
		})
	}
}
