package client

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/airi-host/airi-host/protocol"
)

// What is offered: Eventa's keys are in the announcement, what has a kind is contributed.

// kinds are those of capabilities; "event" is what is heard.
var kinds = append(protocol.Kinds(), "event")

func isContributed(key string) bool {
	kind, _, has := strings.Cut(key, ":")
	return has && slices.Contains(kinds, kind)
}

// isListed tells of a key whether it stands in the announcement.
func (c *Client) isListed(key string) bool { return !c.negotiates || !isContributed(key) }

// events are what the announcement lists. AIRI's own server hears no contributions, so that
// all is listed there.
func (c *Client) events() []string {
	list := []string{}
	for _, key := range c.order {
		if c.isListed(key) {
			list = append(list, strings.TrimPrefix(key, "event:"))
		}
	}
	return list
}

// keep notes an offer, and tells whether there was none of its key.
func (c *Client) keep(o protocol.Offer) (added bool) {
	if _, known := c.offers[o.Key]; !known {
		c.order = append(c.order, o.Key)
		added = true
	}
	c.offers[o.Key] = o
	return added
}

// offer takes an offer, which others hear of once the module is set up.
func (c *Client) offer(o protocol.Offer, out []Effect) []Effect {
	added := c.keep(o)
	switch {
	case c.phase != announced:
		return out
	case added && c.isListed(o.Key):
		return c.sayAnnounce(out)
	case c.life.setUp:
		return c.sayOffer(o, out)
	}
	return out
}

func (c *Client) retract(key string, out []Effect) []Effect {
	if _, known := c.offers[key]; !known {
		return out
	}
	delete(c.offers, key)
	c.order = slices.DeleteFunc(c.order, func(k string) bool { return k == key })
	switch {
	case c.phase != announced:
		return out
	case c.isListed(key):
		return c.sayAnnounce(out)
	}
	return c.say("module:contribute:capability:activated",
		c.about(field{"capabilityId", key}, field{"active", false}, field{"reason", "it is withdrawn"}), "", out)
}

func (c *Client) tellOffer(o protocol.Offer, out []Effect) []Effect {
	if c.phase != announced {
		return out
	}
	return c.sayOffer(o, out)
}

// sayOffer contributes a capability. Of what its offer has the wire knows no priority and
// no schema, which are among the metadata.
func (c *Client) sayOffer(o protocol.Offer, out []Effect) []Effect {
	if !isContributed(o.Key) {
		return out
	}
	return c.say("module:contribute:capability:offer", c.about(field{"capability", struct {
		ID          string          `json:"id"`
		Description string          `json:"description,omitempty"`
		Metadata    json.RawMessage `json:"metadata,omitempty"`
	}{o.Key, o.Description, metadataOf(o)}}), "", out)
}

func metadataOf(o protocol.Offer) json.RawMessage {
	about := map[string]any{}
	_ = json.Unmarshal(o.Metadata, &about) // an object, or nothing
	if o.Priority != 0 {
		about["priority"] = o.Priority
	}
	if o.InputSchema != nil {
		about["inputSchema"] = o.InputSchema
	}
	if len(about) == 0 {
		return nil
	}
	return encoded(about)
}
