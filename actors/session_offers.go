package actors

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/protocol"
)

// What the session offers, before its plugin runs and while it does.

// offerKnown announces what is known before the plugin runs: what a program
// declares, and what the manifest promises beside that.
func (s *session) offerKnown() {
	if p, ok := s.link.(*port); ok {
		for _, o := range p.program.Offers() {
			s.onOffered(offered{offer: o})
		}
	}
	for _, o := range s.man.Declared() {
		s.onOffered(offered{inManifest: true, offer: protocol.Offer{
			Key: string(o.Key), Invocable: o.Invocable, Description: o.Description, InputSchema: o.InputSchema, Metadata: o.Metadata,
		}})
	}
	promised := map[string]struct{}{}
	for _, key := range s.man.Host.Offers {
		if _, made := s.offers[string(key)]; !made {
			s.onOffered(offered{offer: protocol.Offer{Key: string(key)}})
			promised[string(key)] = struct{}{}
		}
	}
	s.promised = promised
}

// breakPromises withdraws what the manifest says that the plugin offers, and the
// plugin does not: nobody could call it.
func (s *session) breakPromises() {
	for _, key := range slices.Sorted(maps.Keys(s.promised)) {
		delete(s.offers, key)
		reason := "plugin " + s.h.Plugin + " did not offer it, though airi-host.offers in its manifest says so"
		s.host.registry.tell(withdrawOffer{owner: s.owner(), key: capability.Key(key), reason: reason})
		s.host.drop(s.h, "promise", key+": "+reason, 1)
	}
	s.promised = nil
}

func (s *session) onOffered(m offered) {
	defer m.gate.give()
	if s.end != living {
		reply(m.reply, errStopped(s.h.Plugin))
		return
	}
	o := m.offer
	if m.joins {
		var err error
		if o.Metadata, err = s.joined(o); err != nil {
			reply(m.reply, err)
			return
		}
	}
	schema, err := s.schemaOf(o)
	if err != nil && !m.inManifest {
		s.refuse(m, err)
		return
	}
	if err != nil {
		s.host.drop(s.h, "schema", fmt.Sprintf("the input of %s is not checked: %s", o.Key, err), 1)
	}
	if s.offers == nil {
		s.offers = map[string]struct{}{}
	}
	s.offers[o.Key], s.listed = struct{}{}, true
	delete(s.promised, o.Key)
	s.host.registry.tell(addOffer{offer: s.offerOf(o, schema), ready: s.open && s.away == "", session: s.h, reply: m.reply})
}

// maxFilters is how many subscriptions of one plugin to the same events are told
// apart.
const maxFilters = 256

// joined is the metadata of all the plugin's subscriptions to the same events: it
// hears what any of them lets through.
func (s *session) joined(o protocol.Offer) (json.RawMessage, error) {
	if capability.Key(o.Key).Kind() != capability.KindEvent {
		return o.Metadata, nil
	}
	var one protocol.Subscription
	if o.Metadata != nil {
		if err := json.Unmarshal(o.Metadata, &one); err != nil {
			return nil, fmt.Errorf("the metadata of %s: expected a subscription: %w", o.Key, err)
		}
	}
	have, subscribed := s.subscriptions[o.Key]
	switch {
	case subscribed && len(have.Filters) == 0 || len(one.Filters) == 0:
		have.Filters = nil
	case slices.Contains(have.Filters, one.Filters[0]) && len(one.Filters) == 1: // it is known
	case len(have.Filters)+len(one.Filters) > maxFilters:
		return nil, failure(protocol.CodeOverloaded, s.h.Plugin, fmt.Sprintf(
			"plugin %s has %d filtered subscriptions to %s, the limit: subscribe without a filter", s.h.Plugin, maxFilters, o.Key))
	default:
		have.Filters = append(have.Filters, one.Filters...)
	}
	if s.subscriptions == nil {
		s.subscriptions = map[string]protocol.Subscription{}
	}
	s.subscriptions[o.Key] = have
	if len(have.Filters) == 0 {
		return nil, nil
	}
	return json.Marshal(have)
}

func (s *session) offerOf(o protocol.Offer, schema *capability.Schema) capability.Offer {
	priority := o.Priority
	if priority == 0 {
		priority = s.man.Host.Priority
	}
	return capability.Offer{
		Key: capability.Key(o.Key), Owner: s.owner(), Priority: priority, Invocable: o.Invocable,
		Description: o.Description, InputSchema: o.InputSchema, Metadata: o.Metadata, Target: s.h,
		Schema: schema,
	}
}

// refuse does not take an offer, and says why to whoever made it.
func (s *session) refuse(m offered, why error) {
	err := &protocol.Error{
		Code: protocol.CodeInvalid, Plugin: s.h.Plugin,
		Message: fmt.Sprintf("plugin %s: %s: inputSchema", s.h.Plugin, m.offer.Key), Err: why,
	}
	if m.reply == nil {
		s.host.drop(s.h, "offer", err.Error(), 1)
	}
	reply(m.reply, error(err))
}

// schemaOf is what the inputs of a capability are checked against. It fails where the
// declared schema cannot be read, or describes what its kind never takes. The payloads
// of events are not checked: nobody would be told.
func (s *session) schemaOf(o protocol.Offer) (*capability.Schema, error) {
	kind := capability.Key(o.Key).Kind()
	if o.InputSchema == nil {
		return nil, nil
	}
	schema, err := capability.CompileDeclared(protocol.InputSchema(string(kind)), o.InputSchema)
	if err != nil || kind == capability.KindEvent {
		return nil, err
	}
	if unread := schema.Unchecked(); len(unread) > 0 {
		s.host.drop(s.h, "pattern", fmt.Sprintf("%s: %d regular expressions of the schema are not checked, the first at %s: "+
			"Go's have no such form", o.Key, len(unread), unread[0]), uint64(len(unread)))
	}
	return schema, nil
}

func (s *session) onRetracted(m retracted) {
	defer m.gate.give()
	if _, ok := s.offers[m.key]; !ok || s.end != living {
		reply(m.reply, error(failure(protocol.CodeNotFound, s.h.Plugin, "plugin "+s.h.Plugin+" does not offer "+m.key)))
		return
	}
	delete(s.offers, m.key)
	s.host.registry.tell(dropOffer{owner: s.owner(), key: capability.Key(m.key), reason: m.reason, reply: m.reply})
}

func (s *session) owner() capability.Owner { return s.h.owner() }

// register asks the registry for something and goes on when it is done.
func (s *session) register(what registryWork, then func()) {
	self := s.self
	s.host.registry.tell(tracked{what, func() { self.tell(registered{then}) }})
}
