package actors

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRestartPolicy_pausesDoubleUpToTheLongest(t *testing.T) {
	steady := RestartPolicy{Jitter: -1}.withDefaults()
	var pauses []time.Duration
	for nth := 1; nth <= 11; nth++ {
		pauses = append(pauses, steady.pause(nth)/time.Second)
	}
	require.Equal(t, []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300}, pauses)
	require.Equal(t, 5*time.Minute, steady.pause(math.MaxInt))
	require.Equal(t, 10*time.Second, RestartPolicy{First: time.Minute, Max: 10 * time.Second, Jitter: -1}.withDefaults().pause(1))
	require.Equal(t, time.Duration(math.MaxInt64), RestartPolicy{Max: math.MaxInt64, Jitter: -1}.withDefaults().pause(1000))
}

func TestRestartPolicy_jitterIsAQuarterEachWayAndNotAboveTheLongest(t *testing.T) {
	for name, test := range map[string]struct {
		jitter, random float64
		nth            int
		want           time.Duration
	}{
		"least":                     {0, 0, 1, 750 * time.Millisecond},
		"middle":                    {0, 0.5, 1, time.Second},
		"most":                      {0, 1, 3, 5 * time.Second},
		"most of the longest":       {0, 1, 10, 5 * time.Minute},
		"least of the longest":      {0, 0, 10, 225 * time.Second},
		"half":                      {0.5, 0, 1, 500 * time.Millisecond},
		"none":                      {-1, 0, 1, time.Second},
		"more than all is all":      {7, 0, 1, 0},
		"more than all is all, too": {7, 1, 1, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			p := RestartPolicy{Jitter: test.jitter, Random: func() float64 { return test.random }}.withDefaults()
			require.Equal(t, test.want, p.pause(test.nth))
		})
	}
}

func TestRestartPolicy_isRandomByItself(t *testing.T) {
	p := RestartPolicy{}.withDefaults()
	seen := map[time.Duration]bool{}
	for range 100 {
		pause := p.pause(1)
		require.InDelta(t, time.Second, pause, float64(250*time.Millisecond))
		seen[pause] = true
	}
	require.Greater(t, len(seen), 1)
}
