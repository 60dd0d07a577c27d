//go:build linux

package process

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// split returns the lines that a splitter makes of pieces.
func split(pieces ...string) []string {
	var lines []string
	s := splitter{emit: func(text string) { lines = append(lines, text) }}
	for _, p := range pieces {
		s.write([]byte(p))
	}
	s.end()
	return lines
}

func TestSplitter_cutsAtNewlines(t *testing.T) {
	require.Equal(t, []string{"one", "", "two", "last"}, split("o", "ne\n\ntwo\r\nla", "st"))
	require.Empty(t, split())
}

func TestSplitter_cutsLongLines(t *testing.T) {
	whole := strings.Repeat("x", LogLineBytes)
	require.Equal(t, []string{whole, "next"}, split(whole, "\nnext"))
	require.Equal(t, []string{whole + " …(1 bytes cut)", "next"}, split(whole, "y\nnext"))
	require.Equal(t, []string{whole + fmt.Sprintf(" …(%d bytes cut)", 3<<20)}, split(whole, strings.Repeat("y", 3<<20)))
}

func TestSplitter_cutsBetweenRunes(t *testing.T) {
	for runeText, kept := range map[string]int{"é": 1, "€": 1, "𝄞": 3} {
		head := strings.Repeat("x", LogLineBytes-kept)
		want := fmt.Sprintf("%s …(%d bytes cut)", head, len(runeText)+2)
		require.Equal(t, []string{want}, split(head+runeText+"yy"))
	}
	full := strings.Repeat("é", LogLineBytes/2)
	require.Equal(t, []string{full + " …(2 bytes cut)"}, split(full+"é"))
}

func TestSplitter_makesTextValid(t *testing.T) {
	require.Equal(t, []string{"bad \uFFFD.", "\x1b[31mred\x1b[0m"}, split("bad \xff\xfe.\n\x1b[31mred\x1b[0m"))
	require.Equal(t, []string{strings.Repeat("\uFFFD", 1) + " …(9 bytes cut)"},
		split(strings.Repeat("\x80", LogLineBytes+9)), "continuations without a start are kept")
}

func FuzzSplitter_linesAreBoundedAndValid(f *testing.F) {
	f.Add([]byte("a\nb\r\n\xff"), uint8(1))
	f.Add([]byte(strings.Repeat("€", LogLineBytes)), uint8(7))
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		var lines int
		s := splitter{emit: func(text string) {
			lines++
			require.True(t, utf8.ValidString(text))
			require.LessOrEqual(t, len(text), 3*LogLineBytes+40)
		}}
		for rest := data; len(rest) > 0; {
			n := min(len(rest), int(size)+1)
			s.write(rest[:n])
			rest = rest[n:]
		}
		s.end()
		want := strings.Count(string(data), "\n")
		if len(data) > 0 && data[len(data)-1] != '\n' {
			want++
		}
		require.Equal(t, want, lines)
	})
}

func TestAllowance_isABurstAndARate(t *testing.T) {
	var a allowance
	now := time.Now()
	passed := func() (n int) {
		for a.take(now) {
			n++
		}
		return n
	}
	require.Equal(t, LogBurst, passed())
	now = now.Add(time.Second)
	require.Equal(t, LogPerSecond, passed())
	now = now.Add(time.Hour)
	require.Equal(t, LogBurst, passed())
	now = now.Add(-time.Minute)
	require.Zero(t, passed(), "a clock that goes back gives nothing")
}

func TestLogbook_countsWhatItDrops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newLogSink()
		b := newLogbook(sink.add, Traces{})
		for i := range 1000 {
			b.add(Stderr, fmt.Sprint(i))
		}
		synctest.Wait()
		require.Len(t, sink.all(), LogBurst)
		time.Sleep(summaryEvery)
		synctest.Wait()
		last := sink.all()[LogBurst]
		require.Equal(t, Host, last.Stream)
		require.Equal(t, 800, last.Dropped)
		require.Contains(t, last.Text, "800 log lines were dropped")
		require.Equal(t, []string{"980", "999"}, []string{b.last()[0], b.last()[TailLines-1]}, "dropped lines are in the tail")
		lines, lost := b.counts()
		require.Equal(t, []uint64{1000, 800}, []uint64{lines, lost})
		b.end()
	})
}

func TestLogbook_summarizesOncePerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := newLogSink()
		b := newLogbook(sink.add, Traces{})
		for range 5000 { // 1,000 lines a second for 5 s
			b.add(Stdout, "x")
			time.Sleep(time.Millisecond)
		}
		b.end()
		synctest.Wait()
		var summaries, dropped, passed int
		for _, l := range sink.all() {
			dropped += l.Dropped
			if l.Dropped > 0 {
				summaries++
			} else {
				passed++
			}
		}
		require.LessOrEqual(t, summaries, 6)
		require.Equal(t, 5000, dropped+passed)
		require.InDelta(t, LogBurst+5*LogPerSecond, passed, 2)
	})
}

func TestLogbook_waitsForASlowOwnerWithinABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink, gate := newLogSink(), make(chan struct{})
		b := newLogbook(func(l LogLine) { <-gate; sink.add(l) }, Traces{})
		for range 20 {
			for range LogPerSecond {
				b.add(Stderr, "x")
			}
			time.Sleep(time.Second)
		}
		synctest.Wait()
		require.LessOrEqual(t, len(b.queue), LogQueue+1)
		close(gate)
		time.Sleep(2 * summaryEvery)
		b.end()
		synctest.Wait()
		total := 0
		for _, l := range sink.all() {
			total += max(1, l.Dropped)
		}
		require.Equal(t, 20*LogPerSecond, total, "each line came or was counted")
	})
}

func TestLogbook_needsNoOwner(t *testing.T) {
	b := newLogbook(nil, Traces{})
	for i := range 300 {
		b.add(Stderr, fmt.Sprint(i))
	}
	b.end()
	require.Len(t, b.last(), TailLines)
	_, lost := b.counts()
	require.Zero(t, lost)
}

func TestLog_cutsAndCleansWhatAWorkerWrites(t *testing.T) {
	w := start(t, "stderr-line")
	line := w.log.wantLine(t, func(LogLine) bool { return true })
	require.Equal(t, Stderr, line.Stream)
	require.True(t, strings.HasSuffix(line.Text, fmt.Sprintf(" …(%d bytes cut)", 3<<20-LogLineBytes)))

	w = start(t, "stderr-odd")
	w.wantEcho("call")
	w.wantStop(StepStdin)
	w.log.wantLine(t, func(l LogLine) bool { return l.Text == "last" })
	require.Equal(t, []string{"\x1b[31mred\x1b[0m", "bad \uFFFD", "last"}, w.Tail())
}

func TestLogbook_tellsWhenTheOwnerHasTheLastLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink, gate := newLogSink(), make(chan struct{})
		b := newLogbook(func(l LogLine) { <-gate; sink.add(l) }, Traces{})
		b.add(Stderr, "last words")
		b.end()
		synctest.Wait()
		select {
		case <-b.told:
			t.Fatal("the owner has not got it yet")
		default:
		}
		close(gate)
		<-b.told
		require.Equal(t, "last words", sink.all()[0].Text)
	})
}

func TestLogbook_tellsAtOnceWhenNothingIsLeft(*testing.T) {
	b := newLogbook(nil, Traces{})
	b.end()
	<-b.told
}
