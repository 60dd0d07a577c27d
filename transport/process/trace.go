package process

import (
	"cmp"
	"regexp"
	"strings"
	"time"
)

// A stack trace is written line by line, and is one thing to say: its lines become one
// LogLine, so that no other text comes between them, and who looks for the error finds
// where it came from. Lines are held until one comes that does not go on with them, for
// a short while, within bounds: what exceeds these begins the next LogLine.

// Traces are the bounds of a LogLine that has several lines. Zero or less means the
// default.
type Traces struct {
	// Lines is how many it may have: 256. Bytes is how long it may be, but for its last
	// line: 24 KiB.
	Lines, Bytes int
	// Line is how long a line is held for one that goes on with it: 50 ms. Pause is how
	// long several are: 300 ms. Most is how long both may come to: 2 s.
	Line, Pause, Most time.Duration
}

func (t Traces) withDefaults() Traces {
	return Traces{
		Lines: cmp.Or(max(t.Lines, 0), 256), Bytes: cmp.Or(max(t.Bytes, 0), 24<<10),
		Line: cmp.Or(max(t.Line, 0), 50*time.Millisecond), Pause: cmp.Or(max(t.Pause, 0), 300*time.Millisecond),
		Most: cmp.Or(max(t.Most, 0), 2*time.Second),
	}
}

// place is where in a trace the next line would stand.
type place int

const (
	// afterText: what is indented goes on with any line.
	afterText place = iota
	// inBlock: so does what closes a block then.
	inBlock
	// Python: its frames are indented, the error follows; another one may have led to it.
	pythonFrames
	pythonError
	pythonGap
	// Go: a panic's message, then goroutines.
	goMessage
	goFrames
	// Node.js: the place, the line of source, a caret, the error with its frames, a version.
	nodeSource
	nodeCaret
	nodeGap
	nodeError
	nodeEnd
)

var (
	nodePlace = regexp.MustCompile(`^(?:file:///|node:|/|[A-Za-z]:\\).*:\d+$`)
	caret     = regexp.MustCompile(`^\s*\^+\s*$`)
	goroutine = regexp.MustCompile(`^goroutine \d+ .*\[.*\]:$`)
	goFrame   = regexp.MustCompile(`^(?:created by |panic: |\[|fatal error: |runtime: |exit status |\.\.\.|[a-z][a-z0-9]+ +0x[0-9a-f]+$|\S.*\(.*\)$)`)
)

const pythonHead = "Traceback (most recent call last):"

// begins is where the line behind one stands that begins something.
func begins(line string) place {
	switch {
	case line == pythonHead:
		return pythonFrames
	case strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "fatal error: "):
		return goMessage
	case goroutine.MatchString(line):
		return goFrames
	case nodePlace.MatchString(line):
		return nodeSource
	}
	return afterText
}

// next tells whether a line goes on with those before it, and where the one behind it
// stands then.
func (p place) next(line string) (place, bool) {
	blank, indented := strings.TrimSpace(line) == "", strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
	switch p {
	case afterText, inBlock:
		return p.afterAny(line, indented && !blank)
	case pythonFrames, pythonError, pythonGap:
		return p.python(line, blank, indented)
	case goMessage:
		if blank || goroutine.MatchString(line) {
			return goFrames, true
		}
		return goMessage, true
	case goFrames:
		return goFrames, blank || indented || goroutine.MatchString(line) || goFrame.MatchString(line)
	default:
		return p.node(line, blank, indented)
	}
}

func (p place) afterAny(line string, indented bool) (place, bool) {
	switch {
	case p == afterText && (line == pythonHead || goroutine.MatchString(line)): // as loggers write them
		return begins(line), true
	case p == inBlock && (line == "}" || line == "]" || line == ")"):
		return afterText, true
	}
	return inBlock, indented
}

func (p place) python(line string, blank, indented bool) (place, bool) {
	chained := strings.HasPrefix(line, "During handling of the above ") || strings.HasPrefix(line, "The above exception was ")
	switch {
	case p == pythonFrames && !indented && !blank:
		return pythonError, true
	case p == pythonFrames:
		return pythonFrames, true
	case blank:
		return pythonGap, true
	case p == pythonGap && line == pythonHead:
		return pythonFrames, true
	case p == pythonGap:
		return pythonGap, chained
	}
	return pythonError, indented
}

func (p place) node(line string, blank, indented bool) (place, bool) {
	switch p {
	case nodeSource:
		return nodeCaret, true
	case nodeCaret:
		return nodeGap, caret.MatchString(line)
	case nodeGap:
		if blank {
			return nodeGap, true
		}
		return nodeError, true
	case nodeError:
		if blank {
			return nodeEnd, true
		}
		return nodeError, indented || line == "}"
	default:
		return nodeEnd, blank || strings.HasPrefix(line, "Node.js v")
	}
}

// trace is lines of one stream that more may go on with.
type trace struct {
	bounds Traces

	lines []string
	size  int
	at    place
	// passes tells whether the owner gets them.
	passes bool
	began  time.Time
	// until is when it is let go of, by the timer.
	until time.Time
	timer *time.Timer
}

// take tells whether a line goes on with those that are held, and where the one behind
// it stands. What would exceed the bounds does not, and yet stands where it stood.
func (t *trace) take(line string, now time.Time) (at place, goesOn bool) {
	if len(t.lines) > 0 {
		if at, goesOn = t.at.next(line); goesOn {
			return at, len(t.lines) < t.bounds.Lines && t.size <= t.bounds.Bytes && now.Sub(t.began) <= t.bounds.Most
		}
	}
	return begins(line), false
}

func (t *trace) add(line string, at place, now time.Time) {
	if len(t.lines) == 0 {
		t.began = now
	}
	t.lines = append(t.lines, line)
	t.size += len(line) + 1
	t.at = at
	wait := t.bounds.Pause
	if len(t.lines) == 1 && at == afterText {
		wait = t.bounds.Line
	}
	t.until = now.Add(wait)
	t.timer.Reset(wait)
}

// text joins the lines; blank ones at the end, held for what did not come, say nothing.
func (t *trace) text() string {
	if len(t.lines) == 1 {
		return t.lines[0]
	}
	return strings.TrimRight(strings.Join(t.lines, "\n"), "\n")
}
