package process

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// The limits of log text.
const (
	// LogLineBytes is where a line is cut.
	LogLineBytes = 8 << 10
	// LogQueue is how many lines wait at most for Spec.Log.
	LogQueue = 256
	// LogBurst is how many lines pass at once. The lines of a trace pass as one.
	LogBurst = 200
	// LogPerSecond is how many lines pass in the long run.
	LogPerSecond = 50
	// TailLines is how many last lines are kept for failure texts.
	TailLines = 20
)

// summaryEvery is how often dropped lines are reported at most.
const summaryEvery = time.Second

// Stream names where a log line came from.
type Stream string

// The streams. Host is the stream of lines that this package writes itself.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
	Host   Stream = "host"
)

// LogLine is one line of log text of a worker, or several that are one thing.
type LogLine struct {
	// Stream is where it came from.
	Stream Stream
	// Text is the line without its end, always valid UTF-8. A line above
	// LogLineBytes is cut and ends with " …(N bytes cut)". Escape sequences are
	// left as they are. The lines of a stack trace, and lines that are indented below
	// another one, are one text with line feeds in it, within Spec.Traces.
	Text string
	// Dropped, if not zero, makes this a summary: so many lines were dropped
	// since the last one, because the worker wrote more than LogBurst and
	// LogPerSecond allow, or Spec.Log was too slow. One comes per second at most.
	Dropped int
}

// splitter cuts a stream into lines of bounded length.
type splitter struct {
	emit func(text string)
	line []byte // at most LogLineBytes
	cut  int    // bytes of the line that were not kept
}

// write takes the next piece of the stream.
func (s *splitter) write(p []byte) {
	for len(p) > 0 {
		piece, rest, ended := bytes.Cut(p, []byte{'\n'})
		s.add(piece)
		if ended {
			s.flush()
		}
		p = rest
	}
}

func (s *splitter) add(piece []byte) {
	kept := min(len(piece), LogLineBytes-len(s.line))
	s.line = append(s.line, piece[:kept]...)
	s.cut += len(piece) - kept
}

// end emits a last line that has no end.
func (s *splitter) end() {
	if len(s.line) > 0 {
		s.flush()
	}
}

func (s *splitter) flush() {
	if s.cut == 0 {
		s.emit(strings.ToValidUTF8(string(bytes.TrimSuffix(s.line, []byte{'\r'})), "\uFFFD"))
	} else {
		whole := wholeRunes(s.line)
		s.cut += len(s.line) - len(whole)
		s.emit(fmt.Sprintf("%s …(%d bytes cut)", strings.ToValidUTF8(string(whole), "\uFFFD"), s.cut))
	}
	s.line, s.cut = s.line[:0], 0
}

// wholeRunes takes off the beginning of a rune that a cut has split.
func wholeRunes(line []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(line); n++ {
		tail := line[len(line)-n:]
		if utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return line[:len(line)-n]
			}
			break
		}
	}
	return line
}

// allowance is a token bucket: LogBurst lines at once, LogPerSecond refilled.
type allowance struct {
	tokens float64
	at     time.Time
}

// take tells whether one more line may pass at now.
func (a *allowance) take(now time.Time) bool {
	if a.at.IsZero() {
		a.tokens = LogBurst
	} else if passed := now.Sub(a.at); passed > 0 {
		a.tokens = min(LogBurst, a.tokens+passed.Seconds()*LogPerSecond)
	}
	a.at = now
	if a.tokens < 1 {
		return false
	}
	a.tokens--
	return true
}

// logbook takes the lines of all streams of one worker, thins them out, and hands
// them to the owner from a goroutine that lives only while there are some.
type logbook struct {
	owner  func(LogLine) // may be nil
	traces Traces

	mu         sync.Mutex
	tail       []string
	held       map[Stream]*trace
	queue      []LogLine
	delivering bool
	allowance  allowance
	summary    *time.Timer // armed while dropped lines are not reported
	dropped    int         // not reported yet
	ended      bool
	told       chan struct{} // closed when the owner has got the last line

	lines, lost uint64
}

