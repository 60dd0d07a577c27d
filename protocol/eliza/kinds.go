package eliza

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// nobody stands for the ids that elizaOS wants and that a call through this host has
// not: of the entity that speaks and of the room that it speaks in.
const nobody = "airi-host"

// adapter makes the kind's result of the answer; nil takes it as it is.
type adapter func(d *driver, result json.RawMessage) (json.RawMessage, error)

// outgoing translates a call by what its key was announced as.
func (d *driver) outgoing(c protocol.Call) (outgoing, error) {
	if strings.HasPrefix(c.Key, RawPrefix) && c.Caller == "" {
		if o, ok := rawCall(c); ok {
			return o, d.ready(c.Key)
		}
	}
	if err := d.ready(c.Key); err != nil {
		return outgoing{}, err
	}
	t, ok := d.targets[c.Key]
	if !ok {
		return outgoing{}, d.settings.Fault(protocol.CodeNotFound, fmt.Sprintf("%s: plugin %s has announced no such thing",
			protocol.Clip(c.Key), d.settings.Plugin))
	}
	if !isAbsent(c.Input) && t.wantsObject() && !isObject(c.Input) {
		return outgoing{}, d.settings.Fault(protocol.CodeInvalid, fmt.Sprintf("the input of %s: expected an object, got %s",
			protocol.Clip(c.Key), typeOf(c.Input)))
	}
	return t.outgoing(c.Input), nil
}

// ready tells why the plugin cannot be called yet, or never.
func (d *driver) ready(key string) error {
	switch {
	case d.isReady:
		return nil
	case d.failed != nil:
		e := d.settings.Fault(protocol.CodeNotReady, protocol.Clip(key)+" was not called: its plugin's start has failed")
		e.Err = d.failed
		return e
	}
	return d.settings.Fault(protocol.CodeNotReady, protocol.Clip(key)+" was not called: its plugin is not initialized")
}

func (t target) wantsObject() bool {
	return t.surface == surfaceAction || t.surface == surfaceProvider || t.surface == surfaceEvaluator || t.surface == surfaceRoute
}

// outgoing is a call of the target with a kind's input.
func (t target) outgoing(input json.RawMessage) outgoing {
	o := outgoing{surface: t.surface, ids: t.ids}
	switch t.surface {
	case surfaceAction:
		o.args, o.adapt, o.takesCallback = actionArgs(input), t.asActionResult, true
	case surfaceProvider:
		o.args, o.adapt = turnArgs(input), t.asProviderResult
	case surfaceEvaluator:
		o.args, o.adapt = turnArgs(input), asItIs
	case surfaceModel:
		o.args, o.adapt, o.streams = newSized(len(input)).raw("params", or(input, isNull)).done(), asItIs, true
	case surfaceService:
		o.args, o.adapt = newSized(len(input)).raw("args", arguments(input)).done(), asItIs
	case surfaceEvent:
		o.args, o.adapt = or(input, isNull), asNull
	case surfaceRoute:
		o.args, o.adapt = newObject().raw("ctx", t.context(input)).done(), t.asResponse
	}
	if t.isValidate {
		o.args, o.adapt, o.takesCallback = turnArgs(input), asTruth, false
	}
	return o
}

// actionArgs are {message, state, options, responses}: the message is made of
// params.text where there is none, and the options are the params.
func actionArgs(input json.RawMessage) json.RawMessage {
	in := turnOf(input)
	return newSized(len(input)).
		raw("message", in.messageOf()).
		raw("state", or(in.state, json.RawMessage(`{}`))).
		raw("options", or(in.options, or(in.params, isNull))).
		raw("responses", or(in.responses, isNull)).done()
}

// turn are the members of what actions, providers and evaluators are given.
type turn struct{ params, message, state, options, responses json.RawMessage }

func turnOf(input json.RawMessage) (t turn) {
	protocol.EachMember(input, func(key, value []byte) {
		switch string(key) {
		case "params":
			t.params = value
		case "message":
			t.message = value
		case "state":
			t.state = value
		case "options":
			t.options = value
		case "responses":
			t.responses = value
		}
	})
	return t
}

// turnArgs are {message, state}.
func turnArgs(input json.RawMessage) json.RawMessage {
	in := turnOf(input)
	return newSized(len(input)).raw("message", in.messageOf()).raw("state", or(in.state, json.RawMessage(`{}`))).done()
}

func (t turn) messageOf() json.RawMessage {
	if !isAbsent(t.message) {
		return t.message
	}
	words := member(t.params, "text")
	if _, ok := text(words); !ok {
		words = quote("")
	}
	content := newObject().raw("text", words).str("source", nobody).done()
	return newObject().str("entityId", nobody).str("roomId", nobody).raw("content", content).done()
}

