//go:build linux

package process

import (
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDrain_cutsADescendantThatNeverStopsToTalk(t *testing.T) {
	w := start(t, "leave-talk", func(s *Spec) { s.DrainMost = 200 * time.Millisecond })
	w.wantDone(soon)
	for {
		record, err := w.Recv()
		if err != nil {
			break
		}
		require.Equal(t, "talk", string(record))
	}
	require.True(t, w.wantExit().Status.Leftover)
}

func TestDrain_returnsItHoweverLateRecvIs(t *testing.T) {
	w := start(t, "burst", withArg("1000"), func(s *Spec) { s.DrainIdle, s.DrainMost = time.Millisecond, time.Millisecond })
	w.wantDone(soon)
	w.wantStop(StepNone)
	for i := range 1000 {
		w.want("line " + strconv.Itoa(i))
	}
	_ = w.wantExit()
}

// fakeSource is a pipe that somebody holds until it is given up.
type fakeSource struct {
	last    time.Time
	free    bool
	givenUp time.Time
}

func (s *fakeSource) lastRead() time.Time { return s.last }
func (s *fakeSource) interrupt()          { s.givenUp = time.Now() }

func (s *fakeSource) held(d time.Duration) bool {
	if s.free {
		return false
	}
	time.Sleep(d)
	return true
}

func TestDrain_waitsForTheLastByteOfAny(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exit := time.Now()
		quiet := &fakeSource{}
		lively := &fakeSource{last: exit.Add(300 * time.Millisecond)}
		drain([]source{quiet, lively}, exit, 500*time.Millisecond, 2*time.Second)
		require.Equal(t, 800*time.Millisecond, quiet.givenUp.Sub(exit))
		require.Equal(t, quiet.givenUp, lively.givenUp)
	})
}

func TestDrain_endsForEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exit := time.Now()
		endless := &fakeSource{last: exit.Add(time.Hour)}
		drain([]source{endless}, exit, 500*time.Millisecond, 2*time.Second)
		require.Equal(t, 2*time.Second, endless.givenUp.Sub(exit))
	})
}

func TestDrain_leavesPipesThatEndByThemselves(t *testing.T) {
	free := &fakeSource{free: true}
	drain([]source{free}, time.Now(), time.Hour, time.Hour)
	require.Zero(t, free.givenUp)
}

func TestLogReader_isFreedByInterrupt(t *testing.T) {
	r, w, err := newPipe()
	require.NoError(t, err)
	require.NoError(t, syscall.SetNonblock(r, true))
	reader, book := newLogReader(logPipe{Stderr, r}), newLogbook(nil, Traces{})
	write(t, w, []byte("one\ntwo"))
	done := make(chan struct{})
	go func() {
		defer close(done)
		reader.run(book)
	}()
	eventually(t, "a line is read", func() bool { return len(book.last()) == 1 })
	require.True(t, reader.held(0))
	reader.interrupt()
	<-done
	require.Equal(t, []string{"one", "two"}, book.last())
	require.False(t, reader.held(soon), "it is closed")
	require.NoError(t, syscall.Close(w))
}
