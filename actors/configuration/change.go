package configuration

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/protocol"
)

// Configuration is what a plugin is configured with.
type Configuration struct {
	Plugin string `json:"plugin"`
	// Company is whom it is for, "" for all that have none of their own.
	Company string `json:"company,omitempty"`
	// Revision counts what was kept for this plugin and company; 0 is none.
	Revision int64 `json:"revision"`
	// Source is FromStore, FromDefaults or FromNobody.
	Source string `json:"source"`
	// Value is a JSON object; {} for none. In a history null stands for the end of
	// what was kept before.
	Value json.RawMessage `json:"value"`
	// At is when it was kept.
	At time.Time `json:"at,omitzero"`
	// Warnings are what is worth knowing of a change that was committed.
	Warnings []string `json:"warnings,omitempty"`
}

// Where configurations come from.
const (
	FromStore    = "stored"
	FromDefaults = "settings"
	FromNobody   = "none"
)

// Change is what a plugin is to be configured with.
type Change struct {
	Company string `json:"company,omitempty"`
	// Value is the whole configuration or, with Patch, a JSON merge patch (RFC 7396) of
	// the one in force.
	Value json.RawMessage `json:"value,omitempty"`
	Patch bool            `json:"patch,omitempty"`
	// Unset, without a Value, ends what was kept: the Defaults are in force again.
	Unset bool `json:"unset,omitempty"`
	// Base is the revision that the change began from; nil for any.
	Base *int64 `json:"base,omitempty"`
	// Follow is told how far it is, one status at a time, before the call returns; nil
	// for nobody. It must not block.
	Follow func(actors.ConfigurationStatus) `json:"-"`
}

// Validation is what is wrong with a configuration.
type Validation struct {
	// Status is Valid, Partial or Invalid.
	Status string `json:"status"`
	protocol.Validation
}

// How a validation can end.
const (
	Valid = "valid"
	// Partial: something is missing, and nothing else is wrong.
	Partial = "partial"
	Invalid = "invalid"
)

// Plan is what a change would do. It has no value of a configuration.
type Plan struct {
	Plugin  string `json:"plugin"`
	Company string `json:"company,omitempty"`
	// Validation is that of the configuration that there would be.
	Validation Validation `json:"validation"`
	// Revision is the one in force, Next the one that there would be.
	Revision int64 `json:"revision"`
	Next     int64 `json:"next"`
	// Added, Changed and Removed are members, as JSON pointers: the innermost that
	// differ.
	Added   []string `json:"added,omitempty"`
	Changed []string `json:"changed,omitempty"`
	Removed []string `json:"removed,omitempty"`
	// Effect is when the plugin has it: Now, AtItsStart or WhenItAsks.
	Effect string `json:"effect"`
	// Session is the one that is given it, "" for none. Restart tells that the plugin is
	// started for it: a running one takes it as it is.
	Session string `json:"session,omitempty"`
	Restart bool   `json:"restart"`
	// Warnings are what else is worth knowing.
	Warnings []string `json:"warnings,omitempty"`
}

// When a plugin has a configuration.
const (
	Now        = "now"
	AtItsStart = "at-its-start"
	// WhenItAsks: it is another company's.
	WhenItAsks = "when-it-asks"
)

// maxListed is how many members of each sort a plan names.
const maxListed = 100

// next is what a change comes to: the revision to keep, and what is in force then.
func (c *Configurator) next(plugin string, change Change) (old, next Kept, err error) {
	old = c.Book.Newest(plugin, change.Company)
	next = Kept{Plugin: plugin, Company: change.Company, Revision: old.Revision + 1, SchemaVersion: 1, Value: change.Value}
	switch {
	case change.Base != nil && *change.Base != old.Revision:
		return old, next, conflict(old, *change.Base)
	case change.Unset && (change.Value != nil || change.Patch):
		return old, next, invalid(plugin, "expected either a configuration or its end, got both")
	case change.Unset && !old.stands():
		return old, next, invalid(plugin, "plugin "+plugin+" has no configuration that was kept"+ofCompany(change.Company))
	case change.Unset:
		next.Value = nothing
		return old, next, nil
	case change.Patch:
		next.Value = protocol.MergePatch(c.Book.InForce(plugin, change.Company).Value, change.Value)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(next.Value, &object); err != nil || object == nil {
		return old, next, invalid(plugin, "expected a JSON object, the configuration of plugin "+plugin)
	}
	return old, next, nil
}

func invalid(plugin, message string) error {
	return &protocol.Error{Code: protocol.CodeInvalid, Plugin: plugin, Message: message}
}

func conflict(in Kept, base int64) error {
	return &protocol.Error{Code: protocol.CodeConflict, Plugin: in.Plugin, Message: fmt.Sprintf(
		"plugin %s: configuration%s: expected revision %d as the base, found %d in force: read it again and repeat the change",
		in.Plugin, ofCompany(in.Company), base, in.Revision)}
}

func ofCompany(company string) string {
	if company == "" {
		return ""
	}
	return fmt.Sprintf(" for company %q", company)
}
