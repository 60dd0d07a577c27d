package actors

import (
	"math/rand/v2"
	"time"
)

// RestartPolicy says what follows a crash: an exit or a lost peer that nobody
// asked for, also while the plugin starts. The zero value is the default. What is
// no crash is not followed by a restart: a start that was answered with an error
// or missed its deadline, a stop, and whatever ends while the host shuts down.
//
// Crashes are counted in a row. Only a session that stayed ready for Stable is
// forgiven what was before it, and so is a plugin that is started by hand.
type RestartPolicy struct {
	// First is the pause before the first restart: 1 s. Each further crash in a
	// row doubles it.
	First time.Duration
	// Max is the longest pause, whatever the jitter: 5 min.
	Max time.Duration
	// Jitter is by which share of itself a pause is shorter or longer, at random,
	// so that what crashed together does not come back together: 0 means 0.25,
	// less means none, and more than 1 is 1.
	Jitter float64
	// Stable is how long a session has to be ready to be forgiven: 60 s. The time
	// in which it is degraded for want of somebody else counts as well.
	Stable time.Duration
	// MaxInARow is how many crashes in a row are followed by a restart: 10. At
	// the next one the plugin is given up, until it is started by hand.
	MaxInARow int
	// Disabled gives a plugin up at its first crash.
	Disabled bool
	// Random gives numbers from 0 up to 1 for the jitter, from several goroutines
	// at a time; nil means those of math/rand/v2.
	Random func() float64
}

const (
	defaultFirstPause = time.Second
	defaultMaxPause   = 5 * time.Minute
	defaultJitter     = 0.25
	defaultStable     = time.Minute
	defaultMaxInARow  = 10
)

func (p RestartPolicy) withDefaults() RestartPolicy {
	p.First = orDefault(p.First, defaultFirstPause)
	p.Max = orDefault(p.Max, defaultMaxPause)
	p.Stable = orDefault(p.Stable, defaultStable)
	p.MaxInARow = orDefault(p.MaxInARow, defaultMaxInARow)
	switch {
	case p.Jitter == 0:
		p.Jitter = defaultJitter
	case p.Jitter < 0:
		p.Jitter = 0
	}
	p.Jitter = min(p.Jitter, 1)
	if p.Random == nil {
		p.Random = rand.Float64
	}
	return p
}

// pause is how long the nth crash in a row keeps a plugin down.
func (p RestartPolicy) pause(nth int) time.Duration {
	pause := min(p.First, p.Max)
	for range nth - 1 {
		if pause >= p.Max/2 {
			pause = p.Max
			break
		}
		pause *= 2
	}
	swing := float64(pause) * p.Jitter * (2*p.Random() - 1)
	return min(pause+time.Duration(swing), p.Max)
}
