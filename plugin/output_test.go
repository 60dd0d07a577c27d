package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol/paperclip"
)

// gate is a destination that lets one write through for each value it is given.
type gate struct {
	let    chan error
	mu     sync.Mutex
	writes []string
}

func (g *gate) Write(p []byte) (int, error) {
	err := <-g.let
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writes = append(g.writes, string(p))
	return len(p), err
}

func newOutput(g *gate) (*output, *[]error) {
	var failed []error
	return &output{
		dst: g, codec: paperclip.Dialect{}.Codec(), limit: 100, record: 200,
		onFail: func(err error) { failed = append(failed, err) },
	}, &failed
}

func note(text string) paperclip.Notification {
	params, _ := json.Marshal(text)
	return paperclip.Notification{Method: "n", Params: params}
}

func line(text string) string { return `{"jsonrpc":"2.0","method":"n","params":"` + text + `"}` + "\n" }

func TestOutput_writesInOnePieceWhatCameMeanwhile(t *testing.T) {
	g := &gate{let: make(chan error, 2)}
	o, _ := newOutput(g)
	require.NoError(t, o.add(note("1")))
	require.True(t, o.begin())
	require.NoError(t, o.add(note("2")))
	require.NoError(t, o.add(note("3")))
	o.flush(false) // somebody writes already
	g.let <- nil
	require.False(t, o.write())
	require.Equal(t, []string{line("1") + line("2") + line("3")}, g.writes)
	require.NoError(t, o.drained(t.Context()))
}

func TestOutput_leavesToOthersWhatTheyAddWhileItWrites(t *testing.T) {
	g := &gate{let: make(chan error)}
	o, _ := newOutput(g)
	require.NoError(t, o.add(note("1")))
	flushed := make(chan struct{})
	go func() {
		o.flush(true)
		close(flushed)
	}()
	require.Eventually(t, func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.writing > 0
	}, 10*time.Second, time.Millisecond)
	require.NoError(t, o.add(note("2")))
	g.let <- nil
	<-flushed
	require.ErrorIs(t, o.drained(ended(t)), context.Canceled)
	g.let <- nil
	require.NoError(t, o.drained(t.Context()))
	require.Equal(t, []string{line("1"), line("2")}, g.writes)
}

func ended(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestOutput_hasRoomUpToItsLimit(t *testing.T) {
	g := &gate{let: make(chan error)}
	o, _ := newOutput(g)
	require.NoError(t, o.add(note(strings.Repeat("x", 90))))
	o.room(ended(t)) // it does not wait for ever
	waited := make(chan struct{})
	go func() {
		o.room(t.Context())
		close(waited)
	}()
	o.flushAside()
	select {
	case <-waited:
		require.Fail(t, "there is no room before the write is over")
	default:
	}
	g.let <- nil
	<-waited
	require.NoError(t, o.drained(t.Context()))
}

func TestOutput_refusesWhatCannotBeWritten(t *testing.T) {
	o, _ := newOutput(&gate{})
	require.ErrorContains(t, o.add(note(strings.Repeat("x", 200))), "a frame of 242 bytes is above the limit of 200: send less, or in parts")
	require.Error(t, o.add(paperclip.Response{}))
	require.Empty(t, o.queued)
}

func TestOutput_endsWithTheFirstFailure(t *testing.T) {
	g := &gate{let: make(chan error, 1)}
	o, failed := newOutput(g)
	require.NoError(t, o.add(note("1")))
	broken := errors.New("broken")
	g.let <- broken
	o.flush(false)
	require.Equal(t, []error{broken}, *failed)
	require.ErrorIs(t, o.add(note("2")), broken)
	require.ErrorIs(t, o.drained(t.Context()), broken)
	o.room(t.Context())
	o.flush(false)
}
