package airi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// What a module on a websocket offers: the events that its announcement lists, and the
// capabilities that it contributes.

const (
	contribution             = "module:contribute:capability:"
	eventCapabilityOffer     = contribution + "offer"
	eventCapabilityActivated = contribution + "activated"
	eventCapabilityNeeded    = contribution + "configuration:needed"
	eventCapabilityConfig    = contribution + "configuration:configured"
)

// Bounds on what a contribution says of a capability.
const (
	// MaxDescription is how many bytes of a description are kept.
	MaxDescription = 4 << 10
	// MaxMetadata is how long metadata may be, in bytes; longer ones are left out, and
	// counted under [DroppedOffer].
	MaxMetadata = 16 << 10
)

// remoteOffer is a key that a module may offer.
type remoteOffer struct {
	// listed tells that its announcement has it.
	listed bool
	// contributed is the capability of that id, nil for none; active tells that it can
	// be called.
	contributed *protocol.Offer
	active      bool
}

// offer is what is offered under a key, nil for nothing.
func (o *remoteOffer) offer(key string) *protocol.Offer {
	switch {
	case o.contributed != nil && o.active:
		return o.contributed
	case o.listed:
		return &protocol.Offer{Key: key, Invocable: true}
	}
	return nil
}

// change changes what is known of a key, and says what comes of it.
func (r *remote) change(key, reason string, out []protocol.Effect, to func(*remoteOffer)) []protocol.Effect {
	o := r.offers[key]
	if o == nil {
		o = &remoteOffer{}
		put(&r.offers, key, o)
	}
	before := o.offer(key)
	to(o)
	if !o.listed && o.contributed == nil {
		delete(r.offers, key)
	}
	switch now := o.offer(key); {
	case now == nil && before != nil:
		return append(out, protocol.Retracted{Key: key, Reason: reason})
	case now != nil && !reflect.DeepEqual(now, before):
		return append(out, protocol.Offered{Offer: *now})
	}
	return out
}

// unfit is what a key is dropped under that cannot be offered, "" for one that can.
func (r *remote) unfit(key string) string {
	switch {
	case len(key) > MaxName:
		return DroppedName
	case isBlank(key) || isReserved(strings.TrimPrefix(key, eventKey)) || r.offers[key] == nil && len(r.offers) >= MaxOffers:
		return DroppedOffer
	}
	return ""
}

// announced takes the list of events that the module sends and hears: each can be called
// by Eventa, and is delivered when others send it.
func (r *remote) announced(n Note, out []protocol.Effect) []protocol.Effect {
	var said struct {
		PossibleEvents []string `json:"possibleEvents"`
	}
	if err := json.Unmarshal(n.Data, &said); err != nil {
		out = append(out, protocol.Drop(DroppedControl, NoteAnnounced+": "+err.Error()))
	}
	keys := listedKeys(said.PossibleEvents)
	out = r.unlist(keys, out)
	for _, key := range keys[:min(len(keys), MaxOffers)] {
		out = r.list(key, out)
	}
	if len(keys) > MaxOffers {
		out = append(out, protocol.Drop(DroppedOffer, fmt.Sprintf("%d more events than are offered", (len(keys)-MaxOffers)/2)))
	}
	r.life.announced = true
	return r.goOn(out)
}

// listedKeys are what the events of an announcement are offered as.
func listedKeys(names []string) (keys []string) {
	seen := make(map[string]bool)
	for _, name := range names {
		if !seen[name] && !IsServers(name) && !isBlank(name) {
			seen[name] = true
			keys = append(keys, name, eventKey+name)
		}
	}
	return keys
}

// unlist retracts what an announcement has no more.
func (r *remote) unlist(keys []string, out []protocol.Effect) []protocol.Effect {
	listed := make(map[string]bool)
	for _, key := range keys {
		listed[key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(r.offers)) {
		if r.offers[key].listed && !listed[key] {
			out = r.change(key, "it is announced without it", out, func(o *remoteOffer) { o.listed = false })
		}
	}
	return out
}

func (r *remote) list(key string, out []protocol.Effect) []protocol.Effect {
	if what := r.unfit(key); what != "" {
		return append(out, protocol.Drop(what, key))
	}
	return r.change(key, "", out, func(o *remoteOffer) { o.listed = true })
}

// contributed takes what the module says of a capability.
func (r *remote) contributed(n Note, out []protocol.Effect) []protocol.Effect {
	id, reason := textMember(n.Data, "capabilityId"), reasonOf(n.Data)
	switch n.Rest {
	case eventCapabilityOffer:
		return r.contributes(member(n.Data, "capability"), out)
	case eventCapabilityActivated:
		switch string(member(n.Data, "active")) {
		case "true":
			return r.activate(id, true, "", out)
		case "false":
			return r.activate(id, false, reason, out)
		}
		return append(out, protocol.Drop(DroppedControl, n.Rest+" "+id))
	case eventCapabilityNeeded:
		return r.activate(id, false, reason, out)
	case eventCapabilityConfig:
		return r.activate(id, true, "", out)
	}
	return out
}

// contributes takes a capability. One that has to be configured is offered when it is.
func (r *remote) contributes(capability json.RawMessage, out []protocol.Effect) []protocol.Effect {
	key := textMember(capability, "id")
	if what := r.unfit(key); what != "" {
		return append(out, protocol.Drop(what, key))
	}
	offer := &protocol.Offer{Key: key, Invocable: true, Description: textMember(capability, "description")}
	if offer.Description == "" {
		offer.Description = textMember(capability, "name")
	}
	offer.Description = protocol.Cut(offer.Description, MaxDescription)
	switch metadata := member(capability, "metadata"); {
	case len(metadata) > MaxMetadata:
		out = append(out, protocol.Drop(DroppedOffer, key+": its metadata are longer than what is kept"))
	case len(metadata) > 0 && metadata[0] == '{':
		offer.Metadata = bytes.Clone(metadata)
	}
	configured := isNothing(member(capability, "configSchema"))
	return r.change(key, "", out, func(o *remoteOffer) { o.contributed, o.active = offer, o.active || configured })
}

// activate takes it that a capability can be called, or cannot.
func (r *remote) activate(id string, active bool, reason string, out []protocol.Effect) []protocol.Effect {
	if o := r.offers[id]; o == nil || o.contributed == nil {
		return append(out, protocol.Drop(DroppedControl, "a capability that was not offered: "+id))
	}
	return r.change(id, reason, out, func(o *remoteOffer) { o.active = active })
}

// isOwn tells a step of a call of what the module offers itself. Of an event others hear, too.
func (r *remote) isOwn(event string) bool {
	tag, kind := cutSuffix(event, sendSuffixes)
	switch kind {
	case stepSend, stepSendEnd, stepSendError:
		o := r.offers[tag]
		return o != nil && o.offer(tag) != nil && !strings.HasPrefix(tag, eventKey)
	default: // the end of one that has begun before
		return false
	}
}
