package watch

import (
	"cmp"
	"log/slog"
	"time"
)

// Options bound a watcher. The zero value works: each zero means the default that
// stands there.
type Options struct {
	// Debounce is how long nothing must have changed before a change is told: 300 ms.
	Debounce time.Duration
	// MaxWait is how long after the first change it is told in any case: 2 s.
	MaxWait time.Duration
	// Directories is how many of them are looked at, of all folders: 4096.
	Directories int
	// PerMinute is how often a minute a folder's changes are told: 10.
	PerMinute int
	// Ignore are patterns of names, as for filepath.Match, of files and directories that
	// are not looked at beside those that never are.
	Ignore []string
	// Log is told what is not looked at, and what is told no more; nil is silence.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	o.Debounce = cmp.Or(max(o.Debounce, 0), 300*time.Millisecond)
	o.MaxWait = max(cmp.Or(max(o.MaxWait, 0), 2*time.Second), o.Debounce)
	o.Directories = cmp.Or(max(o.Directories, 0), 4096)
	o.PerMinute = cmp.Or(max(o.PerMinute, 0), 10)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}
