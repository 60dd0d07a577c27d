package actors

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestServing_isAContextThatEndsOnce(t *testing.T) {
	s := &serving{}
	_, limited := s.Deadline()
	require.False(t, limited)
	require.NoError(t, s.Err())
	done := s.Done()
	select {
	case <-done:
		t.Fatal("it has not ended")
	default:
	}
	s.stop()
	s.stop()
	<-done
	<-s.Done()
	require.ErrorIs(t, s.Err(), context.Canceled)
	require.ErrorIs(t, context.Cause(s), context.Canceled)

	ended := &serving{}
	ended.stop()
	<-ended.Done()
}

func TestServing_contextsMadeOfItEndWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &serving{}
		child, cancel := context.WithTimeout(s, time.Minute)
		defer cancel()
		ran := make(chan struct{})
		context.AfterFunc(s, func() { close(ran) })
		taken := context.AfterFunc(s, func() { t.Error("it was taken back") })
		require.True(t, taken())
		require.False(t, taken())
		require.Len(t, s.then, 2)
		s.stop()
		<-ran
		synctest.Wait()
		require.ErrorIs(t, child.Err(), context.Canceled)

		late := make(chan struct{})
		require.False(t, context.AfterFunc(s, func() { close(late) })())
		<-late
	})
}

func TestServing_aChildThatEndsFirstLeavesNothing(t *testing.T) {
	s := &serving{}
	child, cancel := context.WithCancel(s)
	cancel()
	require.Error(t, child.Err())
	require.Empty(t, s.then)
	require.NoError(t, s.Err())
}
