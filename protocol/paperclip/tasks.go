package paperclip

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/airi-host/airi-host/protocol"
)

// requested takes a request of the host's: it is a task, or answered at once.
func (w *Worker) requested(r Request, out []protocol.Effect) []protocol.Effect {
	if m, ok := routeMethods[r.Method]; ok && w.settings.Routes && w.hooks[r.Method] {
		return w.routeRequested(m, r, out)
	}
	if answer, done := w.direct(r); done {
		out = append(out, protocol.Send{Message: answer})
		if r.Method == methodShutdown {
			out = w.stop(out)
		}
		return out
	}
	if r.Method == methodInitialize {
		w.initializing = true
		w.guard.config = member(r.Params, "config")
	}
	return w.task(r.ID, r.Method, r.Params, r.Invocation, out)
}

// direct answers what needs nobody of the plugin's: what is refused, and the hooks
// that have a default.
func (w *Worker) direct(r Request) (answer Response, done bool) {
	switch {
	case !known(r.Method):
		return refusal(r.ID, codeMethodNotFound, "Unknown method: "+quotable(r.Method)), true
	case r.Method == methodInitialize && (w.initialized || w.initializing):
		return refusal(r.ID, codeWorker, "Worker already initialized"), true
	case len(w.tasks) >= w.settings.pending():
		return refusal(r.ID, codeUnavailable, fmt.Sprintf(
			"%d calls are in flight, the limit: call %s again later", w.settings.pending(), r.Method)), true
	case r.Method == methodConfigChanged:
		if why := w.guard.change(r.Params, w.settings.MultiCompany); why != "" {
			return refusal(r.ID, codeCrossTenant, why), true
		}
	}
	if slices.Contains(always, r.Method) || w.hooks[r.Method] {
		return Response{}, false
	}
	switch r.Method {
	case methodHealth:
		return success(r.ID, json.RawMessage(`{"status":"ok"}`)), true
	case methodShutdown, methodConfigChanged:
		return success(r.ID, nil), true
	}
	return refusal(r.ID, codeNotImplemented, r.Method+" is not implemented by this plugin"), true
}

// notified takes a notification of the host's. The SDK knows two, and neither
// means anything without parameters.
func (w *Worker) notified(n Notification, out []protocol.Effect) []protocol.Effect {
	means := n.Method == methodOnEvent || n.Method == methodSessionEvent
	if !means || !truthy(n.Params) {
		return append(out, protocol.Drop(DroppedNotification, n.Method))
	}
	if len(w.tasks) >= w.settings.pending() {
		return append(out, protocol.Drop(DroppedEvent, n.Method))
	}
	return w.task(nil, n.Method, n.Params, n.Invocation, out)
}

func (w *Worker) task(id json.RawMessage, method string, params, invocation json.RawMessage, out []protocol.Effect) []protocol.Effect {
	w.lastTask++
	own, _ := text(member(invocation, "id"))
	w.tasks[w.lastTask] = pending{id: id, method: method, invocation: own}
	trace, _ := text(member(invocation, "traceparent"))
	return append(out, Task{
		Serve: protocol.Serve{ID: w.lastTask, Follows: method == methodExecute, Call: protocol.Call{
			Key: method, Input: params, Trace: trace,
			Scope: nonBlank(member(member(invocation, "scope"), "companyId")),
		}},
		Invocation: own,
	})
}

// reply answers a task. A failed initialize may be tried again.
func (w *Worker) reply(in protocol.Reply, out []protocol.Effect) []protocol.Effect {
	t, ok := w.tasks[in.ID]
	if !ok {
		return out
	}
	delete(w.tasks, in.ID)
	if t.method == methodInitialize {
		w.initializing, w.initialized = false, in.Err == nil
		in.Result = w.supported()
	}
	switch {
	case t.id == nil:
		return out
	case in.Err != nil:
		return append(out, protocol.Send{Message: failure(t.id, in.Err, workerEnd)})
	}
	out = append(out, protocol.Send{Message: success(t.id, in.Result)})
	if t.method == methodShutdown {
		return w.stop(out)
	}
	return out
}

// stop ends the worker in good order, behind its answer to shutdown. Like the
// SDK's it does not wait for other tasks.
func (w *Worker) stop(out []protocol.Effect) []protocol.Effect {
	w.stopped = true
	out = w.end(nil, out)
	return append(out, protocol.Ran{Step: protocol.StepStop})
}
