package bridge_test

import (
	"encoding/json"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// follow makes a call that takes the items of a stream, without waiting for them.
func (w *worker) follow(key, input string) {
	w.lastCall++
	call := protocol.Call{Key: key}
	if input != "" {
		call.Input = json.RawMessage(input)
	}
	w.step(protocol.Invoke{ID: w.lastCall, Call: call, Follows: true})
}

// feed makes a call whose input is a stream of the items, which fails at its end
// where there is an error. It follows the call.
func (w *worker) feed(key string, failed error, items ...string) {
	w.lastCall++
	w.step(protocol.Invoke{ID: w.lastCall, Call: protocol.Call{Key: key}, Feeds: true, Follows: true})
	for _, item := range items {
		w.step(protocol.Feed{ID: w.lastCall, Item: json.RawMessage(item)})
	}
	w.step(protocol.FeedEnd{ID: w.lastCall, Err: failed})
}

// report sends the items of a stream to the module.
func (w *worker) report(e protocol.Serve, items ...string) {
	for _, item := range items {
		w.step(protocol.Report{ID: e.ID, Item: json.RawMessage(item)})
	}
}

// wantProgress waits for the items of the latest call, in order.
func (w *worker) wantProgress(items ...string) {
	w.t.Helper()
	for _, item := range items {
		require.Equal(w.t, protocol.Progress{ID: w.lastCall, Item: json.RawMessage(item)}, next[protocol.Progress](w))
	}
}

// wantFed waits for the items of a request stream of the module's.
func (w *worker) wantFed(e protocol.Serve, items ...string) {
	w.t.Helper()
	for _, item := range items {
		require.Equal(w.t, protocol.Fed{ID: e.ID, Item: json.RawMessage(item)}, next[protocol.Fed](w))
	}
}

// wantDone waits for the result of the latest call.
func (w *worker) wantDone(result string) {
	w.t.Helper()
	done := next[protocol.Complete](w)
	require.NoError(w.t, done.Err)
	require.Equal(w.t, w.lastCall, done.ID)
	require.Equal(w.t, result, string(done.Result))
}

// wantDropped waits until something is dropped whose detail has this in it. Of its
// kind there may be more before.
func (w *worker) wantDropped(what, detail string) {
	w.t.Helper()
	for {
		e := next[protocol.Dropped](w)
		require.Equal(w.t, what, e.What)
		if strings.Contains(e.Detail, detail) {
			return
		}
	}
}

// wantNothing wants that the module has said nothing that nobody has asked for.
func (w *worker) wantNothing() {
	w.t.Helper()
	w.step(protocol.Run{Step: protocol.StepStop})
	for {
		switch e := (<-w.effects).(type) {
		case protocol.Ran:
			return
		case protocol.Emitted, protocol.FedEnd, protocol.Abandon: // of what was asked for
		default:
			require.FailNow(w.t, "more than was asked for", "%T %v", e, e)
		}
	}
}
