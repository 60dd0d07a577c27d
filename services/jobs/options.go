package jobs

import (
	"log/slog"
	"time"
)

// Options bound a scheduler. The zero value works: each zero means the default that
// stands there.
type Options struct {
	// SkipMissed leaves out what was missed while the host or the plugin was down. What
	// is less than a minute late is not missed.
	SkipMissed bool
	// Limit is how long one run may take; 0 means 5 minutes, as in Paperclip.
	Limit time.Duration
	// AtOnce is how many jobs run at a time, of all plugins; 0 means 10, as in
	// Paperclip. What is due then waits, one run of each job.
	AtOnce int
	// PerPlugin is how many of these may be of one plugin, so that one whose runs do not end
	// keeps no other's from beginning; 0 means half of AtOnce, rounded up.
	PerPlugin int
	// Jobs is how many jobs are followed, of all plugins; 0 means 10,000.
	Jobs int
	// Drain is how long runs may go on once the scheduler stops; 0 means 10 s.
	Drain time.Duration
	// Deaf tells of a plugin that is not told when its caller gives up, since its wire has
	// no word for that: a run of it that nobody waits for any more goes on until it answers,
	// or Limit ends. Nil says that there is none.
	Deaf func(plugin string) bool
	// Log tells what went wrong; nil is silence.
	Log *slog.Logger
	// Now tells the time of the wall's clock; nil is time.Now.
	Now func() time.Time
}

const (
	// lateness is how late a run may be that was not missed.
	lateness = time.Minute
	// glance is how often the clock is looked at, at least: it may have been set, or
	// have gone on while the machine slept.
	glance = time.Minute
	// setBack is by how much the clock has to be set back for schedules to be followed anew
	// from there. Less is waited for, so that nothing runs a second time.
	setBack = 5 * time.Minute
	// recording is how long the store may take for one run.
	recording = 10 * time.Second
)

func (o Options) withDefaults() Options {
	setDefault(&o.Limit, 5*time.Minute)
	setDefault(&o.AtOnce, 10)
	setDefault(&o.PerPlugin, (o.AtOnce+1)/2)
	setDefault(&o.Jobs, 10_000)
	setDefault(&o.Drain, 10*time.Second)
	if o.Deaf == nil {
		o.Deaf = func(string) bool { return false }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func setDefault[N int | time.Duration](limit *N, otherwise N) {
	if *limit <= 0 {
		*limit = otherwise
	}
}

// Stats count what a scheduler has done.
type Stats struct {
	// Jobs are followed, Running have not ended, Waiting are due.
	Jobs, Running, Waiting int
	// Runs have ended, Failed of them in failure. CaughtUp were run late, once for all
	// that was missed.
	Runs, Failed, CaughtUp uint64
	// Skipped were due while the one before had not ended; Missed were left out since
	// they were late. Unrecorded is what the store did not take.
	Skipped, Missed, Unrecorded uint64
}
