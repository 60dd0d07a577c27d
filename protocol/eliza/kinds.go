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

// targetOf finds what a call's key was announced as, and looks whether it takes the input.
func (d *driver) targetOf(c *protocol.Call) (*target, error) {
	if strings.HasPrefix(c.Key, RawPrefix) && c.Caller == "" {
		if t := rawTarget(c.Key); t != nil {
			return t, d.ready(c.Key)
		}
	}
	if err := d.ready(c.Key); err != nil {
		return nil, err
	}
	t := d.targets[c.Key]
	if t == nil {
		return nil, d.settings.Fault(protocol.CodeNotFound, fmt.Sprintf("%s: plugin %s has announced no such thing",
			protocol.Clip(c.Key), d.settings.Plugin))
	}
	if t.wantsObject() && !isAbsent(c.Input) && !isObject(c.Input) {
		return nil, d.settings.Fault(protocol.CodeInvalid, fmt.Sprintf("the input of %s: expected an object, got %s",
			protocol.Clip(c.Key), typeOf(c.Input)))
	}
	return t, nil
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

func (t *target) wantsObject() bool {
	return t.surface == surfaceAction || t.surface == surfaceProvider || t.surface == surfaceEvaluator || t.surface == surfaceRoute
}

// takesCallback tells whether it may say something while it runs.
func (t *target) takesCallback() bool { return t.surface == surfaceAction && !t.isValidate && !t.isRaw }

// appendArgs appends the args of a call with a kind's input.
func (t *target) appendArgs(dst []byte, input json.RawMessage) json.RawMessage {
	switch {
	case t.isRaw && input == nil:
		return append(dst, isNull...)
	case t.isRaw:
		return append(dst, input...)
	case t.isValidate:
		return appendTurn(dst, turnOf(input))
	}
	switch t.surface {
	case surfaceAction:
		return appendAction(dst, turnOf(input))
	case surfaceProvider, surfaceEvaluator:
		return appendTurn(dst, turnOf(input))
	case surfaceModel:
		return append(append(append(dst, `{"params":`...), or(input, isNull)...), '}')
	case surfaceService:
		return append(append(append(dst, `{"args":`...), arguments(input)...), '}')
	case surfaceRoute:
		return append(append(append(dst, `{"ctx":`...), t.context(input)...), '}')
	}
	return append(dst, or(input, isNull)...) // an event's payload
}

// result makes the kind's result of an answer.
func (t *target) result(d *driver, result json.RawMessage) (json.RawMessage, error) {
	switch {
	case t.isRaw:
		return result, nil
	case t.isValidate:
		return asTruth(result), nil
	}
	switch t.surface {
	case surfaceAction:
		return t.asActionResult(d, result)
	case surfaceProvider:
		return t.asProviderResult(d, result)
	case surfaceEvent: // which has none
		return isNull, nil
	case surfaceRoute:
		return t.asResponse(d, result)
	}
	return result, nil
}

// appendAction appends {message, state, options, responses}: the message is made of
// params.text where there is none, and the options are the params.
func appendAction(dst []byte, in turn) []byte {
	dst = appendTurn(dst, in)
	dst = append(dst[:len(dst)-1], `,"options":`...)
	dst = append(append(dst, or(in.options, or(in.params, isNull))...), `,"responses":`...)
	return append(append(dst, or(in.responses, isNull)...), '}')
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

// appendTurn appends {message, state}.
func appendTurn(dst []byte, in turn) []byte {
	dst = append(append(dst, `{"message":`...), in.messageOf()...)
	dst = append(append(dst, `,"state":`...), or(in.state, isEmpty)...)
	return append(dst, '}')
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
func (t *target) context(input json.RawMessage) json.RawMessage {
	empty := json.RawMessage(`{}`)
	return newObject().str("method", t.method).str("path", t.path).
		raw("params", or(member(input, "params"), empty)).raw("query", or(member(input, "query"), empty)).
		raw("headers", or(member(input, "headers"), empty)).raw("body", or(member(input, "body"), isNull)).done()
}

// asTruth is what a validate answers.
func asTruth(result json.RawMessage) json.RawMessage {
	if truthy(result) {
		return isTrue
	}
	return isFalse
}

// actionMember is what a member of an action's result must be, "" for one that is passed on
// as it is.
func actionMember(name []byte) (wanted string) {
	switch string(name) {
	case "success", "verifiedUserFacing", "continueChain":
		return "a boolean"
	case "text", "userFacingText":
		return "a string"
	case "values", "data":
		return "an object"
	}
	return ""
}

// asActionResult holds an action's result to what it must be: null, or an object with
// success.
func (t *target) asActionResult(d *driver, result json.RawMessage) (json.RawMessage, error) {
	if typeOf(result) == "null" {
		return result, nil
	}
	if !isObject(result) {
		return nil, t.wrong(d, "", "an object with success, or null", result)
	}
	var err error
	succeeds := false
	protocol.EachMember(result, func(key, value []byte) {
		wanted := actionMember(key)
		succeeds = succeeds || string(key) == "success"
		switch {
		case err != nil:
		case wanted != "" && typeOf(value) != wanted:
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
func (t *target) asProviderResult(d *driver, result json.RawMessage) (json.RawMessage, error) {
	if !isObject(result) {
		return nil, t.wrong(d, "", "an object", result)
	}
	return result, nil
}

// asResponse is the worker's {status, headers?, body?} with all three in it, and
// nothing else.
func (t *target) asResponse(d *driver, result json.RawMessage) (json.RawMessage, error) {
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
func (t *target) wrong(d *driver, at, wanted string, got json.RawMessage) error {
	return d.settings.Fault(protocol.CodeWire, fmt.Sprintf("%s %s of plugin %s: result%s: expected %s, got %s",
		t.surface, protocol.Clip(t.name), d.settings.Plugin, protocol.Clip(at), wanted, typeOf(got)))
}
