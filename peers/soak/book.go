package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/airi-host/airi-host/actors"
)

// The bounds of what a book keeps, beside its counters.
const (
	keptEvents = 150
	keptFaults = 10
	// eventText is how much is kept of one event, in bytes.
	eventText = 300
)

// book keeps what happens: counts of it, its end, and what must not happen. Any
// number of goroutines may write into it.
type book struct {
	began time.Time
	// wrong is closed at the first fault.
	wrong chan struct{}

	mu     sync.Mutex
	counts map[string]map[string]int // by heading, then by what
	drops  map[string]drop           // by plugin and what
	slow   map[string]time.Duration  // the slowest, by heading
	events []string                  // a ring
	next   int
	faults []error
	more   int    // faults that are not kept
	stacks string // of all goroutines when something hung first
}

// drop is a count that begins anew with each session of a plugin.
type drop struct {
	session   string
	now, past uint64
}

func newBook() *book {
	return &book{
		began: time.Now(), wrong: make(chan struct{}),
		counts: map[string]map[string]int{}, drops: map[string]drop{}, slow: map[string]time.Duration{},
	}
}

// count counts one more of something.
func (b *book) count(heading, what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.counts[heading] == nil {
		b.counts[heading] = map[string]int{}
	}
	b.counts[heading][what]++
}

// took notes how long something took, for the slowest of its kind.
func (b *book) took(heading string, d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.slow[heading] = max(b.slow[heading], d)
}

// note keeps an event for those who look for the cause of a fault.
func (b *book) note(format string, args ...any) {
	text := fmt.Sprintf("%9.3f ", time.Since(b.began).Seconds()) + fmt.Sprintf(format, args...)
	if len(text) > eventText {
		text = strings.ToValidUTF8(text[:eventText], "") + "…"
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.events) < keptEvents {
		b.events = append(b.events, text)
		return
	}
	b.events[b.next] = text
	b.next = (b.next + 1) % keptEvents
}

// fault notes what must not happen, and ends the run with it.
func (b *book) fault(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	b.note("FAULT %s", err)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.faults) == 0 {
		close(b.wrong)
	}
	if len(b.faults) == keptFaults {
		b.more++
		return
	}
	b.faults = append(b.faults, err)
}

// hangs is fault for what has not ended: where all goroutines are is kept with the
// first one.
func (b *book) hangs(format string, args ...any) {
	where := stacks()
	b.mu.Lock()
	if b.stacks == "" {
		b.stacks = where
	}
	b.mu.Unlock()
	b.fault(format, args...)
}

func stacks() string {
	var all strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&all, 1) // a builder takes everything
	return all.String()
}

// verdict is all that is wrong, or nil.
func (b *book) verdict() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := slices.Clone(b.faults)
	if b.more > 0 {
		all = append(all, fmt.Errorf("and %d more", b.more))
	}
	return errors.Join(all...)
}

// last is the kept events, the oldest first.
func (b *book) last() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Concat(b.events[b.next:], b.events[:b.next])
}

// listed is a heading's counts in words, the most first.
func (b *book) listed(heading string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return list(b.counts[heading])
}

func (b *book) total(heading string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, c := range b.counts[heading] {
		n += c
	}
	return n
}

func (b *book) of(heading, what string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counts[heading][what]
}

func (b *book) slowest(heading string) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.slow[heading].Round(time.Millisecond)
}

func list[N int | uint64](counts map[string]N) string {
	names := slices.SortedFunc(maps.Keys(counts), func(x, y string) int {
		if counts[x] != counts[y] {
			return map[bool]int{true: -1, false: 1}[counts[x] > counts[y]]
		}
		return strings.Compare(x, y)
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, counts[name])
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// dropped is what the host did not use. It tells of a count at its powers of ten, so
// that these are the least.
func (b *book) dropped() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	sums := map[string]uint64{}
	for key, d := range b.drops {
		_, what, _ := strings.Cut(key, " ")
		sums[what] += d.past + d.now
	}
	return list(sums)
}

// follow reads the host's events until they end.
func (b *book) follow(sub *actors.Subscription) {
	for e := range sub.C {
		b.hear(e)
	}
	if n := sub.Dropped(); n > 0 {
		b.count("events", "lost")
		b.note("%d events of the host came too fast to be noted", n)
	}
}

func (b *book) hear(e actors.Event) {
	switch e := e.(type) {
	case actors.Logged:
		b.count("lines", e.Stream)
		return // what plugins say is no clue
	case actors.CapabilityChanged:
		return
	case actors.Dropped:
		b.addDrop(e)
	case actors.PhaseChanged:
		b.count("phases", string(e.To))
	case actors.Restart:
		b.count("workers", "crashes")
		if e.GivenUp {
			b.fault("plugin %s was given up after %d crashes in a row: %s", e.Plugin, e.InARow, e.Reason)
		}
	}
	text, err := actors.EncodeEvent(e)
	if err != nil {
		b.fault("an event of the host has no JSON: %w", err)
	}
	b.note("%s", text)
}

func (b *book) addDrop(e actors.Dropped) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := e.Plugin + " " + e.What
	d := b.drops[key]
	if d.session != e.Session {
		d.past, d.session, d.now = d.past+d.now, e.Session, 0
	}
	d.now = max(d.now, e.Count)
	b.drops[key] = d
}

// errorLog is a log for the host, in which nothing may stand that is a warning or
// worse.
type errorLog struct {
	book  *book
	attrs string
}

var _ slog.Handler = errorLog{}

// Enabled leaves out what is no warning.
func (errorLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle makes a fault of the record.
func (l errorLog) Handle(_ context.Context, r slog.Record) error {
	text := r.Message + l.attrs
	r.Attrs(func(a slog.Attr) bool {
		text += " " + a.String()
		return true
	})
	l.book.fault("the host logged: %s", text)
	return nil
}

// WithAttrs keeps the attributes for the fault's text.
func (l errorLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		l.attrs += " " + a.String()
	}
	return l
}

// WithGroup does not tell groups apart.
func (l errorLog) WithGroup(string) slog.Handler { return l }
