package eliza

import (
	"encoding/json"
	"fmt"

	"github.com/airi-host/airi-host/protocol"
)

// called takes a call of the host's. The checks come in the reference's order: the
// signature, the target, its surface, the grants.
func (w *Worker) called(r RPC, out []protocol.Effect) []protocol.Effect {
	if w.signer != nil {
		switch {
		case !w.signer.verify(r):
			return w.unsigned(r, DroppedUnsigned, "Worker RPC message MAC missing or invalid", out)
		case !w.replays.take(r.RequestID):
			return w.unsigned(r, DroppedReplay, "Worker RPC message came before, or is too old", out)
		}
	}
	target, surface := textOf(r.Target), textOf(r.Surface)
	h, known := w.handlers.byID[target]
	_, isText := text(r.Target)
	switch {
	case !known || !isText:
		return append(out, refused(r, refusal(nameUnknown,
			fmt.Sprintf("No handler registered for %s:%s", cut(surface), cut(target)), codeUnknown)))
	case h.surface != surface:
		return append(out, refused(r, refusal(nameMismatch, fmt.Sprintf(
			"RPC surface %s does not match registered handler surface %s for target %s", cut(surface), h.surface, cut(target)), codeMismatch)))
	}
	return w.granted(r, h, target, out)
}

// unsigned refuses a call that is not taken for one of the host's.
func (w *Worker) unsigned(r RPC, what, why string, out []protocol.Effect) []protocol.Effect {
	audit(w.settings.Denied, Denial{Plugin: w.settings.Plugin.Name, Surface: cut(textOf(r.Surface)), Target: cut(textOf(r.Target)), Reason: why})
	return append(out, protocol.Drop(what, excerpt(r.RequestID)), refused(r, refusal(nameAuth, why, codeAuth)))
}

func cut(s string) string { return protocol.Cut(s, protocol.MaxExcerpt) }

// granted has a call handled, if the grants and the limit let it pass.
func (w *Worker) granted(r RPC, h handler, target string, out []protocol.Effect) []protocol.Effect {
	if wanted, allowed := w.grants.Surface(h.surface); !allowed {
		audit(w.settings.Denied, Denial{Plugin: w.settings.Plugin.Name, Surface: h.surface, Target: target, Permission: wanted})
		return append(out, protocol.Drop(DroppedDenied, target), refused(r, refusal(nameDenied, fmt.Sprintf(
			"Plugin %s not granted permission for surface %s", w.settings.Plugin.Name, h.surface), codeDenied)))
	}
	if h.surface != surfaceEvent && isAbsent(r.Args) {
		return append(out, refused(r, refusal("TypeError", fmt.Sprintf("the args of %s: expected an object, got %s", target, typeOf(r.Args)), "")))
	}
	if len(w.tasks) >= w.pending() {
		return append(out, refused(r, wireError(&protocol.Error{Code: protocol.CodeOverloaded, Message: fmt.Sprintf(
			"%d calls are being handled, the limit: call %s again later", w.pending(), target)})))
	}
	return append(out, w.task(r, h))
}

// task begins a task.
func (w *Worker) task(r RPC, h handler) Task {
	w.lastTask++
	one := task{id: protocol.KeptID(r.RequestID, len(r.Args))}
	if h.surface == surfaceAction && !h.isValidate {
		one.callback, _ = text(member(r.Args, "callbackId"))
	}
	one.streams = h.surface == surfaceModel && r.StreamReply
	w.tasks[w.lastTask] = one
	return Task{
		Serve: protocol.Serve{
			ID: w.lastTask, Follows: one.callback != "" || one.streams,
			Call: protocol.Call{Key: h.key(), Input: h.input(r.Args)},
		},
		IsValidate: h.isValidate, Handler: h.index, Within: r.RequestID,
	}
}

// key is the key of the handler's capability.
func (h handler) key() string {
	if h.surface == surfaceRoute {
		return "http:" + h.name
	}
	return h.surface + ":" + h.name
}

// input takes what the kind takes out of the args.
func (h handler) input(args json.RawMessage) json.RawMessage {
	switch h.surface {
	case surfaceModel:
		return member(args, "params")
	case surfaceService:
		return arguments(member(args, "args"))
	case surfaceRoute:
		return member(args, "ctx")
	case surfaceAction:
		if h.isValidate || member(args, "callbackId") == nil {
			return args
		}
		return kept(args, "message", "state", "options", "responses")
	}
	return args
}

// report sends what an action says, or a part of a model's answer. Nobody hears what is
// said when the call is over.
func (w *Worker) report(in protocol.Report, out []protocol.Effect) []protocol.Effect {
	one, ok := w.tasks[in.ID]
	switch {
	case !ok || one.left:
		return append(out, protocol.Drop(DroppedCallback, excerpt(in.Item)))
	case one.callback != "":
		return append(out, protocol.Send{Message: Callback{ID: quote(one.callback), Payload: or(in.Item, isNull)}})
	case !one.streams:
		return out
	}
	if one.stream == nil {
		one.stream = streamID(workerStreams, in.ID)
		w.tasks[in.ID] = one
		out = append(out, protocol.Send{Message: Result{RequestID: one.id, OK: isTrue, StreamID: one.stream}})
	}
	return append(out, protocol.Send{Message: StreamChunk{StreamID: one.stream, Chunk: or(in.Item, isNull)}})
}

// reply answers a task.
func (w *Worker) reply(in protocol.Reply, out []protocol.Effect) []protocol.Effect {
	one, ok := w.tasks[in.ID]
	if !ok {
		return out
	}
	delete(w.tasks, in.ID)
	if one.left {
		return out
	}
	var failure json.RawMessage
	if in.Err != nil {
		failure = wireError(in.Err)
	}
	switch {
	case one.stream != nil && failure != nil:
		return append(out, protocol.Send{Message: StreamEnd{StreamID: one.stream, Error: failure}})
	case one.stream != nil:
		return append(out, protocol.Send{Message: StreamEnd{StreamID: one.stream, Value: or(in.Result, isNull)}})
	case failure != nil:
		return append(out, protocol.Send{Message: Result{RequestID: one.id, OK: isFalse, Error: failure}})
	}
	return append(out, protocol.Send{Message: Result{RequestID: one.id, OK: isTrue, Payload: or(in.Result, isNull)}})
}

// refused answers a call that is not handled.
func refused(r RPC, why json.RawMessage) protocol.Send {
	return protocol.Send{Message: Result{RequestID: r.RequestID, OK: isFalse, Error: why}}
}
