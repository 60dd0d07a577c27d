package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// holdWriter keeps the writer busy until what it returns is called.
func holdWriter(db *DB) (release func()) {
	began, end, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_ = db.change(context.Background(), 0, func(*tx) error {
			close(began)
			<-end
			return nil
		})
	}()
	<-began
	return func() {
		close(end)
		<-ended
	}
}

// waitQueued waits until so many writes are queued.
func waitQueued(db *DB, n int) {
	for {
		db.writer.mu.Lock()
		queued := len(db.writer.queue)
		db.writer.mu.Unlock()
		if queued == n {
			return
		}
		runtime.Gosched()
	}
}

func TestWriter_whatWaitsSharesACommit(t *testing.T) {
	db := openStore(t, Options{BatchWrites: 10})
	hold := holdWriter(db)
	before := db.Stats()
	results := make(chan error, 25)
	for i := range cap(results) {
		go func() {
			results <- db.State().Set(context.Background(), keyOf("p", fmt.Sprint(i)), json.RawMessage(`1`))
		}()
	}
	waitQueued(db, cap(results))
	hold()
	for range cap(results) {
		require.NoError(t, <-results)
	}
	after := db.Stats()
	require.EqualValues(t, 26, after.Writes-before.Writes)
	require.EqualValues(t, 4, after.Commits-before.Commits, "the one that held, and 25 by ten")
	require.Positive(t, after.Slowest)
}

func TestWriter_refusesBeyondItsQueue(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{QueueWrites: 2}, "the store is behind: 2 writes wait to be written: try again later"},
		{Options{QueueBytes: 100}, "the store is behind: 100 bytes wait to be written: try again later"},
	} {
		db := openStore(t, c.o)
		hold := holdWriter(db)
		results := make(chan error, 2)
		for range cap(results) {
			go func() { results <- db.change(context.Background(), 50, func(*tx) error { return nil }) }()
		}
		waitQueued(db, cap(results))
		require.Equal(t, 2, db.Stats().Waiting)
		require.Equal(t, 100, db.Stats().WaitingBytes)
		wantFault(t, db.change(t.Context(), 1, nil), protocol.CodeOverloaded, c.want)
		require.EqualValues(t, 1, db.Stats().RefusedWrites)
		hold()
		for range cap(results) {
			require.NoError(t, <-results)
		}
		require.NoError(t, db.SetDisabled(t.Context(), "p", true), "there is room again")
	}
}

func TestWriter_aCallThatEndsWhileItWaitsIsNotMade(t *testing.T) {
	db := openStore(t, Options{})
	hold := holdWriter(db)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() { result <- db.State().Set(ctx, keyOf("p", "k"), json.RawMessage(`1`)) }()
	waitQueued(db, 1)
	cancel()
	require.ErrorIs(t, <-result, context.Canceled)
	waitQueued(db, 0)
	hold()
	wantValue(t, db, keyOf("p", "k"), "")
	require.ErrorIs(t, db.State().Set(ctx, keyOf("p", "k"), json.RawMessage(`1`)), context.Canceled)
}

func TestWriter_aCallThatEndsInTheWritingDoesNotKnow(t *testing.T) {
	db := openStore(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan struct{})
	err := db.change(ctx, 0, func(*tx) error {
		cancel()
		<-end
		return nil
	})
	close(end)
	wantFault(t, err, protocol.CodeOutcomeUnknown, "read the value to see whether it was kept")
	require.ErrorIs(t, err, context.Canceled)
}

func TestWriter_aRefusalLeavesTheOthersAlone(t *testing.T) {
	db := openStore(t, Options{})
	hold := holdWriter(db)
	refusal := errors.New("refused")
	refused, kept := make(chan error), make(chan error)
	go func() { refused <- db.change(context.Background(), 0, func(*tx) error { return refusal }) }()
	go func() { kept <- db.SetDisabled(context.Background(), "p", true) }()
	waitQueued(db, 2)
	before := db.Stats().Commits
	hold()
	require.Equal(t, refusal, <-refused)
	require.NoError(t, <-kept)
	require.EqualValues(t, 2, db.Stats().Commits-before)
	require.Zero(t, db.Stats().FailedWrites)
}

func TestWriter_writesWhatWaitsBeforeItCloses(t *testing.T) {
	db := openStore(t, Options{})
	hold := holdWriter(db)
	result := make(chan error)
	go func() { result <- db.State().Set(context.Background(), keyOf("p", "k"), json.RawMessage(`1`)) }()
	waitQueued(db, 1)
	closed := make(chan error)
	go func() { closed <- db.Close() }()
	hold()
	require.NoError(t, <-result)
	require.NoError(t, <-closed)
	wantValue(t, openIn(t, dirOf(db), Options{}), keyOf("p", "k"), `1`)
}

// Another program that has the file locked is waited for, and then named.
func TestWriter_anotherProgramHoldsTheFile(t *testing.T) {
	db := openStore(t, Options{Busy: 1})
	set(t, db, keyOf("p", "k"), `1`)
	other, err := openFile(db.File(), "_txlock=immediate")
	require.NoError(t, err)
	defer func() { _ = other.Close() }()
	locked, err := other.Begin()
	require.NoError(t, err)
	err = db.State().Set(t.Context(), keyOf("p", "k"), json.RawMessage(`2`))
	wantFault(t, err, protocol.CodeInternal, db.File()+": the database is held by another program: end what else has it open")
	wantValue(t, db, keyOf("p", "k"), `1`)
	require.NoError(t, locked.Rollback())
	set(t, db, keyOf("p", "k"), `2`)
}
