package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/eliza"
)

// take begins a task of the host's. Events are heard one at a time.
func (w *elizaWorker) take(e eliza.Task) {
	t := task{Serve: e.Serve, isValidate: e.IsValidate, invocation: string(e.Within)}
	if e.Follows && strings.HasPrefix(e.Call.Key, kindModel) {
		t.ctx, w.leaving[e.ID] = context.WithCancel(w.ctx) //nolint:gosec // handle calls it
	}
	if strings.HasPrefix(e.Call.Key, kindEvent) {
		w.begin(t, &w.events)
		return
	}
	w.begin(t, nil)
}

// flow takes what an action says, and the parts of a model's answer. Whether somebody
// listens to an action the wire does not tell.
func (w *elizaWorker) flow(t task) *flow {
	return &flow{
		progress: func(item json.RawMessage) error { return w.report(t, item) },
		collects: strings.HasPrefix(t.Call.Key, kindAction),
	}
}

func (w *elizaWorker) report(t task, item json.RawMessage) error {
	ctx := t.ctx
	if ctx == nil {
		ctx = w.ctx
	}
	if w.out.room(ctx); ctx.Err() != nil {
		return ctx.Err()
	}
	w.step(protocol.Report{ID: t.ID, Item: item})
	w.out.flush(false)
	return nil
}

// handle does a task.
func (w *elizaWorker) handle(ctx context.Context, t task) (json.RawMessage, error) {
	defer w.done(t)
	key := t.Call.Key
	if t.isValidate {
		key += validates
	}
	h := w.session.handler(key)
	if h == nil {
		return nil, fmt.Errorf("plugin %s has no handler for %s any more", w.pluginName(), key)
	}
	input := t.Call.Input
	if !t.isValidate && strings.HasPrefix(key, kindAction) {
		input = actionInput(input)
	}
	result, err := h(ctx, input)
	switch {
	case err != nil || t.isValidate:
	case strings.HasPrefix(key, kindAction):
		result = actionResult(result)
	case strings.HasPrefix(key, kindHTTP):
		result = httpResult(result)
	}
	return result, err
}

// done forgets how a task is left.
func (w *elizaWorker) done(t task) {
	if t.ctx == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leaving[t.ID]()
	delete(w.leaving, t.ID)
}

// actionInput is what the kind takes, of {message, state, options, responses}: the options
// are the parameters as well. What is null is not there.
func actionInput(args json.RawMessage) json.RawMessage {
	input := append(make(json.RawMessage, 0, 2*len(args)+16), '{')
	add := func(name string, value []byte) {
		if len(input) > 1 {
			input = append(input, ',')
		}
		input = append(append(append(input, '"'), name...), '"', ':')
		input = append(input, value...)
	}
	protocol.EachMember(args, func(key, value []byte) {
		if string(value) == "null" {
			return
		}
		switch name := string(key); name {
		case "options":
			if isObject(value) {
				add("params", value)
			}
			add(name, value)
		case "message", "state", "responses":
			add(name, value)
		}
	})
	return append(input, '}')
}

// actionResult is what elizaOS takes of an action: null, or an object with success. One
// without it gets it; what its other members do not allow, and what is no object, becomes
// data.result.
func actionResult(result json.RawMessage) json.RawMessage {
	if len(result) == 0 || string(result) == "null" {
		return json.RawMessage(`null`)
	}
	succeeds, fits := false, isObject(result)
	protocol.EachMember(result, func(key, value []byte) {
		succeeds = succeeds || string(key) == "success"
		fits = fits && fitsAction(string(key), value)
	})
	switch {
	case !fits:
		return slices.Concat(json.RawMessage(`{"success":true,"data":{"result":`), result, json.RawMessage(`}}`))
	case succeeds:
		return result
	}
	rest := strings.TrimSpace(string(result))[1:]
	if strings.TrimSpace(rest) == "}" {
		return json.RawMessage(`{"success":true}`)
	}
	return json.RawMessage(`{"success":true,` + rest)
}

// fitsAction tells whether a member of an action's result is as elizaOS has it.
func fitsAction(name string, value json.RawMessage) bool {
	first := byte(0)
	s := protocol.Scanner{Data: value}
	if s.Space(); s.Pos < len(value) {
		first = value[s.Pos]
	}
	switch name {
	case "success", "verifiedUserFacing", "continueChain":
		return first == 't' || first == 'f'
	case "text", "userFacingText":
		return first == '"'
	case "values", "data":
		return first == '{'
	case "error":
		message, _ := pick(value, "message", "")
		return first == '"' || first == '{' && message != ""
	}
	return true
}

// httpResult is an answer with the status that elizaOS wants.
func httpResult(result json.RawMessage) json.RawMessage {
	var status json.RawMessage
	if _, status = pick(result, "", "status"); status != nil || !isObject(result) {
		return result
	}
	rest := strings.TrimSpace(string(result))[1:]
	if strings.TrimSpace(rest) == "}" {
		return json.RawMessage(`{"status":200}`)
	}
	return json.RawMessage(`{"status":200,` + rest)
}
