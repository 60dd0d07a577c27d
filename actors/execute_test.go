package actors

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/transport/memory"
)

// executed is what came of a command.
type executed struct {
	Executed
	err error
}

func (f *far) execute(sink func(protocol.LogChunk) error) <-chan executed {
	f.t.Helper()
	done := make(chan executed, 1)
	go func() {
		got, err := f.host.Execute(context.Background(), ExecuteRequest{Driver: "shed", Params: json.RawMessage(`{}`)}, sink)
		done <- executed{got, err}
	}()
	settle()
	return done
}

const logChunk = `{"stream":"stdout","chunk":"a\nb"}`

func TestExecute_givesTheLogBeforeTheResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, routed{}, "environment:shed.execute")
		var got []string
		done := f.execute(func(c protocol.LogChunk) error {
			got = append(got, c.Stream+" "+string(c.Text))
			if len(got) == 2 {
				panic("a sink of a careless caller")
			}
			if len(got) == 3 {
				return errors.New("the disk is full")
			}
			return nil
		})
		f.hears("call 1 environment:shed.execute {} follows")
		f.says("spare 1 "+logChunk, "spare 1 "+logChunk, "spare 1 "+logChunk, `spare 1 {"stream":"stderr","chunk":"c"}`, `spare 1 {"odd":1}`,
			`answer 1 {"exitCode":3,"signal":null,"timedOut":true,"stdout":"o","stderr":"e","metadata":{"n":1}}`)
		end := <-done
		require.NoError(t, end.err)
		code := 3
		require.Equal(t, Executed{ExitCode: &code, TimedOut: true, Stdout: "o", Stderr: "e", Metadata: json.RawMessage(`{"n":1}`), Missed: 3}, end.Executed)
		require.Equal(t, []string{"stdout a\nb", "stdout a\nb", "stdout a\nb", "stderr c"}, got)
		require.Equal(t, map[string]uint64{"log-sink": 3}, wantPhase(t, f.host, "far", lifecycle.Ready).Dropped)

		done = f.execute(nil)
		f.hears("call 2 environment:shed.execute {}")
		f.says(`answer 2 {"exitCode":"three"}`)
		require.Equal(t, protocol.CodeWire, protocol.CodeOf((<-done).err))
		_, err := f.host.Execute(t.Context(), ExecuteRequest{Driver: "none"}, nil)
		require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(err))
	})
}

// A sink that is too slow costs itself chunks, and nobody else more than a moment.
func TestExecute_aSlowSinkLosesChunksAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{Limits: Limits{StreamItems: 2}}, memory.Options{}, routed{}, "environment:shed.execute", "tool:a")
		release, got := make(chan struct{}), 0
		done := f.execute(func(protocol.LogChunk) error {
			got++
			<-release
			return nil
		})
		other := f.call("tool:a")
		f.hears("call 1 environment:shed.execute {} follows", "call 2 tool:a ")
		began := time.Now()
		for range 100 {
			f.says("spare 1 " + logChunk)
		}
		f.says("answer 2 5")
		require.Equal(t, "5", (<-other).result)
		require.LessOrEqual(t, time.Since(began), mostPatience+time.Millisecond)
		f.says(`answer 1 {"exitCode":0}`)
		close(release)
		end := <-done
		require.NoError(t, end.err)
		require.Equal(t, 3, got)
		require.Equal(t, uint64(97), end.Missed)
		require.Equal(t, map[string]uint64{"progress": 97}, wantPhase(t, f.host, "far", lifecycle.Ready).Dropped)
	})
}

// What waits for a sink when the command is given up is missed as well.
func TestExecute_countsWhatWaitedWhenItWasGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ready(t, Options{}, memory.Options{}, routed{}, "environment:shed.execute")
		ctx, cancel := context.WithCancel(t.Context())
		release, done := make(chan struct{}), make(chan executed, 1)
		go func() {
			got, err := f.host.Execute(ctx, ExecuteRequest{Driver: "shed", Params: json.RawMessage(`{}`)}, func(protocol.LogChunk) error {
				<-release
				return nil
			})
			done <- executed{got, err}
		}()
		settle()
		f.hears("call 1 environment:shed.execute {} follows")
		f.says("spare 1 "+logChunk, "spare 1 "+logChunk, "spare 1 "+logChunk, "spare 1 "+logChunk)
		cancel()
		f.hears("cancel 1 cancelled")
		close(release)
		end := <-done
		require.Equal(t, protocol.CodeCancelled, protocol.CodeOf(end.err))
		require.Equal(t, uint64(3), end.Missed)
		require.Equal(t, map[string]uint64{"progress": 3}, wantPhase(t, f.host, "far", lifecycle.Ready).Dropped)
	})
}
