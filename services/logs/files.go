package logs

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Files are the logs of all plugins of one host. Its methods may be called from any
// goroutine.
type Files struct {
	dir string
	o   Options
	// wake tells the writer that there is something; quit that there will be nothing.
	wake chan struct{}
	quit chan struct{}
	done chan struct{}
	// removals are for the writer, so that nothing is written meanwhile.
	removals chan removal

	mu     sync.Mutex
	pens   map[string]*pen
	closed bool
	stats  Stats
	// failing is how many pens cannot write.
	failing int
}

// pen is what waits to be written to the file of one plugin.
type pen struct {
	plugin string
	path   string
	lines  [][]byte
	bytes  int
	// dropped is what was dropped and is not told yet, lost all that was.
	dropped, lost uint64
	// err is why the last write failed; then no other is tried until retry, and pause is
	// how long that took from then.
	err   error
	retry time.Time
	pause time.Duration
}

// Stats count what Files have done.
type Stats struct {
	// Bytes is what all files have, more or less.
	Bytes int64
	// Waiting is how many records are to be written.
	Waiting int
	// Written and Dropped are how many were.
	Written, Dropped uint64
	// Failing is how many plugins' files cannot be written now.
	Failing int
}

// Info says how the log of one plugin stands.
type Info struct {
	// Path is its newest file.
	Path string
	// Dropped is how many records were dropped since the host began.
	Dropped uint64
	// Err is why it cannot be written now, or nil.
	Err error
}

// Open makes a directory's files those of a host. What is wrong with the directory is no
// error: it is told when something is to be written. Its Close must follow.
func Open(dir string, o Options) *Files {
	f := &Files{
		dir: dir, o: o.withDefaults(), pens: map[string]*pen{},
		wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
		removals: make(chan removal),
	}
	go f.run()
	return f
}

// Add has a record written. It does not wait for that; where too much waits already,
// the record is dropped and counted.
func (f *Files) Add(r Record) {
	line := r.encode()
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.penOf(r.Plugin)
	if f.closed || len(p.lines) >= f.o.Queue || len(p.lines) > 0 && p.bytes+len(line) > f.o.QueueBytes {
		f.drop(p, 1)
		return
	}
	p.lines = append(p.lines, line)
	p.bytes += len(line)
	f.stats.Waiting++
	f.tell()
}

// Lost counts records that were lost on their way here, of plugins that nobody knows.
func (f *Files) Lost(n uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stats.Dropped += n
}

func (f *Files) penOf(plugin string) *pen {
	p := f.pens[plugin]
	if p == nil {
		p = &pen{plugin: plugin, path: filepath.Join(f.dir, baseName(plugin)+ending)}
		f.pens[plugin] = p
	}
	return p
}

func (f *Files) drop(p *pen, n uint64) {
	p.dropped += n
	p.lost += n
	f.stats.Dropped += n
	f.tell()
}

func (f *Files) tell() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Stats tells what was done so far.
func (f *Files) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.stats
	s.Failing = f.failing
	return s
}

// Of tells about the log of one plugin.
func (f *Files) Of(plugin string) Info {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.pens[plugin]
	if p == nil {
		return Info{Path: filepath.Join(f.dir, baseName(plugin)+ending)}
	}
	return Info{Path: p.path, Dropped: p.lost, Err: p.err}
}

// Close writes what waits, once, and takes no more. When ctx ends first it returns, and
// what the disk has not taken by then is lost.
func (f *Files) Close(ctx context.Context) error {
	f.mu.Lock()
	if !f.closed {
		f.closed = true
		close(f.quit)
	}
	f.mu.Unlock()
	select {
	case <-f.done:
	case <-ctx.Done():
		return fmt.Errorf("the logs of plugins in %s are not all written: %w", f.dir, context.Cause(ctx))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.pens {
		if len(p.lines) > 0 {
			return fmt.Errorf("the logs of plugins in %s are not all written: %w", f.dir, p.err)
		}
	}
	return nil
}

// run writes what is added, until the end.
func (f *Files) run() {
	defer close(f.done)
	f.keepTotal(true)
	again := time.NewTimer(0)
	defer again.Stop()
	for {
		last := false
		select {
		case <-f.wake:
		case <-again.C:
		case m := <-f.removals:
			f.remove(m)
		case <-f.quit:
			last = true
		}
		now := time.Now()
		for _, p := range f.due(now, last) {
			f.write(p, now)
		}
		if last {
			return
		}
		if next := f.nextTry(); !next.IsZero() {
			again.Reset(time.Until(next))
		}
	}
}

// due are the pens that have something to write, by plugin; at last also those whose pause
// is not over.
func (f *Files) due(now time.Time, last bool) (all []*pen) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.pens {
		if (len(p.lines) > 0 || p.dropped > 0) && (last || !now.Before(p.retry)) {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b *pen) int { return a.retry.Compare(b.retry) })
	return all
}

// nextTry is when the first of those that fail is to be tried again.
func (f *Files) nextTry() (next time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.pens {
		if p.err != nil && (next.IsZero() || p.retry.Before(next)) {
			next = p.retry
		}
	}
	return next
}

// write writes all that waits for one file. While it does, more may be added; nothing is
// taken off before it is written.
func (f *Files) write(p *pen, now time.Time) {
	f.mu.Lock()
	lines, dropped := p.lines, p.dropped
	f.mu.Unlock()
	said := len(lines)
	if dropped > 0 {
		lines = append(slices.Clip(lines), Record{
			Time: now, Level: slog.LevelWarn, Plugin: p.plugin, Stream: "host",
			Message: fmt.Sprintf("%d records were dropped: too many came at once, or the file could not be written", dropped),
		}.encode())
	}
	n, size, err := f.append(p.path, lines)
	if n <= said {
		dropped = 0 // the line about it was not written
	}
	f.wrote(p, min(n, said), size, dropped, err)
	if err == nil {
		f.keepTotal(false)
	}
}

// wrote notes that the first n lines were written, and that so many were dropped.
func (f *Files) wrote(p *pen, n int, size int64, dropped uint64, err error) {
	f.mu.Lock()
	f.stats.Bytes += size
	p.dropped -= dropped
	for _, line := range p.lines[:n] {
		p.bytes -= len(line)
	}
	p.lines = slices.Clone(p.lines[n:]) // so that what was written is let go of
	f.stats.Waiting -= n
	f.stats.Written += uint64(n)
	before, was := f.failing, p.err
	f.settle(p, err)
	after, pause := f.failing, p.pause
	f.mu.Unlock()
	switch {
	case before == 0 && after > 0:
		f.o.Log.Warn("the logs of plugins cannot be written; what comes waits, and is dropped in the end",
			"plugin", p.plugin, "file", p.path, "error", err, "retry", pause.String())
	case before > 0 && after == 0:
		f.o.Log.Info("the logs of plugins are written again", "plugin", p.plugin, "file", p.path, "was", was)
	}
}

// settle notes how a write went. The lock is held.
func (f *Files) settle(p *pen, err error) {
	switch {
	case err == nil && p.err != nil:
		f.failing--
	case err != nil && p.err == nil:
		f.failing++
	}
	p.err = err
	if err == nil {
		p.pause, p.retry = 0, time.Time{}
		return
	}
	p.pause = min(max(2*p.pause, f.o.Retry), f.o.MaxRetry)
	p.retry = time.Now().Add(p.pause)
}
