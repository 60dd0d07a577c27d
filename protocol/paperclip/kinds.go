package paperclip

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// The kinds of capabilities that a worker can have.
const (
	kindTool        = "tool"
	kindAction      = "action"
	kindData        = "data"
	kindJob         = "job"
	kindWebhook     = "webhook"
	kindHTTP        = "http"
	kindEvent       = "event"
	kindEnvironment = "environment"
)

// MethodPrefix begins the key of a call that is no capability but one of the
// wire's own methods, e.g. "paperclip:health" or "paperclip:configChanged". Its
// input becomes the method's parameters as they are. They are for the host alone:
// no plugin offers one.
const MethodPrefix = "paperclip:"

// nobody stands for the agent, the run, the project and the user that this wire
// demands and that a call through this host has not.
const nobody = "airi-host"

// outgoing is a call as it goes to the worker.
type outgoing struct {
	method     string
	params     json.RawMessage
	invocation invocation
	// notification tells that there will be no answer.
	notification bool
	// adapt makes the kind's result of the answer; nil takes it as it is.
	adapt adapter
}

type adapter func(d *driver, result json.RawMessage) (json.RawMessage, error)

// target is a call that is being translated.
type target struct {
	*driver
	protocol.Call
	now time.Time
	// name is the key without its kind, company the tenant or "".
	name, company string
}

// outgoing translates a call by the kind of its key.
func (d *driver) outgoing(now time.Time, c protocol.Call) (outgoing, error) {
	if method, ok := strings.CutPrefix(c.Key, MethodPrefix); ok {
		return methodCall(method, c), nil
	}
	kind, name, _ := strings.Cut(c.Key, ":")
	t := target{driver: d, Call: c, now: now, name: name, company: strings.TrimFunc(c.Scope, protocol.IsBlank)}
	if t.company == "" {
		t.company = strings.TrimFunc(d.plugin.Company, protocol.IsBlank)
	}
	switch kind {
	case kindTool:
		return t.tool()
	case kindAction:
		return t.action()
	case kindData:
		return t.data()
	case kindJob:
		return t.job()
	case kindWebhook:
		return t.webhook()
	case kindHTTP:
		return t.http()
	case kindEvent:
		return t.event()
	case kindEnvironment:
		return t.environment()
	}
	return outgoing{}, d.settings.Fault(protocol.CodeNotFound, fmt.Sprintf(
		"%s: expected a key of one of the kinds that Paperclip workers have: tool, action, data, job, webhook, http, event, environment",
		clip(c.Key)))
}

// methodCall sends what the host gives; its company is derived as the reference
// host derives it.
func methodCall(method string, c protocol.Call) outgoing {
	params := c.Input
	if params == nil {
		params = json.RawMessage(`{}`)
	}
	o := outgoing{
		method: method, params: params,
		invocation: invocation{company: companyOf(method, params), trace: c.Trace},
	}
	if method == methodValidateConfig {
		o.adapt = rememberValid(params)
	}
	return o
}

// rememberValid notes which configuration the worker has said that it takes.
func rememberValid(params json.RawMessage) adapter {
	return func(d *driver, result json.RawMessage) (json.RawMessage, error) {
		d.valid = nil
		if truthy(member(result, "ok")) {
			d.valid = params
		}
		return result, nil
	}
}

// sent is a translated call for the target's company.
func (t *target) sent(method string, params object) outgoing {
	i := invocation{company: t.company, trace: t.Trace}
	if i.company != "" {
		cause := t.AsCause()
		cause.Scope = i.company
		i.cause = &cause
	}
	return outgoing{method: method, params: params.done(), invocation: i}
}

// Parameters around an input of this length, up to that one, are made in a buffer that
// the driver uses again.
const (
	longInput  = 4 << 10
	keptParams = 256 << 10
)

// newParams begins the parameters of a call around an input.
func (t *target) newParams(input json.RawMessage) object {
	if len(input) < longInput || len(input) > keptParams {
		return newObject()
	}
	if need := len(input) + longInput; cap(t.params) < need {
		t.params = make([]byte, 0, need)
	}
	return append(t.params[:0], '{')
}

// tool calls with {toolName, parameters, runContext}; there must be a company.
func (t *target) tool() (outgoing, error) {
	parameters, err := t.objectInput(t.Input, "as its parameters")
	if err == nil {
		err = t.needsCompany()
	}
	if err != nil {
		return outgoing{}, err
	}
	run := newObject().str("agentId", nobody).str("runId", nobody).str("companyId", t.company).str("projectId", nobody)
	return t.sent(methodExecuteTool,
		t.newParams(parameters).str("toolName", t.name).raw("parameters", parameters).raw("runContext", run.done())), nil
}

