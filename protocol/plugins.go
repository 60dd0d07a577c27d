package protocol

import (
	"context"
	"encoding/json"
	"log/slog"
)

// Plugins is what the host's services may ask of the plugins that run. Any goroutine
// may call it.
type Plugins interface {
	// Invoke calls a capability for the plugin named as the call's Caller, within
	// that plugin's grant to call others; outside it, it fails with CodeDenied.
	Invoke(context.Context, Call) (json.RawMessage, error)
	// Publish hands an event to all that hear it, at most once each, and returns
	// when they have been told. Each hears what one plugin publishes in the order in
	// which it was published; for calls of a plugin that does not wait in between, that
	// takes a [PublishingService]. The call's Key is "event:NAME", its Input the
	// payload, its Scope the tenant it is about and its Caller who made it.
	Publish(context.Context, Call) error
	// Offer makes a capability of a plugin known, as if the plugin had said it
	// itself: it goes when the plugin ends. It fails when the plugin does not run.
	Offer(ctx context.Context, plugin string, o Offer) error
	// Log is a plugin's own log.
	Log(plugin string) *slog.Logger
}

// Subscription is the Metadata of an Offer of an "event:PATTERN": who hears it. A
// pattern is an event's name, or ends in ".*" and stands for all names that begin
// with what is before the star, the dot included.
type Subscription struct {
	// Filters are the subscriptions of the plugin to this pattern: an event is for
	// the plugin if any of them lets it through. None lets everything through.
	Filters []EventFilter `json:"filters,omitempty"`
}

// EventFilter lets an event through whose fields are equal to those that are set.
type EventFilter struct {
	// CompanyID is compared with the tenant that the event is about.
	CompanyID string `json:"companyId,omitempty"`
	// ProjectID and AgentID are compared with the payload's members of that name.
	ProjectID string `json:"projectId,omitempty"`
	AgentID   string `json:"agentId,omitempty"`
}
