package paperclip

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestStrays_showTheBeginningOfAFlood(t *testing.T) {
	var s strays
	now := time.Unix(0, 0)
	shown := func(lines int) (n int) {
		for range lines {
			if s.show(now) {
				n++
			}
		}
		return n
	}
	require.Equal(t, strayBurst, shown(10_000))
	now = now.Add(strayPause - 1)
	require.Zero(t, shown(1))
	now = now.Add(1)
	require.Equal(t, 1, shown(2))
	now = now.Add(time.Hour)
	require.Equal(t, strayBurst, shown(10), "a pause is not saved up beyond the burst")
}

func TestDriver_countsTheStrayLinesThatItDoesNotShow(t *testing.T) {
	d := newDriver(Dialect{}, protocol.Settings{Plugin: "p"})
	var logged, counted int
	for range 10_000 {
		for _, e := range d.Step(time.Unix(0, 0), protocol.Received{Message: Unreadable{Text: "x"}}, nil) {
			switch e.(type) {
			case protocol.Logged:
				logged++
			case protocol.Dropped:
				counted++
			}
		}
	}
	require.Equal(t, strayBurst, logged)
	require.Equal(t, 10_000, counted)
}