// action calls with {key, companyId?, params, actorContext?}. The plugin's handler
// is told its company by the actor alone.
func (t *target) action() (outgoing, error) {
	input, err := t.objectInput(t.Input, "{params?}")
	if err != nil {
		return outgoing{}, err
	}
	params, err := t.objectInput(member(input, "params"), "as params")
	if err != nil {
		return outgoing{}, err
	}
	o := t.newParams(params).str("key", t.name).optional("companyId", t.company).raw("params", params)
	if t.company != "" {
		null := json.RawMessage("null")
		actor := newObject().str("type", "system").raw("userId", null).raw("agentId", null).raw("runId", null)
		o = o.raw("actorContext", actor.str("companyId", t.company).done())
	}
	return t.sent(methodPerformAction, o), nil
}

// data calls with {key, companyId?, params}.
func (t *target) data() (outgoing, error) {
	params, err := t.objectInput(t.Input, "as its params")
	if err != nil {
		return outgoing{}, err
	}
	return t.sent(methodGetData, t.newParams(params).str("key", t.name).optional("companyId", t.company).raw("params", params)), nil
}

// job runs with {job}, as a run of its own. The wire knows no company of it.
func (t *target) job() (outgoing, error) {
	input, err := t.objectInput(t.Input, "{trigger?}")
	if err != nil {
		return outgoing{}, err
	}
	trigger := "manual"
	if raw := member(input, "trigger"); raw != nil {
		trigger, _ = text(raw)
	}
	switch trigger {
	case "schedule", "manual", "retry":
	default:
		return outgoing{}, t.invalid(`trigger: expected "schedule", "manual" or "retry"`)
	}
	id, due := nonBlank(member(input, "runId")), t.moment()
	if id == "" {
		id = t.newID()
	}
	if raw := member(input, "scheduledAt"); raw != nil {
		if due, err = t.momentOf(raw); err != nil {
			return outgoing{}, err
		}
	}
	job := newObject().str("jobKey", t.name).str("runId", id).str("trigger", trigger).str("scheduledAt", due)
	return outgoing{method: methodRunJob, params: newObject().raw("job", job.done()).done(), adapt: asNull}, nil
}

// webhook calls with {endpointKey, headers, rawBody, parsedBody?, requestId}. The
// wire knows no company of it.
func (t *target) webhook() (outgoing, error) {
	input, err := t.objectInput(t.Input, "{headers, rawBody, parsedBody?, requestId?}")
	if err != nil {
		return outgoing{}, err
	}
	headers, err := t.objectInput(member(input, "headers"), "as headers")
	if err != nil {
		return outgoing{}, err
	}
	body, requestID := member(input, "rawBody"), nonBlank(member(input, "requestId"))
	if body == nil {
		body = quote("")
	}
	if _, ok := text(body); !ok {
		return outgoing{}, t.invalid("rawBody: expected a string")
	}
	if requestID == "" {
		requestID = t.newID()
	}
	o := newObject().str("endpointKey", t.name).raw("headers", headers).raw("rawBody", body)
	o = o.raw("parsedBody", member(input, "parsedBody")).str("requestId", requestID)
	return outgoing{method: methodWebhook, params: o.done(), adapt: asNull}, nil
}

// event tells the worker about an event, with the envelope of the reference host's
// event bus. One without a company has "" there.
func (t *target) event() (outgoing, error) {
	payload := t.Input
	if payload == nil {
		payload = json.RawMessage("null")
	}
	actor, id := "plugin", t.Caller
	if id == "" {
		actor, id = "system", nobody
	}
	event := newObject().str("eventId", t.newID()).str("eventType", t.name).str("companyId", t.company).
		str("occurredAt", t.moment()).str("actorType", actor).str("actorId", id).raw("payload", payload)
	o := t.sent(methodOnEvent, newObject().raw("event", event.done()))
	o.notification = true
	return o, nil
}

// asNull is the result of kinds that have none.
func asNull(*driver, json.RawMessage) (json.RawMessage, error) { return json.RawMessage("null"), nil }

// moment is now as JavaScript writes it.
func (t *target) moment() string { return t.now.UTC().Format(isoTime) }

// isoTime is how JavaScript writes a time in UTC.
const isoTime = "2006-01-02T15:04:05.000Z"

// momentOf is a time that an input has.
func (t *target) momentOf(value json.RawMessage) (string, error) {
	s, _ := text(value)
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return "", t.invalid(`scheduledAt: expected a time, e.g. "2026-01-02T03:04:05Z"`)
	}
	return at.UTC().Format(isoTime), nil
}

// objectInput is an input that must be an object; an absent one is empty.
func (t *target) objectInput(value json.RawMessage, what string) (json.RawMessage, error) {
	if value == nil {
		return json.RawMessage(`{}`), nil
	}
	s := protocol.Scanner{Data: value}
	s.Space()
	if s.Peek() != '{' {
		return nil, t.invalid("expected an object " + what)
	}
	return value, nil
}

func (t *target) invalid(why string) *protocol.Error {
	return t.settings.Fault(protocol.CodeInvalid, fmt.Sprintf("the input of %s: %s", clip(t.Key), why))
}

func (t *target) needsCompany() error {
	if t.company != "" {
		return nil
	}
	return t.settings.Fault(protocol.CodeInvalid, fmt.Sprintf(
		"%s needs a company and has none: give the call a scope, or the host a default one", clip(t.Key)))
}
