package airi

import (
	"fmt"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// ReservedPrefix starts the event ids that belong to the host. No module may use
// them, and none of them becomes an offer.
const ReservedPrefix = "airi-host:"

// ControlPrefix starts the event ids by which the host and the bridge talk about
// the module instead of with it.
const ControlPrefix = ReservedPrefix + "bridge:"

// BridgeProtocol numbers the control events. A bridge says in its hello which
// number it speaks; another one fails the connection.
const BridgeProtocol = 1

// The host services that every AIRI module may invoke, as the reference host
// names them. They are called like anything else that a module calls.
const (
	// ServiceCapabilityWait waits for a capability: {key, timeoutMs?} in, its
	// descriptor out.
	ServiceCapabilityWait = servicePrefix + "capabilities:wait"
	// ServiceCapabilitySnapshot lists all capabilities as descriptors.
	ServiceCapabilitySnapshot = servicePrefix + "capabilities:snapshot"
	// ServiceListProviders lists the model providers as {name}. It is a capability
	// as well, which modules wait for before they call it.
	ServiceListProviders = servicePrefix + "resources:providers:list-providers"
)

const servicePrefix = "proj-airi:plugin-sdk:apis:protocol:"

// noOffers are the starts of tags whose handlers are not offers: the host's own,
// its services (a module may answer them for itself), and the functions that
// Eventa passes as arguments, which live as long as one call.
var noOffers = []string{ReservedPrefix, servicePrefix, functionPrefix}

// functionPrefix starts the tags of functions that Eventa passes as arguments. What
// travels is {"__eventaInvoke": {"tag"}}.
const functionPrefix = "eventa-invoke-fn-"

// control takes an event of the bridge's own.
func (d *driver) control(f Frame, out []protocol.Effect) []protocol.Effect {
	if s := readStep(f); s.kind == stepReceive || s.kind == stepReceiveError {
		if s.tag == validateTag {
			return d.answered(s, f.ID, out)
		}
		return d.ran(s, f.ID, out)
	}
	said := readNotice(f.Body)
	switch strings.TrimPrefix(f.ID, ControlPrefix) {
	case "hello":
		return d.hello(said, out)
	case "handler-defined":
		return d.defined(said.tag, out)
	case "handler-removed":
		return d.removed(said.tag, out)
	case "crashed":
		return append(out, protocol.Fail{Err: d.crash(said)})
	}
	return append(out, protocol.Drop(DroppedControl, f.ID))
}

// notice is what the bridge's events carry, all of them taken together.
type notice struct {
	protocol, bridge, node string
	tag                    string
	origin                 string
	message, name, at      string
}

func readNotice(body []byte) notice {
	var n notice
	readMembers(body, func(key string, value []byte) {
		s, _ := text(value)
		switch key {
		case "protocol":
			n.protocol = string(value)
		case "bridge":
			n.bridge = s
		case "node":
			n.node = s
		case "tag":
			n.tag = s
		case "origin":
			n.origin = s
		case "message":
			n.message = s
		case "name":
			n.name = s
		case "at":
			n.at = s
		}
	})
	return n
}

func (d *driver) hello(said notice, out []protocol.Effect) []protocol.Effect {
	if said.protocol == fmt.Sprint(BridgeProtocol) {
		return out
	}
	return append(out, protocol.Fail{Err: d.settings.Fault(protocol.CodeWire, fmt.Sprintf(
		"expected a bridge that speaks version %d of the control events, got version %s (bridge %s, Node.js %s): start the bridge that came with this host",
		BridgeProtocol, clip(said.protocol), clip(said.bridge), clip(said.node)))})
}

func (d *driver) defined(tag string, out []protocol.Effect) []protocol.Effect {
	if _, known := d.offers[tag]; known {
		return out
	}
	switch {
	case len(tag) > MaxName:
		return append(out, protocol.Drop(DroppedName, tag))
	case tag == "" || len(d.offers) >= MaxOffers || isReserved(tag):
		return append(out, protocol.Drop(DroppedOffer, tag))
	}
	put(&d.offers, tag, struct{}{})
	return append(out, protocol.Offered{Offer: protocol.Offer{Key: tag, Invocable: true}})
}

func (d *driver) removed(tag string, out []protocol.Effect) []protocol.Effect {
	if _, known := d.offers[tag]; !known {
		return out
	}
	delete(d.offers, tag)
	return append(out, protocol.Retracted{Key: tag})
}

func isReserved(tag string) bool {
	for _, prefix := range noOffers {
		if strings.HasPrefix(tag, prefix) {
			return true
		}
	}
	return false
}

// crash is the reason that the bridge gave before its process ended.
func (d *driver) crash(said notice) error {
	where := ""
	if said.at != "" {
		where = " at " + clip(said.at)
	}
	return fmt.Errorf("plugin %s: %s%s: %w", d.settings.Plugin, clip(said.origin), where,
		&protocol.PeerError{Message: said.message, Name: said.name, At: said.at})
}
