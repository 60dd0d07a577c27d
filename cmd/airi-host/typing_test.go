package main

import (
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muesli/cancelreader"
	"github.com/stretchr/testify/require"
)

// slowly takes what is written as slowly as that, or nothing.
type slowly struct {
	each  time.Duration
	taken int
	over  chan struct{}
	once  sync.Once
}

func (s *slowly) Write(b []byte) (int, error) {
	var soon <-chan time.Time
	if s.each > 0 {
		soon = time.After(s.each)
	}
	select {
	case <-soon:
		s.taken += len(b)
		return len(b), nil
	case <-s.over:
		return 0, io.ErrClosedPipe
	}
}

func (s *slowly) Close() error {
	s.once.Do(func() { close(s.over) })
	return nil
}

// The key that leaves is heard behind a paste of any length.
func TestKeyboard_leavesBehindAPaste(t *testing.T) {
	const paste = 1 << 20
	for name, c := range map[string]struct {
		each        time.Duration
		lost, taken int
		within      time.Duration
	}{
		"the program takes nothing": {0, paste - (typedChunks+1)*typedChunk, 0, typedPatience},
		"the program is slow":       {900 * time.Millisecond, 0, paste - typedChunks*typedChunk, 10 * time.Minute},
		"the program takes all":     {time.Nanosecond, 0, paste, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				typed, err := cancelreader.NewReader(io.MultiReader(strings.NewReader(strings.Repeat("x", paste)), strings.NewReader("\x1d")))
				require.NoError(t, err)
				k := &keyboard{reader: typed, tty: os.Stdin}
				to := &slowly{each: c.each, over: make(chan struct{})}
				began := time.Now()
				passed := k.pass(to)
				<-to.over // it is left
				synctest.Wait()
				left, lost := passed()
				require.True(t, left)
				require.Equal(t, c.lost, lost)
				require.GreaterOrEqual(t, to.taken, c.taken)
				require.LessOrEqual(t, time.Since(began), c.within)
			})
		})
	}
}

// A program that takes again is given what is typed.
func TestTyping_goesOnOnceTheProgramTakesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := io.Pipe()
		typing := newTyping(to)
		text := []byte("x")
		for range typedChunks + 5 {
			n, err := typing.Write(text)
			require.NoError(t, err)
			require.Equal(t, 1, n)
		}
		require.Equal(t, 4, typing.lost)
		_, err := io.ReadFull(from, make([]byte, 10))
		require.NoError(t, err)
		synctest.Wait()
		_, err = typing.Write(text)
		require.NoError(t, err)
		require.Equal(t, 4, typing.lost)
		require.NoError(t, from.Close())
		synctest.Wait()
		_, err = typing.Write(text)
		require.ErrorIs(t, err, io.ErrClosedPipe)
		typing.finish()
	})
}
