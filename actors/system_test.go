package actors

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// echo answers what it is asked, and panics when it is told to.
type echo struct {
	caught []*panicError
}

type (
	question struct{ reply chan<- string }
	silence  struct{}
)

func (e *echo) receive(msg any) {
	switch m := msg.(type) {
	case question:
		m.reply <- "yes"
	case string:
		panic(m)
	}
}

func (e *echo) panicked(_ any, err *panicError) error {
	e.caught = append(e.caught, err)
	if err.value == "worse" {
		panic(err)
	}
	return fmt.Errorf("echo: %w", err)
}

// spawnEcho starts an actor in a system of its own.
func spawnEcho(t *testing.T) (*ref, *echo) {
	t.Helper()
	sys, e := newSystem(), &echo{}
	t.Cleanup(func() {
		sys.shutdown()
		time.Sleep(deadLettersLive)
	})
	return sys.spawn(func(*ref) behavior { return e }), e
}

func questionTo(reply chan<- string) any { return question{reply} }

func TestRef_asksAndIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := spawnEcho(t)
		got, err := ask(t.Context(), r, questionTo)
		require.NoError(t, err)
		require.Equal(t, "yes", got)
		r.stop()
		<-r.gone
		_, err = ask(t.Context(), r, questionTo)
		require.Equal(t, errGone, err)
		r.stop()
	})
}

func TestRef_whatIsAskedBehindAStopIsNotAwaitedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := spawnEcho(t)
		r.stop()
		for range 100 { // in any order with the end
			if got, err := ask(t.Context(), r, questionTo); err == nil {
				require.Equal(t, "yes", got)
			} else {
				require.Equal(t, errGone, err)
			}
		}
	})
}

func TestRef_whatIsSentBeforeAStopIsHandled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 100 {
			r, _ := spawnEcho(t)
			reply := make(chan string, 1)
			r.tell(question{reply})
			r.stop()
			require.Equal(t, "yes", <-reply)
			<-r.gone
		}
	})
}

func TestRef_aCallerMayGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := spawnEcho(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := ask(ctx, r, func(chan<- string) any { return silence{} })
		require.ErrorIs(t, err, context.Canceled)
		r.stop()
	})
}

func TestRef_nilIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := spawnEcho(t)
		require.Panics(t, func() { r.tell(nil) })
		r.stop()
	})
}

func TestShell_survivesPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, e := spawnEcho(t)
		r.tell("oh no")
		r.tell("worse")
		got, err := ask(t.Context(), r, questionTo)
		require.NoError(t, err)
		require.Equal(t, "yes", got)
		require.Len(t, e.caught, 2)
		require.EqualError(t, e.caught[0], "panic: oh no")
		require.Contains(t, string(e.caught[0].stack), "system_test.go")
		r.stop()
	})
}
