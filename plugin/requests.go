package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Run is one run of a job. Under a host that has no schedule only Trigger is set.
type Run struct {
	// Trigger is "schedule", "manual" or "retry".
	Trigger string `json:"trigger"`
	// ID is the run's own, ScheduledAt when it was due.
	ID          string    `json:"runId"`
	ScheduledAt time.Time `json:"scheduledAt"`
}

// Job offers "job:KEY", work that the host starts: by a schedule in the manifest,
// or when it is asked to.
func Job(to Offerer, key string, handle func(context.Context, Run) error, opts ...Option) {
	Handle(to, kindJob+key, typed(silent(handle)), opts...)
}

// Delivery is what somebody sent to a webhook.
type Delivery struct {
	Headers Fields `json:"headers"`
	// RawBody is the body as it came, for signatures; ParsedBody is the same as
	// JSON, or nil where it is none.
	RawBody    string          `json:"rawBody"`
	ParsedBody json.RawMessage `json:"parsedBody,omitempty"`
	RequestID  string          `json:"requestId"`
}

// Webhook offers "webhook:KEY". It takes what is delivered and answers nothing.
func Webhook(to Offerer, key string, handle func(context.Context, Delivery) error, opts ...Option) {
	Handle(to, kindWebhook+key, typed(silent(handle)), opts...)
}

// HTTPRequest is a request to an HTTP endpoint of the plugin.
type HTTPRequest struct {
	// Params are the path's, by the names in the pattern.
	Params  map[string]string `json:"params"`
	Query   Fields            `json:"query"`
	Headers Fields            `json:"headers"`
	// Body is JSON, or null.
	Body json.RawMessage `json:"body"`
}

// HTTPResponse is the answer; its zero value is an empty one of status 200.
type HTTPResponse struct {
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    any               `json:"body,omitempty"`
}

// HTTP offers "http:PATTERN", an endpoint. The pattern is a method and a path, in
// which a segment ":name" stands for a parameter: "GET /items/:id".
func HTTP(to Offerer, pattern string, handle func(context.Context, HTTPRequest) (HTTPResponse, error), opts ...Option) {
	Handle(to, kindHTTP+pattern, typed(handle), opts...)
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
	var sent map[string]values
	if err := json.Unmarshal(data, &sent); err != nil {
		return err
	}
	*f = make(Fields, len(sent))
	for name, v := range sent {
		(*f)[name] = v
	}
	return nil
}

// values are the values of one field; a single one may be sent as it is.
type values []string

func (v *values) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var one string
		err := json.Unmarshal(data, &one)
		*v = values{one}
		return err
	}
	if err := json.Unmarshal(data, (*[]string)(v)); err != nil {
		return fmt.Errorf("a header or a query: expected a string or an array of strings: %w", err)
	}
	return nil
}

// silent is a handler whose result is null.
func silent[In any](handle func(context.Context, In) error) func(context.Context, In) (any, error) {
	return func(ctx context.Context, in In) (any, error) { return nil, handle(ctx, in) }
}
