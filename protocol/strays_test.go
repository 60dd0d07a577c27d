package protocol

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStrays_showTheBeginningOfAFlood(t *testing.T) {
	var s Strays
	now := time.Unix(0, 0)
	shown := func(lines int) (n int) {
		for range lines {
			if s.Show(now) {
				n++
			}
		}
		return n
	}
	require.Equal(t, StrayBurst, shown(10_000))
	now = now.Add(StrayPause - 1)
	require.Zero(t, shown(1))
	now = now.Add(1)
	require.Equal(t, 1, shown(2))
	now = now.Add(time.Hour)
	require.Equal(t, StrayBurst, shown(10), "a pause is not saved up beyond the burst")
}

func TestStrays_countWhatTheyDoNotShow(t *testing.T) {
	var s Strays
	var out []Effect
	for range 100 {
		out = s.Take(time.Unix(0, 0), "a\nb", out)
	}
	require.Len(t, out, 100+StrayBurst)
	require.Equal(t, Logged{Level: slog.LevelInfo, Message: "a\nb"}, out[0])
	require.Equal(t, Drop(DroppedStray, "a\nb"), out[1])
}
