package watch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return noon.Add(d) }

func newPace() *pace { return &pace{Options: Options{PerMinute: 3}.withDefaults()} }

func TestPace_waitsUntilNothingChanges(t *testing.T) {
	p := newPace()
	require.Zero(t, p.due())
	p.change(at(0))
	require.Equal(t, at(300*time.Millisecond), p.due())
	p.change(at(200 * time.Millisecond))
	require.Equal(t, at(500*time.Millisecond), p.due())
	p.change(at(1900 * time.Millisecond))
	require.Equal(t, at(2*time.Second), p.due(), "at most so long after the first")
	p.begin(at(2 * time.Second))
	require.Zero(t, p.due())
	p.change(at(3 * time.Second))
	require.Zero(t, p.due(), "while it is told")
	p.end()
	require.Equal(t, at(3300*time.Millisecond), p.due())
}

func TestPace_isSlowedDown(t *testing.T) {
	p := newPace()
	tell := func(d time.Duration) {
		t.Helper()
		require.False(t, p.change(at(d)))
		p.begin(p.due())
		p.end()
	}
	tell(0)
	tell(10 * time.Second)
	tell(70 * time.Second) // the first is no longer of this minute
	tell(71 * time.Second)
	require.False(t, p.change(at(71500*time.Millisecond)), "two of this minute")
	p.begin(p.due())
	p.end()
	require.True(t, p.change(at(72*time.Second)))
	last := at(71800 * time.Millisecond)
	require.Equal(t, last.Add(time.Minute), p.due())
	require.False(t, p.change(at(80*time.Second)), "it is said once")

	p.begin(p.due())
	p.end()
	require.False(t, p.change(at(132*time.Second)), "who causes it is told once a minute")
	require.Equal(t, last.Add(2*time.Minute), p.due())
	p.begin(p.due())
	p.end()

	p.change(at(252 * time.Second)) // two minutes later
	require.Equal(t, at(252300*time.Millisecond), p.due(), "it is no longer slow")
}

func TestOptions_defaults(t *testing.T) {
	o := Options{Debounce: 5 * time.Second, Directories: -1}.withDefaults()
	require.Equal(t, 5*time.Second, o.MaxWait, "at least the debounce")
	require.Equal(t, 4096, o.Directories)
	require.Equal(t, 10, o.PerMinute)
}
