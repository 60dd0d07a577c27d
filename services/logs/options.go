package logs

import (
	"log/slog"
	"time"
)

// The defaults of Options.
const (
	DefaultMaxBytes = 8 << 20
	DefaultFiles    = 4
	DefaultTotal    = 256 << 20
)

// Options bound the files. The zero value works: each zero means the default that
// stands there.
type Options struct {
	// MaxBytes is how long a file may be, in bytes; 0 means 8 MiB. Only a record that is
	// longer itself makes it longer.
	MaxBytes int64
	// Files is how many there may be of one plugin; 0 means 4.
	Files int
	// Total is how many bytes the files of all plugins may have together; 0 means 256
	// MiB. The oldest ones go first.
	Total int64
	// Queue is how many records of one plugin may wait to be written, QueueBytes how
	// many bytes they may have; 0 means 4096 and 1 MiB. The next one is dropped.
	Queue, QueueBytes int
	// Retry is the pause after a write that failed, doubled by each further one, MaxRetry
	// the longest; 0 means 1 s and 1 min.
	Retry, MaxRetry time.Duration
	// Log is told when the files cannot be written, and when they can again; nil is
	// silence.
	Log *slog.Logger

	disk disk // nil for the real one
}

func (o Options) withDefaults() Options {
	setDefault(&o.MaxBytes, DefaultMaxBytes)
	setDefault(&o.Files, DefaultFiles)
	setDefault(&o.Total, DefaultTotal)
	setDefault(&o.Queue, 4096)
	setDefault(&o.QueueBytes, 1<<20)
	setDefault(&o.Retry, time.Second)
	setDefault(&o.MaxRetry, time.Minute)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.disk == nil {
		o.disk = realDisk{}
	}
	return o
}

func setDefault[N int | int64 | time.Duration](limit *N, otherwise N) {
	if *limit <= 0 {
		*limit = otherwise
	}
}
