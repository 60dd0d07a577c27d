package protocol

import (
	"encoding/json"
	"fmt"
	"strings"
)

// What goes in and comes out of a capability, as Go types. docs/kinds.md has the
// table of all kinds; what a value must be to pass for one of these types is in
// shapes.go. Members that are absent or null stand for nothing.

// Params is the input of tools, of data and of the hooks of environments.
type Params map[string]json.RawMessage

// Arguments is the input of services. Any other value is taken as the only argument,
// and none at all as no arguments.
type Arguments []json.RawMessage

// ToolResult is what a tool answers. A result with Error set is a failed call.
type ToolResult struct {
	// Content is for people and for models.
	Content string `json:"content,omitempty"`
	// Data is for programs; any JSON.
	Data any `json:"data,omitempty"`
	// Error is why the call failed; "" if it did not.
	Error string `json:"error,omitempty"`
}

// ActionInput is the input of an action. Params is decoded from "params", an object;
// the other members are there for callers that hold a conversation, raw. The result of
// an action is any JSON.
type ActionInput[Params any] struct {
	Params Params `json:"params"`
	// Message, State and Options are objects, Responses is an array.
	Message   json.RawMessage `json:"message,omitempty"`
	State     json.RawMessage `json:"state,omitempty"`
	Options   json.RawMessage `json:"options,omitempty"`
	Responses json.RawMessage `json:"responses,omitempty"`
}

// ProviderInput is the input of providers: the message that is being answered, and
// the state so far, both objects.
type ProviderInput struct {
	Message json.RawMessage `json:"message,omitempty"`
	State   json.RawMessage `json:"state,omitempty"`
}

// EvaluatorInput is the input of evaluators, whose result is any JSON.
type EvaluatorInput = ProviderInput

// ProviderResult is what a provider adds to a conversation.
type ProviderResult struct {
	// Text is for the prompt.
	Text string `json:"text,omitempty"`
	// Values are for templates, Data is for programs.
	Values map[string]any `json:"values,omitempty"`
	Data   map[string]any `json:"data,omitempty"`
}

// JobInput is the input of a job, which answers nothing.
type JobInput struct {
	// Trigger is one of TriggerSchedule, TriggerManual and TriggerRetry; "" is
	// TriggerManual.
	Trigger string `json:"trigger,omitempty"`
	// RunID is the run's own, ScheduledAt when it was due, as RFC 3339 has it. A host that
	// remembers runs sets both, whatever a caller says; without them a wire that wants them
	// makes them up.
	RunID       string `json:"runId,omitempty"`
	ScheduledAt string `json:"scheduledAt,omitempty"`
}

// Why a job runs.
const (
	TriggerSchedule = "schedule"
	TriggerManual   = "manual"
	TriggerRetry    = "retry"
)

// WebhookInput is what somebody sent to a webhook, which answers nothing.
type WebhookInput struct {
	Headers Fields `json:"headers"`
	// RawBody is the body as it came, for signatures; ParsedBody is the same as
	// JSON, or nil where it is none.
	RawBody    string          `json:"rawBody"`
	ParsedBody json.RawMessage `json:"parsedBody,omitempty"`
	RequestID  string          `json:"requestId"`
}

// HTTPInput is a request to an HTTP endpoint of a plugin.
type HTTPInput struct {
	// Params are the path's, by the names in the pattern.
	Params  map[string]string `json:"params"`
	Query   Fields            `json:"query"`
	Headers Fields            `json:"headers"`
	// Body is JSON, or null.
	Body json.RawMessage `json:"body"`
}

// The statuses that an endpoint may answer with: those of an answer, which what goes before
// one, from 100 to 199, is not.
const (
	LeastStatus = 200
	MostStatus  = 599
)

// HTTPResult is the answer; its zero value is an empty one of status 200.
type HTTPResult struct {
	// Status is from LeastStatus to MostStatus; 0, or none, is 200.
	Status int `json:"status,omitempty"`
	// Headers have one value each.
	Headers map[string]string `json:"headers,omitempty"`
	// Body is any JSON.
	Body any `json:"body,omitempty"`
}

// Fields are the headers or the query of a request.
type Fields map[string][]string

// Get returns the first value of a name, in whichever case it was sent, or "".
func (f Fields) Get(name string) string {
	values, ok := f[name]
	for sent := range f {
		if !ok && strings.EqualFold(sent, name) {
			values, ok = f[sent], true
		}
	}
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// UnmarshalJSON reads an object of strings and arrays of strings.
func (f *Fields) UnmarshalJSON(data []byte) error {
	var sent map[string]fieldValues
	if err := json.Unmarshal(data, &sent); err != nil {
		return err
	}
	*f = make(Fields, len(sent))
	for name, v := range sent {
		(*f)[name] = v
	}
	return nil
}

// fieldValues are the values of one field; a single one may be sent as it is.
type fieldValues []string

func (v *fieldValues) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var one string
		err := json.Unmarshal(data, &one)
		*v = fieldValues{one}
		return err
	}
	if err := json.Unmarshal(data, (*[]string)(v)); err != nil {
		return fmt.Errorf("a header or a query: expected a string or an array of strings: %w", err)
	}
	return nil
}
