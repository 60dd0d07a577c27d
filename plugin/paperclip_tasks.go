package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// The codes of this wire that a worker of this package gives by itself; for an error
// of a handler the machine has the code.
const codeWorker = -32002

// methodLog is the notification that is a line of the log.
const methodLog = "log"

// optionalMethods are the methods that a host is told the plugin has. What it offers
// later, while it runs, can be of the kinds that it offers before.
func optionalMethods(d *Definition) []string {
	methods := []string{"configChanged"} // it changes what Config tells
	for method, has := range map[string]bool{
		"shutdown":         d.hooks[protocol.StepStop] != nil || d.hasStops(),
		"validateConfig":   d.validate != nil,
		"health":           d.health != nil,
		"handleWebhook":    d.offersAny(kindWebhook),
		"handleApiRequest": d.offersAny(kindHTTP),
	} {
		if has {
			methods = append(methods, method)
		}
	}
	for _, o := range d.offers {
		if method := environmentMethod(o.Key); method != "" {
			methods = append(methods, method)
		}
	}
	return append(methods, d.routeMethods()...)
}

// handle does what a method asks for.
func (w *paperclipWorker) handle(ctx context.Context, t task) (json.RawMessage, error) {
	method, params := t.Call.Key, t.Call.Input
	switch method {
	case "executeTool":
		return w.tool(ctx, params)
	case "performAction":
		return w.action(ctx, params)
	case "getData":
		return w.data(ctx, params)
	case "onEvent":
		w.event(ctx, params)
		return nil, nil
	case "runJob":
		return w.job(ctx, params)
	case "handleWebhook":
		return w.webhook(ctx, params)
	case "handleApiRequest":
		return w.endpoint(ctx, params)
	case "initialize":
		return nil, w.initialize(ctx, params)
	case "configChanged":
		return nil, w.configChanged(ctx, params)
	case "validateConfig":
		return w.validateConfig(ctx, params)
	case "health":
		return w.health(ctx)
	case "shutdown":
		return nil, w.session.Run(ctx, protocol.StepStop)
	}
	if strings.HasPrefix(method, "environment") {
		return w.environment(ctx, method, params)
	}
	w.session.Emit(protocol.Event{Name: method, Payload: params})
	return nil, nil
}

// answer calls a handler; unknown are the SDK's words where there is none.
func (w *paperclipWorker) answer(ctx context.Context, key string, input json.RawMessage, unknown, name string) (json.RawMessage, error) {
	h := w.session.handler(key)
	if h == nil {
		return nil, fmt.Errorf("%s %q in plugin %s", unknown, name, w.session.Plugin())
	}
	return h(ctx, input)
}

func (w *paperclipWorker) tool(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	name, input := pick(params, "toolName", "parameters")
	return w.answer(ctx, kindTool+name, input, "No tool handler registered for", name)
}

func (w *paperclipWorker) data(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	key, input := pick(params, "key", "params")
	return w.answer(ctx, kindData+key, input, "No data handler registered for key", key)
}

// action calls with {params}, the kind's input.
func (w *paperclipWorker) action(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	key, given := pick(params, "key", "params")
	input := json.RawMessage(`{}`)
	if given != nil {
		input = append(append(append(make([]byte, 0, len(given)+12), `{"params":`...), given...), '}')
	}
	return w.answer(ctx, kindAction+key, input, "No action handler registered for key", key)
}

// job calls with the run, {jobKey, runId, trigger, scheduledAt}.
func (w *paperclipWorker) job(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	_, run := pick(params, "", "job")
	key, _ := pick(run, "jobKey", "")
	_, err := w.answer(ctx, kindJob+key, run, "No handler registered for job", key)
	return nil, err
}

// webhook calls with all of the parameters.
func (w *paperclipWorker) webhook(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	key, _ := pick(params, "endpointKey", "")
	_, err := w.answer(ctx, kindWebhook+key, params, "No handler registered for webhook", key)
	return nil, err
}

// endpoint calls with all of the parameters. The manifest has the method and the
// pattern of the path, by which the handler is known.
func (w *paperclipWorker) endpoint(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	key, _ := pick(params, "routeKey", "")
	return w.answer(ctx, w.known.Load().endpoint(key), params, "No handler registered for API route", key)
}

// pick takes two members out of an object: a string, "" if it is none, and a value,
// nil if there is none.
func pick(object json.RawMessage, name, rest string) (text string, value json.RawMessage) {
	protocol.EachMember(object, func(key, v []byte) {
		switch string(key) {
		case name:
			text = string(protocol.TextOf(v))
		case rest:
			value = v
		}
	})
	return text, value
}

// event calls all handlers that the event is for, one after another; one that fails
// does not keep it from the others.
func (w *paperclipWorker) event(ctx context.Context, params json.RawMessage) {
	_, event := pick(params, "", "event")
	name, payload := pick(event, "eventType", "payload")
	for _, key := range w.session.hearers(name) {
		if err := w.hear(ctx, key, payload); err != nil {
			w.log.ErrorContext(ctx, "an event handler failed", "handler", key, "event", name, "error", err)
		}
	}
}

// hear calls one handler of an event, and makes an error of its panic.
func (w *paperclipWorker) hear(ctx context.Context, key string, payload json.RawMessage) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = w.contain(ctx, key, value)
		}
	}()
	if h := w.session.handler(key); h != nil {
		_, err = h(ctx, payload)
	}
	return err
}
