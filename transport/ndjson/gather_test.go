package ndjson

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/transport"
)

// slot is a destination that takes a number of bytes at once and remembers each write.
type slot struct {
	mu    sync.Mutex
	room  int
	wrote []string
	err   error
}

func (s *slot) TryWrite(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	n := min(len(p), s.room)
	s.room -= n
	if n > 0 {
		s.wrote = append(s.wrote, string(p[:n]))
	}
	return n, nil
}

// Write is for the writer's own goroutine, which has all the time that it needs.
func (s *slot) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrote = append(s.wrote, "later "+string(p))
	return len(p), s.err
}

func (s *slot) writes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrote
}

func TestWriter_gatheredRecordsAreOneWrite(t *testing.T) {
	dst := &slot{room: 1000}
	w := NewWriter(dst, WriterOptions{})
	require.NoError(t, w.Gather([]byte("a")))
	require.NoError(t, w.Gather([]byte("b")))
	require.Empty(t, dst.writes())
	require.Equal(t, 2, w.Stats().QueuedRecords)
	require.NoError(t, w.Send([]byte("c")))
	require.Equal(t, []string{"a\nb\nc\n"}, dst.writes())
	require.NoError(t, w.Gather([]byte("d")))
	w.Push()
	w.Push()
	require.Equal(t, []string{"a\nb\nc\n", "d\n"}, dst.writes())
	require.NoError(t, w.Send([]byte("e")))
	require.Equal(t, []string{"a\nb\nc\n", "d\n", "e\n"}, dst.writes())
	require.Zero(t, w.Stats().QueuedRecords)
	require.Zero(t, w.Stats().QueuedBytes)
}

func TestWriter_whatDoesNotFitOfTheGatheredComesLater(t *testing.T) {
	dst := &slot{room: 3}
	w := NewWriter(dst, WriterOptions{})
	require.NoError(t, w.Gather([]byte("a")))
	require.NoError(t, w.Gather([]byte("b")))
	w.Push()
	require.NoError(t, w.Flush(context.Background()))
	require.Equal(t, []string{"a\nb", "later \n"}, dst.writes())
	require.Zero(t, w.Stats().QueuedRecords)
}

func TestWriter_flushWritesWhatWasGathered(t *testing.T) {
	dst := &slot{room: 1000}
	w := NewWriter(dst, WriterOptions{})
	require.NoError(t, w.Gather([]byte("a")))
	w.Close()
	require.NoError(t, w.Flush(context.Background()))
	require.Equal(t, []string{"a\n"}, dst.writes())
	require.ErrorIs(t, w.Gather([]byte("b")), transport.ErrClosed)
}

func TestWriter_gatherHasTheLimitsOfSend(t *testing.T) {
	w := NewWriter(&slot{room: 1000}, WriterOptions{QueueRecords: 2, MaxRecord: 3})
	require.ErrorIs(t, w.Gather([]byte("a\n")), ErrNewline)
	var long *transport.TooLongError
	require.ErrorAs(t, w.Gather([]byte("abcd")), &long)
	require.NoError(t, w.Gather([]byte("a")))
	require.NoError(t, w.Gather([]byte("b")))
	require.ErrorIs(t, w.Gather([]byte("c")), transport.ErrFull)
	w.Push()
	require.NoError(t, w.Gather([]byte("c")))
	require.EqualValues(t, 3, w.Stats().Refused)
}

func TestWriter_aFailureMeetsWhatWasGathered(t *testing.T) {
	dst := &slot{err: errGone}
	var failed error
	w := NewWriter(dst, WriterOptions{OnFail: func(err error) { failed = err }})
	require.NoError(t, w.Gather([]byte("a")))
	w.Push()
	require.ErrorIs(t, failed, errGone)
	require.ErrorIs(t, w.Gather([]byte("b")), errGone)
	w.Push()
	require.Zero(t, w.Stats().QueuedRecords)
}
