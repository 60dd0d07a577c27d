package paperclip

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/protocoltest"
)

// TestReplay_worker puts our Worker in the place of the recorded SDK worker.
func TestReplay_worker(t *testing.T) {
	for name, r := range replays {
		if r.host && name != "v824/28-init-failures" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for _, lines := range conversations(t, name) {
				if r.host && lines[0].Proc < 5 {
					continue
				}
				w := newWorkerReplay(t, lines)
				for _, l := range lines {
					w.line(l)
				}
				require.Empty(t, w.sent)
			}
		})
	}
}

// workerReplay is our worker's end in a recorded conversation.
type workerReplay struct {
	t *testing.T
	w *Worker
	// tasks are the host's requests that are being handled, by their ids.
	tasks map[string]protocol.RequestID
	sent  []protocol.Message
	calls protocol.CallID
	// waiting are the worker's calls in flight, by their ids.
	waiting map[string]protocol.CallID
	// executing are the commands that run, by their invocations.
	executing map[string]protocol.RequestID
}

func newWorkerReplay(t *testing.T, lines []protocoltest.Line) *workerReplay {
	t.Helper()
	return &workerReplay{
		t: t, w: NewWorker(WorkerSettings{Hooks: reportedHooks(lines)}),
		tasks: map[string]protocol.RequestID{}, waiting: map[string]protocol.CallID{},
		executing: map[string]protocol.RequestID{},
	}
}

// reportedHooks are the hooks that the recorded plugin had. The SDK never reports
// handleWebhook.
func reportedHooks(lines []protocoltest.Line) (names []string) {
	reported := false
	for _, l := range lines {
		reported = eachItem(member(member(l.Frame, "result"), "supportedMethods"), func(value json.RawMessage) {
			name, _ := text(value)
			names = append(names, name)
		}) || reported
	}
	switch {
	case !reported: // it dies, or is stopped, before it reports them
		names = append(names, methodShutdown)
	case len(names) > 10:
		names = append(names, methodWebhook)
	}
	return names
}

func (w *workerReplay) line(l protocoltest.Line) {
	w.t.Helper()
	if l.FromHost() {
		w.fromHost(l.Record())
		return
	}
	switch m := decode(w.t, l.Record()).(type) {
	case Response:
		w.answer(m)
	case Request:
		w.calls++
		w.waiting[string(m.ID)] = w.calls
		w.step(Asking{
			Invoke:     protocol.Invoke{ID: w.calls, Call: protocol.Call{Key: m.Method, Input: m.Params}},
			Invocation: nonBlank(m.InvocationID),
		})
		w.expect(m)
	case Notification:
		w.step(w.telling(m))
		w.expect(m)
	}
}

// telling is what makes our worker notify the host so.
func (w *workerReplay) telling(m Notification) protocol.Input {
	invocation := nonBlank(m.InvocationID)
	for part, method := range streamMethods {
		if method == m.Method {
			channel, _ := text(member(m.Params, "channel"))
			company, _ := text(member(m.Params, "companyId"))
			return Streaming{Stream: protocol.Stream{Streamed: protocol.Streamed{
				What: part, Channel: channel, Scope: company, Item: member(m.Params, "event"),
			}}, Invocation: invocation}
		}
	}
	if task, ok := w.executing[invocation]; ok && m.Method == methodLogChunk {
		return protocol.Report{ID: task, Item: m.Params}
	}
	return Telling{Emit: protocol.Emit{Event: protocol.Event{Name: m.Method, Payload: m.Params}}, Invocation: invocation}
}

// fromHost gives our worker what the host wrote.
func (w *workerReplay) fromHost(record []byte) {
	w.t.Helper()
	messages, err := codec{}.Decode(record)
	require.NoError(w.t, err)
	for _, m := range messages {
		out := w.step(protocol.Received{Message: m})
		switch m := m.(type) {
		case Request:
			for _, e := range out {
				if task, ok := e.(Task); ok {
					w.tasks[string(m.ID)] = task.ID
					if task.Follows {
						w.executing[task.Invocation] = task.ID
					}
					require.Equal(w.t, m.Method, task.Call.Key)
					require.Equal(w.t, companyOf(m.Method, m.Params), task.Call.Scope)
				}
			}
		case Response:
			w.answered(m, out)
		}
	}
}

func (w *workerReplay) answered(m Response, out []protocol.Effect) {
	w.t.Helper()
	id, ok := w.waiting[string(m.ID)]
	if !ok || w.w.stopped {
		return
	}
	require.Len(w.t, out, 1)
	done, ok := out[0].(protocol.Complete)
	require.True(w.t, ok)
	require.Equal(w.t, id, done.ID)
	require.Equal(w.t, m.Error == nil, done.Err == nil)
	require.Equal(w.t, string(m.Result), string(done.Result))
}

// answer has our worker's plugin answer as recorded, unless the driver has
// answered by itself.
func (w *workerReplay) answer(m Response) {
	w.t.Helper()
	if id, ok := w.tasks[string(m.ID)]; ok {
		delete(w.tasks, string(m.ID))
		in := protocol.Reply{ID: id, Result: m.Result}
		if m.Error != nil {
			in.Err = peerError(m.Error)
		}
		w.step(in)
	}
	w.expect(m)
}

func (w *workerReplay) step(in protocol.Input) []protocol.Effect {
	w.t.Helper()
	out := w.w.Step(now, in, nil)
	for _, e := range out {
		if s, ok := e.(protocol.Send); ok {
			w.sent = append(w.sent, s.Message)
		}
	}
	return out
}

// expect wants a frame to be the next one that was sent: the worker has one order.
func (w *workerReplay) expect(m protocol.Message) {
	w.t.Helper()
	require.NotEmpty(w.t, w.sent, "not sent: %s", encode(w.t, m))
	want := encode(w.t, m)
	at := slices.IndexFunc(w.sent, func(s protocol.Message) bool { return encode(w.t, s) == want })
	require.GreaterOrEqual(w.t, at, 0, "want %s\nsent %s", want, encode(w.t, w.sent[0]))
	w.sent = slices.Delete(w.sent, at, at+1)
}
