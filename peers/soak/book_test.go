package main

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
)

func TestBook_countsAndLists(t *testing.T) {
	b := newBook()
	for _, what := range []string{"b", "a", "c", "c"} {
		b.count("things", what)
	}
	require.Equal(t, "c 2, a 1, b 1", b.listed("things"))
	require.Equal(t, 4, b.total("things"))
	require.Equal(t, 2, b.of("things", "c"))
	require.Equal(t, "none", b.listed("nothing"))
	b.took("things", time.Second)
	b.took("things", time.Millisecond)
	require.Equal(t, time.Second, b.slowest("things"))
}

func TestBook_keepsTheLastEvents(t *testing.T) {
	b := newBook()
	for i := range keptEvents + 3 {
		b.note("event %d", i)
	}
	last := b.last()
	require.Len(t, last, keptEvents)
	require.Contains(t, last[0], " event 3")
	require.Contains(t, last[keptEvents-1], fmt.Sprint(" event ", keptEvents+2))
	b.note("%s", strings.Repeat("ö", eventText))
	require.Less(t, len(b.last()[keptEvents-1]), eventText+4)
}

func TestBook_endsTheRunAtAFault(t *testing.T) {
	b := newBook()
	require.NoError(t, b.verdict())
	for i := range keptFaults + 2 {
		b.fault("wrong %d", i)
	}
	<-b.wrong
	require.ErrorContains(t, b.verdict(), "wrong 0\nwrong 1\n")
	require.ErrorContains(t, b.verdict(), "and 2 more")
	require.Contains(t, b.last()[0], "FAULT wrong 0")
}

// A count of what was dropped begins anew with each session.
func TestBook_addsUpWhatWasDropped(t *testing.T) {
	b := newBook()
	for _, e := range []actors.Dropped{
		{Origin: actors.Origin{Session: "s0", Plugin: "a"}, What: "x", Count: 1},
		{Origin: actors.Origin{Session: "s0", Plugin: "a"}, What: "x", Count: 10},
		{Origin: actors.Origin{Session: "s1", Plugin: "a"}, What: "x", Count: 1},
		{Origin: actors.Origin{Session: "s2", Plugin: "b"}, What: "x", Count: 100},
		{Origin: actors.Origin{Session: "s2", Plugin: "b"}, What: "y y", Count: 1},
	} {
		b.hear(e)
	}
	require.Equal(t, "x 111, y y 1", b.dropped())
}

func TestBook_hearsEvents(t *testing.T) {
	b := newBook()
	who := actors.Origin{Session: "s0", Plugin: "a"}
	b.hear(actors.Logged{Origin: who, Stream: "stderr"})
	b.hear(actors.CapabilityChanged{Origin: who})
	b.hear(actors.PhaseChanged{Origin: who, To: "ready"})
	b.hear(actors.Restart{Origin: who, InARow: 1})
	require.NoError(t, b.verdict())
	require.Equal(t, "stderr 1", b.listed("lines"))
	require.Equal(t, "ready 1", b.listed("phases"))
	require.Equal(t, 1, b.of("workers", "crashes"))
	require.Len(t, b.last(), 2)
	b.hear(actors.Restart{Origin: who, InARow: 9, GivenUp: true, Reason: "why"})
	require.ErrorContains(t, b.verdict(), "plugin a was given up after 9 crashes in a row: why")
}

func TestErrorLog_takesNoWarning(t *testing.T) {
	b := newBook()
	log := slog.New(errorLog{book: b}).With("who", "a").WithGroup("g")
	log.Info("fine")
	require.NoError(t, b.verdict())
	log.Warn("odd", "n", 1)
	require.EqualError(t, b.verdict(), "the host logged: odd who=a n=1")
}
