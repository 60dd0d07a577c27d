package paperclip

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/protocoltest"
)

// wire joins our host's end and our worker's end.
type wire struct {
	protocoltest.Wire
	// tasks are what the worker has to handle, serving what the host has.
	tasks   []Task
	serving []protocol.Serve
}

func newWire(t *testing.T, p Plugin, s WorkerSettings) *wire {
	t.Helper()
	r := newRig(t, p, protocol.Settings{})
	w := &wire{Wire: protocoltest.Wire{T: t, Codec: codec{}, Host: r.d, Worker: NewWorker(s)}}
	w.Line = func(e protocol.Effect) string {
		switch e := e.(type) {
		case Task:
			w.tasks = append(w.tasks, e)
		case protocol.Serve:
			w.serving = append(w.serving, e)
		case protocol.Denied: // the answer says it too
		default:
			return r.line(e)
		}
		return ""
	}
	return w
}

func (w *wire) task() Task {
	w.T.Helper()
	require.NotEmpty(w.T, w.tasks)
	task := w.tasks[0]
	w.tasks = w.tasks[1:]
	return task
}

func (w *wire) start() {
	w.T.Helper()
	w.At(w.Host, protocol.Run{Step: protocol.StepSetup, Params: raw(initialize)})
	w.At(w.Worker, protocol.Reply{ID: w.task().ID})
	require.Contains(w.T, w.Says(), "ran setup ok")
}

func TestEnds_callEachOther(t *testing.T) {
	w := newWire(t, readsCompanies, WorkerSettings{})
	w.start()

	w.At(w.Host, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "tool:sum", Input: raw(`{"n":9007199254740993}`), Scope: "c"}})
	task := w.task()
	require.Equal(t, methodExecuteTool, task.Call.Key)
	require.Equal(t, "c", task.Call.Scope)
	require.Equal(t, `{"n":9007199254740993}`, string(member(task.Call.Input, "parameters")))

	asking := Asking{Invoke: protocol.Invoke{ID: 1, Call: protocol.Call{Key: "companies.get", Input: raw(`{"companyId":"c"}`)}}, Invocation: task.Invocation}
	w.At(w.Worker, asking)
	require.Len(t, w.serving, 1)
	require.Equal(t, "c", w.serving[0].Call.Scope)
	w.At(w.Host, protocol.Reply{ID: w.serving[0].ID, Result: raw(`"\ud800"`)})
	require.Equal(t, []string{`complete 1 ok "\ud800"`}, w.Says())

	w.At(w.Worker, protocol.Reply{ID: task.ID, Result: raw(`{"content":"5"}`)})
	require.Equal(t, []string{`complete 1 ok {"content":"5"}`}, w.Says())

	asking.ID = 2 // the handler's timer, when its call is over
	w.At(w.Worker, asking)
	require.Equal(t, []string{`complete 2 error Plugin "lab" is not allowed to perform "companies.get": the worker referenced a missing, expired, or unknown invocation scope`}, w.Says())
}

func TestEnds_logAndStop(t *testing.T) {
	w := newWire(t, Plugin{}, WorkerSettings{Hooks: []string{"shutdown"}})
	w.start()
	w.At(w.Worker, Telling{Emit: protocol.Emit{Event: protocol.Event{Name: "log", Payload: raw(`{"level":"warn","message":"<&>"}`)}}})
	require.Equal(t, []string{"logged WARN <&>"}, w.Says())
	w.At(w.Host, protocol.Run{Step: protocol.StepStop})
	w.At(w.Worker, protocol.Reply{ID: w.task().ID})
	require.Equal(t, []string{"ran stop ok", "ran stop ok"}, w.Says(), "one for each end")
}

func TestEnds_refuseEachOther(t *testing.T) {
	w := newWire(t, Plugin{}, WorkerSettings{})
	w.start()
	w.At(w.Host, protocol.Invoke{ID: 1, Call: protocol.Call{Key: "environment:e1.probe", Scope: "c"}})
	require.Equal(t, []string{"complete 1 error environmentProbe is not implemented by this plugin"}, w.Says())
	w.At(w.Worker, Asking{Invoke: protocol.Invoke{ID: 1, Call: protocol.Call{Key: "state.get"}}})
	require.Equal(t, []string{`complete 1 error Plugin "lab" is missing required capability "plugin.state.read" for method "state.get"`}, w.Says())
}