func newLogbook(owner func(LogLine), traces Traces) *logbook {
	return &logbook{owner: owner, traces: traces.withDefaults(), told: make(chan struct{}), held: map[Stream]*trace{}}
}

// add takes one line. It never blocks.
func (b *logbook) add(stream Stream, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines++
	if len(b.tail) == TailLines {
		b.tail = slices.Delete(b.tail, 0, 1)
	}
	b.tail = append(b.tail, text)
	if b.owner != nil {
		b.hold(stream, text, time.Now())
	}
}

// hold keeps a line for those that may go on with it.
func (b *logbook) hold(stream Stream, text string, now time.Time) {
	t := b.held[stream]
	if t == nil {
		t = &trace{bounds: b.traces, timer: time.AfterFunc(b.traces.Line, func() { b.quiet(stream) })}
		b.held[stream] = t
	}
	at, goesOn := t.take(text, now)
	if !goesOn {
		b.release(stream, t)
		t.passes = b.allowance.take(now) && len(b.queue) < LogQueue
	}
	t.add(text, at, now)
}

// quiet lets go of what is held of a stream that has paused.
func (b *logbook) quiet(stream Stream) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.held[stream]
	if !b.ended && !time.Now().Before(t.until) { // else a line came meanwhile
		b.release(stream, t)
	}
}

// release lets what is held of a stream pass, or drops it.
func (b *logbook) release(stream Stream, t *trace) {
	switch n := len(t.lines); {
	case n == 0:
	case !t.passes:
		b.drop(n)
	default:
		b.push(LogLine{Stream: stream, Text: t.text()})
	}
	t.lines, t.size = nil, 0
}

// drop counts lines that the owner does not get.
func (b *logbook) drop(n int) {
	b.dropped += n
	b.lost += uint64(n)
	if b.summary == nil {
		b.summary = time.AfterFunc(summaryEvery, b.summarize)
	}
}

// push queues a line for the owner.
func (b *logbook) push(line LogLine) {
	b.queue = append(b.queue, line)
	if !b.delivering {
		b.delivering = true
		go b.deliver()
	}
}

// summarize reports what was dropped, a second after the first of it. While the
// owner is stuck the count goes on.
func (b *logbook) summarize() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.summary = nil
	switch {
	case b.dropped == 0 || b.ended:
	case len(b.queue) < LogQueue:
		b.report()
	default:
		b.summary = time.AfterFunc(summaryEvery, b.summarize)
	}
}

func (b *logbook) report() {
	text := fmt.Sprintf("%d log lines were dropped; %d at once and then %d a second may pass", b.dropped, LogBurst, LogPerSecond)
	b.push(LogLine{Stream: Host, Text: text, Dropped: b.dropped})
	b.dropped = 0
}

// end reports what is left to report. No line comes after it.
func (b *logbook) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, stream := range []Stream{Stdout, Stderr} {
		if t := b.held[stream]; t != nil {
			t.timer.Stop()
			b.release(stream, t)
		}
	}
	if b.summary != nil {
		b.summary.Stop()
		b.summary = nil
	}
	if b.dropped > 0 {
		b.report()
	}
	b.ended = true
	b.tell()
}

// tell tells that the owner has got all there is.
func (b *logbook) tell() {
	if b.ended && !b.delivering {
		close(b.told)
	}
}

// deliver hands lines over until there are none.
func (b *logbook) deliver() {
	for {
		b.mu.Lock()
		batch := b.queue
		b.queue = nil
		b.delivering = len(batch) > 0
		if !b.delivering {
			b.tell()
		}
		b.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for _, line := range batch {
			b.owner(line)
		}
	}
}

// last returns the last lines, the oldest first.
func (b *logbook) last() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.tail)
}

// counts returns how many lines came and how many of them the owner did not get.
func (b *logbook) counts() (lines, lost uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lines, b.lost
}
