package services

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWindow_holdsWithinAnySpan(t *testing.T) {
	w, start := newWindow(2, time.Minute), time.Unix(1000, 0)
	key := windowKey{"p", "c"}
	for _, step := range []struct {
		after, wait time.Duration
	}{
		{0, 0},
		{50 * time.Second, 0},
		{55 * time.Second, 5 * time.Second},
		{60 * time.Second, 0}, // the first is a minute old
		{70 * time.Second, 40 * time.Second},
		{200 * time.Second, 0},
		{200 * time.Second, 0},
		{200 * time.Second, time.Minute},
	} {
		wait, ok := w.allow(key, start.Add(step.after))
		require.Equal(t, step.wait, wait, step.after)
		require.Equal(t, step.wait == 0, ok, step.after)
	}
	_, ok := w.allow(windowKey{"p", "other"}, start.Add(200*time.Second))
	require.True(t, ok, "every key has its own")
}

func TestWindow_countsABoundedNumberOfKeys(t *testing.T) {
	w, now := newWindow(1, time.Minute), time.Unix(1000, 0)
	for i := range maxWindows {
		_, ok := w.allow(windowKey{"p", strconv.Itoa(i)}, now)
		require.True(t, ok)
	}
	wait, ok := w.allow(windowKey{"p", "more"}, now)
	require.False(t, ok)
	require.Equal(t, time.Minute, wait)
	_, ok = w.allow(windowKey{"p", "more"}, now.Add(time.Minute))
	require.True(t, ok)
	require.Len(t, w.seen, 1, "those that did nothing for a minute are forgotten")
}
