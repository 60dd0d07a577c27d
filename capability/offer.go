package capability

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/airi-host/airi-host/lifecycle"
)

// Owner is who offers a capability. It outlives a restart: the next session of the
// same plugin and instance owns what the last one did.
type Owner struct {
	// Plugin is the plugin's name, unique in a host.
	Plugin string `json:"plugin"`
	// Instance tells several instances of one plugin apart; "" is the only one.
	Instance string `json:"instance,omitempty"`
}

// HostOwner owns what the host itself offers. No plugin can offer anything under
// its name.
var HostOwner = Owner{Plugin: "airi-host"}

// String names the owner for people, e.g. "plugin hello" or "plugin hello, instance a".
func (o Owner) String() string {
	switch {
	case o == HostOwner:
		return "the host"
	case o.Instance == "":
		return "plugin " + o.Plugin
	default:
		return "plugin " + o.Plugin + ", instance " + o.Instance
	}
}

// validate refuses an owner that could not be named, or could be taken for the host.
func (o Owner) validate() error {
	switch o.Plugin {
	case "":
		return errors.New("an owner has no plugin name")
	case HostOwner.Plugin:
		return fmt.Errorf("plugin %s: the name is the host's own: choose another", o.Plugin)
	}
	return nil
}

// Offer is one capability as one owner offers it. Offers that the registry hands
// out share their raw JSON: read it, do not write into it.
type Offer struct {
	Key   Key   `json:"key"`
	Owner Owner `json:"owner"`
	// State is its standing. It belongs to the registry: what a caller of
	// [Registry.Offer] puts here and in the three last fields counts for nothing.
	State lifecycle.State `json:"state"`
	// Priority ranks several owners of one key; the highest wins.
	Priority int `json:"priority,omitempty"`
	// Invocable tells that it can be called; others can only be awaited.
	Invocable bool `json:"invocable"`
	// Description is for people.
	Description string `json:"description,omitempty"`
	// InputSchema is a JSON Schema for the input; nil accepts anything.
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	// Metadata is JSON for whoever asks; nil for none.
	Metadata json.RawMessage `json:"metadata,omitempty"`
	// Schema is what whoever calls checks the input against; nil for nothing. It is
	// InputSchema, compiled, and does not leave the process.
	Schema *Schema `json:"-"`
	// Target is what serves it, e.g. a live session. It means nothing here, and
	// does not leave the process.
	Target any `json:"-"`

	// Reason is why it is in its state, for people; "" if nothing is to be said.
	Reason string `json:"reason,omitempty"`
	// Revision is the registry's revision that made the offer what it is.
	Revision uint64 `json:"revision"`
	// UpdatedAt is when that was; in JSON, as ReadyAt, by RFC 3339.
	UpdatedAt time.Time `json:"updatedAt"`
	// ReadyAt is since when it is ready; zero, and not in the JSON, while it is not.
	ReadyAt time.Time `json:"readyAt,omitzero"`
}

// validate finds what would break a look-up or the JSON of the offer.
func (o *Offer) validate() error {
	if err := o.Owner.validate(); err != nil {
		return err
	}
	if err := o.Key.Validate(); err != nil {
		return fmt.Errorf("%s: %w", o.Owner, err)
	}
	if err := validateJSON("inputSchema", o.InputSchema); err != nil {
		return fmt.Errorf("%s: offer %s: %w", o.Owner, o.Key, err)
	}
	if err := validateJSON("metadata", o.Metadata); err != nil {
		return fmt.Errorf("%s: offer %s: %w", o.Owner, o.Key, err)
	}
	return nil
}

func validateJSON(field string, raw json.RawMessage) error {
	if len(raw) > 0 && !json.Valid(raw) {
		return fmt.Errorf("%s is not valid JSON: %.40q", field, raw)
	}
	return nil
}

// Descriptor is a key as the reference host shows it, one for each key. Where a key
// has several offers it is the first of them in the order of choice, so that its
// state is the best there is.
type Descriptor struct {
	Key   Key             `json:"key"`
	State lifecycle.State `json:"state"`
	// Metadata is not in the JSON when there is none.
	Metadata json.RawMessage `json:"metadata,omitempty"`
	// UpdatedAt is in milliseconds since 1970.
	UpdatedAt int64 `json:"updatedAt"`
}

// Change is what happened to one offer. It is a value that can be sent: all of it
// but the targets survives JSON, and changes applied in the order of their
// revisions make the same registry elsewhere.
type Change struct {
	// Revision is the registry's revision after the change.
	Revision uint64 `json:"revision"`
	// Before is nil for an offer that is new, After for one that was removed.
	// They are the registry's own: not to be written to.
	Before *Offer `json:"before,omitempty"`
	After  *Offer `json:"after,omitempty"`
}
