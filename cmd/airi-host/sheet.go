package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/airi-host/airi-host/lifecycle"
)

// sheet lays a board out as lines. Widths are in cells of a terminal, as it has them
// itself: a wide character takes two.
type sheet struct {
	// width is how many cells a line may take, height how many lines there may be.
	width, height int
	color         bool
}

// lines are the board's, the header first: all plugins in their order or, where those
// do not fit, the failed and the waiting ones first and the number of the others.
func (s sheet) lines(b board) []string {
	if s.height < 1 || s.width < 1 {
		return nil
	}
	lines := []string{s.header(b)}
	if s.height >= 3 && len(b.rows) > 0 {
		shown, rest := s.choose(b.rows)
		columns := s.columns(b.rows)
		lines = append(lines, s.dim(columns.titles()))
		for _, r := range shown {
			lines = append(lines, s.row(columns, r, b.now))
		}
		if len(rest) > 0 {
			lines = append(lines, s.dim(fmt.Sprintf("… %d more: %s", len(rest), census(rest))))
		}
	}
	for i, line := range lines {
		lines[i] = ansi.TruncateWc(line, s.width, "…")
	}
	return lines
}

// choose picks the rows that fit, beside the header, the titles and, where some do not,
// the line about them.
func (s sheet) choose(rows []boardRow) (shown, rest []boardRow) {
	room := s.height - 2
	if len(rows) <= room {
		return rows, nil
	}
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b boardRow) int { return cmp.Compare(urgency(a), urgency(b)) })
	return sorted[:room-1], sorted[room-1:]
}

// urgency is the order of what one wants to see first.
func urgency(r boardRow) int {
	switch r.phase {
	case lifecycle.Failed:
		return 0
	case lifecycle.ConfigurationNeeded, lifecycle.WaitingDeps, lifecycle.Degraded:
		return 1
	case lifecycle.Ready:
		return 3
	case lifecycle.Stopped:
		return 4
	default:
		return 2
	}
}

// census counts phases, the urgent ones first: "3 failed, 40 ready".
func census(rows []boardRow) string {
	counts := map[lifecycle.State]int{}
	var order []boardRow
	for _, r := range rows {
		if counts[r.phase]++; counts[r.phase] == 1 {
			order = append(order, r)
		}
	}
	slices.SortStableFunc(order, func(a, b boardRow) int { return cmp.Compare(urgency(a), urgency(b)) })
	words := make([]string, len(order))
	for i, r := range order {
		words[i] = fmt.Sprintf("%d %s", counts[r.phase], cmp.Or(string(r.phase), "not begun"))
	}
	return strings.Join(words, ", ")
}

// header has the totals.
func (s sheet) header(b board) string {
	var calls, errors float64
	for _, r := range b.rows {
		calls += r.calls
		errors += r.errors
	}
	text := fmt.Sprintf("airi-host %s (q stops)  %s", b.doing, pluginCount(len(b.rows)))
	if len(b.rows) > 0 {
		text += ": " + census(b.rows)
	}
	text += fmt.Sprintf("  %s calls/s  %s errors/s  up %s", rate(calls), rate(errors), span(b.now.Sub(b.began)))
	if b.unseen > 0 {
		text += fmt.Sprintf("  %d lines unseen", b.unseen)
	}
	return s.style("1", text)
}

// columns are the widths of those that fit.
type columns struct {
	names, phases int
	numbers       []numberColumn
	// detail is whether there is room for what a plugin needs or says.
	detail bool
}

// numberColumn is a column of numbers.
type numberColumn struct {
	title string
	width int
	value func(r boardRow, now time.Time) string
}

// numberColumns are in the order in which they stand and are kept.
var numberColumns = []numberColumn{
	{"CALLS/S", 7, func(r boardRow, _ time.Time) string { return rate(r.calls) }},
	{"ERR/S", 6, func(r boardRow, _ time.Time) string { return rate(r.errors) }},
	{"DROPS", 6, func(r boardRow, _ time.Time) string { return count(r.drops) }},
	{"UP", 6, func(r boardRow, now time.Time) string {
		if r.since.IsZero() {
			return ""
		}
		return span(now.Sub(r.since))
	}},
	{"PID", 7, func(r boardRow, _ time.Time) string {
		if r.pid == 0 {
			return ""
		}
		return strconv.Itoa(r.pid)
	}},
}

const (
	columnGap = 2
	// widestName is the widest column of names, which also takes at most a third of the
	// line; what is longer is cut.
	widestName = 24
	// leastDetail is the room for words for which numbers have to go, if there are so many.
	leastDetail = 32
	// anyDetail is the room for which words are worth their while at all.
	anyDetail = 8
)

// columns decides what fits. Words come before numbers, since they say what to do.
func (s sheet) columns(rows []boardRow) columns {
	c := columns{names: len("PLUGIN"), phases: len("PHASE")}
	for _, r := range rows {
		c.names = max(c.names, min(widestName, s.width/3, ansi.StringWidthWc(r.plugin)))
		c.phases = max(c.phases, len(r.phase))
	}
	left := s.width - c.names - columnGap - c.phases
	c.detail = left >= columnGap+anyDetail
	if words := widestDetail(rows); words > 0 {
		left -= min(words, leastDetail) + columnGap
	}
	for _, n := range numberColumns {
		if left -= n.width + columnGap; left < 0 {
			break
		}
		c.numbers = append(c.numbers, n)
	}
	return c
}

// widestDetail is how much room the words of all rows take.
func widestDetail(rows []boardRow) (width int) {
	for _, r := range rows {
		width = max(width, ansi.StringWidthWc(cmp.Or(r.needs, r.said)))
	}
	return width
}

func (c columns) titles() string {
	text := fit("PLUGIN", c.names) + gap + fit("PHASE", c.phases)
	for _, n := range c.numbers {
		text += gap + fmt.Sprintf("%*s", n.width, n.title)
	}
	return strings.TrimRight(text, " ")
}

var gap = strings.Repeat(" ", columnGap)

func (s sheet) row(c columns, r boardRow, now time.Time) string {
	l := layout{color: s.color}
	text := fit(r.plugin, c.names) + gap + l.paint(r.phase, fit(cmp.Or(string(r.phase), "-"), c.phases))
	for _, n := range c.numbers {
		text += gap + fmt.Sprintf("%*s", n.width, n.value(r, now))
	}
	switch {
	case !c.detail:
	case r.needs != "":
		text += gap + r.needs
	case r.said != "":
		text += gap + s.dim(r.said)
	}
	return strings.TrimRight(text, " ")
}

// fit cuts or fills up a text to a width.
func fit(text string, width int) string {
	text = ansi.TruncateWc(text, width, "…")
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidthWc(text)))
}

func (s sheet) dim(text string) string { return s.style("2", text) }

func (s sheet) style(code, text string) string {
	if !s.color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// rate is a number a second in at most five characters.
func rate(n float64) string {
	if n > 0 && n < 9.95 {
		return strconv.FormatFloat(n, 'f', 1, 64)
	}
	return count(uint64(n + 0.5))
}

// count is a number in at most five characters.
func count(n uint64) string {
	for _, unit := range []string{"", "k", "M", "G", "T"} {
		if n < 10_000 {
			return strconv.FormatUint(n, 10) + unit
		}
		n /= 1000
	}
	return "lots"
}

// span is how long something has lasted, in at most five characters for a thousand days.
func span(d time.Duration) string {
	switch d = max(0, d); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02d", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%dd", int(d.Hours())/24)
	}
}
