package paperclip

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// wire joins our host's end and our worker's end by the lines that they write.
type wire struct {
	t            *testing.T
	host, worker protocol.Driver
	// told are the effects that are no frames, as lines, of both ends.
	told []string
	// tasks are what the worker has to handle, serving what the host has.
	tasks   []Task
	serving []protocol.Serve
}

func newWire(t *testing.T, p Plugin, s WorkerSettings) *wire {
	t.Helper()
	return &wire{t: t, host: newRig(t, p, protocol.Settings{}).d, worker: NewWorker(s)}
}

// at gives one end an input, and the other all that comes of it.
func (w *wire) at(end protocol.Driver, in protocol.Input) {
	w.t.Helper()
	other := w.worker
	if end == w.worker {
		other = w.host
	}
	r := rig{t: w.t, d: end}
	for _, e := range end.Step(now, in, nil) {
		switch e := e.(type) {
		case protocol.Send:
			record := []byte(encode(w.t, e.Message))
			require.False(w.t, bytes.ContainsAny(record, "\r\n"))
			w.at(other, protocol.Received{Message: decode(w.t, record)})
		case Task:
			w.tasks = append(w.tasks, e)
		case protocol.Serve:
			w.serving = append(w.serving, e)
		case protocol.Denied: // the answer says it too
		default:
			w.told = append(w.told, r.line(e))
		}
	}
}

// says takes what was told since the last time.
func (w *wire) says() []string {
	told := w.told
	w.told = nil
	return told
}

func (w *wire) task() Task {
	w.t.Helper()
	require.NotEmpty(w.t, w.tasks)
	task := w.tasks[0]
	w.tasks = w.tasks[1:]
	return task
}

func (w *wire) start() {
	w.t.Helper()
	w.at(w.host, protocol.Run{Step: protocol.StepSetup, Params: raw(initialize)})
	w.at(w.worker, protocol.Reply{ID: w.task().ID})
	require.Contains(w.t, w.says(), "ran setup ok")
}

func TestEnds_callEachOther(t *testing.T) {
	w := newWire(t, readsCompanies, WorkerSettings{})
	w.start()

	w.at(w.host, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "tool:sum", Input: raw(`{"n":9007199254740993}`), Scope: "c"}})
	task := w.task()
	require.Equal(t, methodExecuteTool, task.Call.Key)
	require.Equal(t, "c", task.Call.Scope)
	require.Equal(t, `{"n":9007199254740993}`, string(member(task.Call.Input, "parameters")))

	asking := Asking{Invoke: protocol.Invoke{ID: 1, Call: protocol.Call{Key: "companies.get", Input: raw(`{"companyId":"c"}`)}}, Invocation: task.Invocation}
	w.at(w.worker, asking)
	require.Len(t, w.serving, 1)
	require.Equal(t, "c", w.serving[0].Call.Scope)
	w.at(w.host, protocol.Reply{ID: w.serving[0].ID, Result: raw(`"\ud800"`)})
	require.Equal(t, []string{`complete 1 ok "\ud800"`}, w.says())

	w.at(w.worker, protocol.Reply{ID: task.ID, Result: raw(`{"content":"5"}`)})
	require.Equal(t, []string{`complete 1 ok {"content":"5"}`}, w.says())

	asking.ID = 2 // the handler's timer, when its call is over
	w.at(w.worker, asking)
	require.Equal(t, []string{`complete 2 error Plugin "lab" is not allowed to perform "companies.get": the worker referenced a missing, expired, or unknown invocation scope`}, w.says())
}

func TestEnds_logAndStop(t *testing.T) {
	w := newWire(t, Plugin{}, WorkerSettings{Hooks: []string{"shutdown"}})
	w.start()
	w.at(w.worker, Telling{Emit: protocol.Emit{Event: protocol.Event{Name: "log", Payload: raw(`{"level":"warn","message":"<&>"}`)}}})
	require.Equal(t, []string{"logged WARN <&>"}, w.says())
	w.at(w.host, protocol.Run{Step: protocol.StepStop})
	w.at(w.worker, protocol.Reply{ID: w.task().ID})
	require.Equal(t, []string{"ran stop ok", "ran stop ok"}, w.says(), "one for each end")
}

func TestEnds_refuseEachOther(t *testing.T) {
	w := newWire(t, Plugin{}, WorkerSettings{})
	w.start()
	w.at(w.host, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "environment:e1.probe", Scope: "c"}})
	require.Equal(t, []string{"complete 1 error environmentProbe is not implemented by this plugin"}, w.says())
	w.at(w.worker, Asking{Invoke: protocol.Invoke{ID: 1, Call: protocol.Call{Key: "state.get"}}})
	require.Equal(t, []string{`complete 1 error Plugin "lab" is missing required capability "plugin.state.read" for method "state.get"`}, w.says())
}
