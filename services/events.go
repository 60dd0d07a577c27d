package services

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/protocol"
)

const (
	eventPrefix = string(capability.KindEvent) + ":"
	// ownPrefix begins the names of what plugins emit.
	ownPrefix = "plugin."
)

// eventService serves events.emit and events.subscribe.
type eventService struct{ plugins protocol.Plugins }

// emit serves events.emit: {name, companyId, payload?} → null. The name of what a
// plugin emits begins with "plugin." and the plugin's own, for all who hear it.
func (e eventService) emit(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	name := in.text("name")
	key := eventPrefix + ownPrefix + call.Caller + "." + name
	company := in.company()
	if in.err == nil {
		in.checkEvent(name, key, company)
	}
	if in.err != nil {
		return nil, in.err
	}
	return done(e.plugins.Publish(ctx, protocol.Call{
		Key: key, Input: in.members["payload"], Scope: company, Caller: call.Caller, Trace: call.Trace, Cause: call.Cause,
	}))
}

func (p *params) checkEvent(name, key, company string) {
	switch {
	case strings.HasPrefix(name, ownPrefix):
		p.failf(`name: must not begin with "plugin.": emit the bare name, e.g. "sync-done"; the host puts "plugin.%s." before it`,
			p.call.Caller)
	case strings.Contains(name, "*"):
		p.failf(`name: must not contain "*", which stands for any name in a subscription`)
	case company == "":
		p.failf("companyId: expected a company: an event is about one")
	default:
		p.checkKey("name", key)
	}
}

// checkKey keeps what is wrong with the key of a capability.
func (p *params) checkKey(field, key string) {
	if err := capability.Key(key).Validate(); err != nil {
		p.failf("%s%s: %s", p.path, field, err)
	}
}

// subscribe serves events.subscribe: {eventPattern, filter?} → null. A plugin may
// subscribe to one pattern several times; the host hands on what any of its
// subscriptions lets through, as long as the plugin runs.
func (e eventService) subscribe(ctx context.Context, call protocol.Call) (json.RawMessage, error) {
	in := read(call)
	pattern := in.text("eventPattern")
	filter := in.filter()
	if in.err == nil {
		in.checkPattern(pattern)
	}
	if in.err != nil {
		return nil, in.err
	}
	offer := protocol.Offer{Key: eventPrefix + pattern, Invocable: true}
	if filter != (protocol.EventFilter{}) {
		offer.Metadata = encode(protocol.Subscription{Filters: []protocol.EventFilter{filter}})
	}
	return done(e.plugins.Offer(ctx, call.Caller, offer))
}

func (p *params) checkPattern(pattern string) {
	if name := strings.TrimSuffix(pattern, ".*"); strings.Contains(name, "*") || blank(name) {
		p.failf(`eventPattern: expected an event's name, or one that ends in ".*", e.g. "issue.created" or "issue.*"`)
		return
	}
	p.checkKey("eventPattern", eventPrefix+pattern)
}

// filter reads a subscription's filter. What is absent or null does not filter, and
// members that are not known do not either, as in the reference host; a blank one is
// refused, since there it would let nothing through.
func (p *params) filter() protocol.EventFilter {
	f := p.object("filter")
	field := func(name string) string {
		if f.raw(name) == nil {
			return ""
		}
		return f.text(name)
	}
	return protocol.EventFilter{
		CompanyID: trim(field("companyId")), ProjectID: field("projectId"), AgentID: field("agentId"),
	}
}
