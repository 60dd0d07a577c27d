package protocol

import (
	"context"
	"encoding/json"
	"strings"
)

// Validation is what a plugin says of a configuration that it was not given.
type Validation struct {
	// Asked tells that the plugin was asked; where it was not, Note says why.
	Asked bool   `json:"asked"`
	Note  string `json:"note,omitempty"`
	// Missing are the members that it lacks, Invalid what is wrong with those that it
	// has. Without either the plugin takes it.
	Missing []string        `json:"missing,omitempty"`
	Invalid []ConfigProblem `json:"invalid,omitempty"`
	// Warnings keep nobody from going on.
	Warnings []string `json:"warnings,omitempty"`
}

// ConfigProblem is one thing that is wrong with a configuration, in words that quote no
// value.
type ConfigProblem struct {
	// Path is the member, "" for the whole.
	Path   string `json:"path,omitempty"`
	Reason string `json:"reason"`
}

// Problems says in one line why the plugin does not take it; "" where it does.
func (v Validation) Problems() string {
	var all []string
	if len(v.Missing) > 0 {
		all = append(all, "it lacks "+strings.Join(v.Missing, ", "))
	}
	for _, one := range v.Invalid {
		if one.Path != "" {
			one.Reason = one.Path + ": " + one.Reason
		}
		all = append(all, one.Reason)
	}
	return strings.Join(all, "; ")
}

// Bounds on what a plugin says of a configuration; what is beyond them is left out.
const (
	// MaxReasons is how many members are missing or wrong, and how many warnings there
	// are.
	MaxReasons = 16
	// MaxReason is how long one text is, in bytes.
	MaxReason = 1024
)

// Bounded is v within MaxReasons and MaxReason.
func (v Validation) Bounded() Validation {
	v.Note = shortened(v.Note)
	v.Missing, v.Warnings = fewer(v.Missing), fewer(v.Warnings)
	var invalid []ConfigProblem
	for _, one := range v.Invalid[:min(len(v.Invalid), MaxReasons)] {
		invalid = append(invalid, ConfigProblem{Path: shortened(one.Path), Reason: shortened(one.Reason)})
	}
	v.Invalid = invalid
	return v
}

func fewer(texts []string) (list []string) {
	for _, text := range texts[:min(len(texts), MaxReasons)] {
		list = append(list, shortened(text))
	}
	return list
}

func shortened(text string) string {
	if len(text) <= MaxReason {
		return text
	}
	return strings.ToValidUTF8(text[:MaxReason], "") + "…"
}

// Validating is a Dialect whose plugins can be asked whether they would take a
// configuration, by a call.
type Validating interface {
	// Validation is the call by which a module is asked.
	Validation(self Module, c Config) Call
	// Validated reads what came of it. That the plugin cannot tell is no error, but
	// told by Asked; anything else that failed is.
	Validated(result json.RawMessage, err error) (Validation, error)
}

// Validator is a Port that can be asked whether it would take a configuration.
type Validator interface {
	// Validate says what is wrong with it, and changes nothing. ctx ends at the
	// deadline of the question.
	Validate(ctx context.Context, config json.RawMessage) (Validation, error)
}

// CompanyConfiguring is a Dialect whose plugins are told the configurations of single
// tenants beside their own.
type CompanyConfiguring interface {
	// CompanyConfiguration is the call that tells one.
	CompanyConfiguration(company string, c Config) Call
}

// Heeding is a Dialect in whose channel a plugin may ask for another phase, or tell that it
// has another configuration.
type Heeding interface {
	// Wants reads what an event of the plugin's asks for; ok tells whether it asks for
	// anything.
	Wants(Event) (w Wanted, ok bool)
}

// Wanted is the phase to which a plugin asks to go back, or the configuration that it has
// taken from somebody else than the host.
type Wanted struct {
	Phase, Reason string
	// Schema is what a configuration that it asks for has to be like, in its ecosystem's
	// words; nil where it does not say.
	Schema json.RawMessage
	// Config is what it has taken, its Full the whole of it; nil for a phase.
	Config *Config
}