// arguments are an array; anything else is the only one.
func arguments(input json.RawMessage) json.RawMessage {
	switch typeOf(input) {
	case "an array":
		return input
	case "nothing":
		return json.RawMessage(`[]`)
	}
	return append(append(json.RawMessage{'['}, input...), ']')
}

// context is what an endpoint's handler is given.
func (t target) context(input json.RawMessage) json.RawMessage {
	empty := json.RawMessage(`{}`)
	return newObject().str("method", t.method).str("path", t.path).
		raw("params", or(member(input, "params"), empty)).raw("query", or(member(input, "query"), empty)).
		raw("headers", or(member(input, "headers"), empty)).raw("body", or(member(input, "body"), isNull)).done()
}

func asItIs(_ *driver, result json.RawMessage) (json.RawMessage, error) { return result, nil }

// asNull is the result of kinds that have none.
func asNull(*driver, json.RawMessage) (json.RawMessage, error) { return isNull, nil }

// asTruth is what a validate answers.
func asTruth(_ *driver, result json.RawMessage) (json.RawMessage, error) {
	if truthy(result) {
		return isTrue, nil
	}
	return isFalse, nil
}

// actionMembers are what an action's result may have, and of which type; others are
// passed on as they are.
var actionMembers = map[string]string{
	"success": "a boolean", "text": "a string", "userFacingText": "a string", "verifiedUserFacing": "a boolean",
	"values": "an object", "data": "an object", "continueChain": "a boolean",
}

// asActionResult holds an action's result to what it must be: null, or an object with
// success.
func (t target) asActionResult(d *driver, result json.RawMessage) (json.RawMessage, error) {
	if typeOf(result) == "null" {
		return result, nil
	}
	if !isObject(result) {
		return nil, t.wrong(d, "", "an object with success, or null", result)
	}
	var err error
	succeeds := false
	protocol.EachMember(result, func(key, value []byte) {
		wanted, isKnown := actionMembers[string(key)]
		succeeds = succeeds || string(key) == "success"
		switch {
		case err != nil:
		case isKnown && typeOf(value) != wanted:
			err = t.wrong(d, "."+string(key), wanted, value)
		case string(key) == "error" && !isReason(value):
			err = t.wrong(d, ".error", "a string, or an object with a message", value)
		}
	})
	if !succeeds {
		return nil, t.wrong(d, ".success", "a boolean", nil)
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// isReason tells whether a value says why an action failed.
func isReason(value json.RawMessage) bool {
	_, ok := text(member(value, "message"))
	return ok || typeOf(value) == "a string"
}

// asProviderResult holds a provider's result to being an object.
func (t target) asProviderResult(d *driver, result json.RawMessage) (json.RawMessage, error) {
	if !isObject(result) {
		return nil, t.wrong(d, "", "an object", result)
	}
	return result, nil
}

// asResponse is the worker's {status, headers?, body?} with all three in it, and
// nothing else.
func (t target) asResponse(d *driver, result json.RawMessage) (json.RawMessage, error) {
	if !isObject(result) {
		return nil, t.wrong(d, "", "an object with status", result)
	}
	status, headers := member(result, "status"), or(member(result, "headers"), json.RawMessage(`{}`))
	if !isWhole(status) {
		return nil, t.wrong(d, ".status", "a whole number", status)
	}
	if !isObject(headers) {
		return nil, t.wrong(d, ".headers", "an object of strings", headers)
	}
	var err error
	protocol.EachMember(headers, func(key, value []byte) {
		if typeOf(value) != "a string" && err == nil {
			err = t.wrong(d, ".headers."+string(key), "a string", value)
		}
	})
	if err != nil {
		return nil, err
	}
	return newObject().raw("status", status).raw("headers", headers).raw("body", or(member(result, "body"), isNull)).done(), nil
}

// isWhole tells whether a value is a number without a fraction.
func isWhole(value json.RawMessage) bool {
	if typeOf(value) != "a number" {
		return false
	}
	digits, err := appendNumber(nil, value)
	return err == nil && !strings.ContainsAny(string(digits), ".e")
}

// wrong is a result of another form than its kind has.
func (t target) wrong(d *driver, at, wanted string, got json.RawMessage) error {
	return d.settings.Fault(protocol.CodeWire, fmt.Sprintf("%s %s of plugin %s: result%s: expected %s, got %s",
		t.surface, protocol.Clip(t.name), d.settings.Plugin, protocol.Clip(at), wanted, typeOf(got)))
}
