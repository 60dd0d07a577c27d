package plugin

import (
	"context"
	"time"

	"github.com/airi-host/airi-host/protocol"
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
type Delivery = protocol.WebhookInput

// Webhook offers "webhook:KEY". It takes what is delivered and answers nothing.
func Webhook(to Offerer, key string, handle func(context.Context, Delivery) error, opts ...Option) {
	Handle(to, kindWebhook+key, typed(silent(handle)), opts...)
}

// HTTPRequest is a request to an HTTP endpoint of the plugin.
type HTTPRequest = protocol.HTTPInput

// HTTPResponse is the answer; its zero value is an empty one of status 200.
type HTTPResponse = protocol.HTTPResult

// HTTP offers "http:PATTERN", an endpoint. The pattern is a method and a path, in
// which a segment ":name" stands for a parameter: "GET /items/:id".
func HTTP(to Offerer, pattern string, handle func(context.Context, HTTPRequest) (HTTPResponse, error), opts ...Option) {
	Handle(to, kindHTTP+pattern, typed(handle), opts...)
}

// Public marks an endpoint as one for everybody: the host asks for no token then. It is
// for the plugin to check who asks, if that matters.
func Public() Option {
	return func(o *offer) { o.about("public", true) }
}

// Bytes is an answer of status 200 that is neither text nor JSON, e.g. a picture.
func Bytes(contentType string, data []byte) HTTPResponse {
	return HTTPResponse{
		Headers: map[string]string{"content-type": contentType, "content-transfer-encoding": "base64"},
		Body:    data, // as JSON that is base64
	}
}

// Fields are the headers or the query of a request.
type Fields = protocol.Fields

// silent is a handler whose result is null.
func silent[In any](handle func(context.Context, In) error) func(context.Context, In) (any, error) {
	return func(ctx context.Context, in In) (any, error) { return nil, handle(ctx, in) }
}
