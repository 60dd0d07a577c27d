package eliza

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// FuzzEnds finds that no lines bring either end down, and that whatever they have to say
// can be written.
func FuzzEnds(f *testing.F) {
	for name := range recorded {
		var host, worker []byte
		for _, l := range conversation(f, name) {
			if l.FromHost() {
				host = append(append(host, l.Record()...), '\n')
			} else {
				worker = append(append(worker, l.Record()...), '\n')
			}
		}
		f.Add(host)
		f.Add(worker)
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		host := Dialect{}.NewDriver(protocol.Settings{Plugin: "lab", MaxPending: 8})
		worker := NewWorker(WorkerSettings{Plugin: definition, MaxPending: 8})
		worker.Step(now, Begin{}, nil)
		guarded := NewWorker(WorkerSettings{Plugin: definition, MaxPending: 8, Key: []byte("k"), Granted: raw(`{"bun":{"read":true}}`)})
		guarded.Step(now, Begin{}, nil)
		signing := Dialect{Plugin: func(protocol.Settings) Plugin {
			return Plugin{Key: []byte("k"), Granted: raw(`{"bun":{"read":true}}`)}
		}}.NewDriver(protocol.Settings{Plugin: "lab", MaxPending: 8})
		host.Step(now, protocol.Run{Step: protocol.StepSetup}, nil)
		for line := range bytes.Lines(lines) {
			messages, err := codec{}.Decode(bytes.TrimSuffix(line, []byte("\n")))
			require.NoError(t, err)
			for _, m := range messages {
				for _, d := range []protocol.Driver{host, worker, signing, guarded} {
					for _, e := range d.Step(now, protocol.Received{Message: m}, nil) {
						check(t, d, e)
					}
				}
			}
		}
		host.Step(now, protocol.Closed{}, nil)
		worker.Step(now, protocol.Closed{}, nil)
	})
}

// check answers what is asked, calls what is offered, and writes what is sent.
func check(t *testing.T, d protocol.Driver, e protocol.Effect) {
	t.Helper()
	var next []protocol.Effect
	switch e := e.(type) {
	case protocol.Send:
		_, err := codec{}.Encode(nil, e.Message)
		require.NoError(t, err)
	case protocol.Serve:
		next = d.Step(now, protocol.Reply{ID: e.ID, Err: remoteError(e.Call.Input)}, nil)
	case Task:
		next = d.Step(now, protocol.Report{ID: e.ID, Item: e.Call.Input}, nil)
	case protocol.Offered:
		next = d.Step(now, protocol.Invoke{ID: 1, Call: protocol.Call{Key: e.Offer.Key, Input: raw(`{"params":{}}`)}}, nil)
		next = append(next, d.Step(now, protocol.Cancel{ID: 1}, nil)...)
	case protocol.Complete:
		if e.Err != nil {
			require.NotContains(t, e.Err.Error(), "\n")
		}
	}
	for _, one := range next {
		check(t, d, one)
	}
}

// FuzzGrants finds that any grant is read, that one which says nothing allows everything,
// and that what is granted in addition takes nothing away.
func FuzzGrants(f *testing.F) {
	var v gateVectors
	vectors(f, "permission-gate", &v)
	for _, c := range v.Vectors {
		f.Add([]byte(c.Granted))
	}
	f.Fuzz(func(t *testing.T, granted []byte) {
		g := GrantsOf(granted)
		more := g
		more.said, more.host = true, true
		for _, surface := range []string{
			surfaceAction, surfaceProvider, surfaceService, surfaceModel, surfaceEvent, surfaceRoute, surfaceEvaluator, surfaceTests, "", "other",
		} {
			wanted, allowed := g.Surface(surface)
			require.Equal(t, allowed, wanted == "", surface)
			require.True(t, allowed || g.said, surface)
			_, now := more.Surface(surface)
			require.True(t, now || !allowed, surface)
		}
		for _, method := range append(slices.Clone(Methods), "", "other") {
			wanted, allowed := g.Method(method)
			require.Equal(t, allowed, wanted == "", method)
			require.True(t, allowed || g.said, method)
			_, now := more.Method(method)
			require.True(t, now || !allowed, method)
		}
	})
}
