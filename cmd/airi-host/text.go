package main

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
)

// timeFormat is the time of day, to the millisecond.
const timeFormat = "15:04:05.000"

// printable makes others' words safe for one line of a terminal: what would break
// the line, move the cursor, or turn the direction of reading is shown by a sign.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\r', r == '\t', unicode.Is(unicode.Zs, r):
			return ' '
		case r < ' ':
			return '␀' + r
		case r == 0x7f:
			return '␡'
		case !unicode.IsPrint(r):
			return utf8.RuneError
		}
		return r
	}, s)
}

// clip returns at most the first bytes of s, and says how many there were.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:most], ""), len(s))
}

// pluginCount counts plugins in words.
func pluginCount(n int) string {
	if n == 1 {
		return "1 plugin"
	}
	return fmt.Sprintf("%d plugins", n)
}

// them is the word for so many that were named.
func them(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// pad fills up s with blanks to a width in characters.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// layout is how lines about plugins look.
type layout struct {
	names int
	color bool
	// today is the day whose date is not told; the zero time is for telling none.
	today time.Time
}

// maxNames is the widest column of names; a longer name pushes its own lines only.
const maxNames = 32

// widestPhase is the width of the columns of phases.
const widestPhase = len(lifecycle.ConfigurationNeeded)

func (l layout) name(plugin string) string { return pad(printable(plugin), l.names) }

// line joins columns without leaving blanks at the end.
func (l layout) line(at time.Time, plugin, text string) string {
	return strings.TrimRight(l.stamp(at)+"  "+l.name(plugin)+"  "+text, " ")
}

func (l layout) stamp(at time.Time) string {
	if l.today.IsZero() || at.Format(time.DateOnly) == l.today.Format(time.DateOnly) {
		return at.Format(timeFormat)
	}
	return at.Format(time.DateOnly + " " + timeFormat)
}

// event is the line of an event that a journal follows.
func (l layout) event(e actors.Event) string {
	switch e := e.(type) {
	case actors.PhaseChanged:
		return l.phase(e)
	case actors.Waiting:
		return l.waiting(e)
	case actors.Restart:
		return l.restart(e)
	default: // nobody asks for others
		return e.Kind().String()
	}
}

func (l layout) phase(e actors.PhaseChanged) string {
	reason := printable(e.Reason)
	to := pad(string(e.To), widestPhase)
	if reason == "" {
		to = string(e.To)
	}
	return l.line(e.At, e.Plugin, fmt.Sprintf("%s → %s  %s", pad(string(e.From), widestPhase), l.paint(e.To, to), reason))
}

func (l layout) waiting(e actors.Waiting) string {
	text := "waits for " + strings.Join(e.For, ", ")
	if e.Cycle != nil {
		text += ": a cycle, " + strings.Join(e.Cycle, " → ")
	}
	if e.Because != nil {
		text += " (" + strings.Join(e.Because, "; ") + ")"
	}
	return l.line(e.At, e.Plugin, printable(text))
}

func (l layout) restart(e actors.Restart) string {
	text := fmt.Sprintf("crashed, next try in %s", e.Next.Sub(e.At).Round(time.Millisecond))
	if e.GivenUp {
		text = "crashed, given up"
	}
	if e.InARow > 1 {
		text += fmt.Sprintf(" (%d in a row)", e.InARow)
	}
	return l.line(e.At, e.Plugin, text)
}

// paint gives text the color of a phase.
func (l layout) paint(phase lifecycle.State, text string) string {
	code := colors[phase]
	if !l.color || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// colors are those of the phases that one looks for, as terminals number them.
var colors = map[lifecycle.State]string{
	lifecycle.Ready:               "32", // green
	lifecycle.Failed:              "31", // red
	lifecycle.WaitingDeps:         "33", // yellow
	lifecycle.ConfigurationNeeded: "33",
	lifecycle.Degraded:            "33",
}
