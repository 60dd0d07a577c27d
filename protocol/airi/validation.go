package airi

import (
	"encoding/json"

	"github.com/airi-host/airi-host/protocol"
)

// What a module says of its own life: whether it takes a configuration, and that it wants
// to go back.

var (
	_ protocol.Validating = Dialect{}
	_ protocol.Heeding    = Dialect{}
)

// validateTag is the bridge's call that asks the module about a configuration, where the
// module listens to module:configuration:validate:request.
const validateTag = ControlPrefix + "validate"

type validateRequest struct {
	Identity identity        `json:"identity"`
	Current  protocol.Config `json:"current"`
}

// Validation asks with the payload of module:configuration:validate:request. A host calls
// it, since no plugin may call what is the bridge's.
func (Dialect) Validation(self protocol.Module, c protocol.Config) protocol.Call {
	input, _ := json.Marshal(validateRequest{identityOf(self), configOf(c)}) // of JSON
	return protocol.Call{Key: validateTag, Input: input}
}

// Validated reads the payload of module:configuration:validate:response. A status that is
// not valid refuses; partial is for what is only missing.
func (Dialect) Validated(result json.RawMessage, err error) (v protocol.Validation, failed error) {
	if err != nil {
		return v, err
	}
	return validatedOf(result)
}

func validatedOf(result json.RawMessage) (v protocol.Validation, failed error) {
	var said struct {
		Unheard    bool `json:"unheard"`
		Validation struct {
			Status string `json:"status"`
			problems
		} `json:"validation"`
		// Plan is a module's on a websocket, which is asked for it as well.
		Plan problems `json:"plan"`
	}
	if err := json.Unmarshal(result, &said); err != nil {
		return v, &protocol.Error{Code: protocol.CodeWire, Message: "module:configuration:validate:response: expected {validation: {status, missing?, invalid?, warnings?}}", Err: err}
	}
	if said.Unheard {
		v.Note = "it does not listen to module:configuration:validate:request"
		return v, nil
	}
	v.Asked = true
	said.Validation.into(&v)
	if said.Validation.Status != "valid" && v.Missing == nil && v.Invalid == nil {
		v.Invalid = []protocol.ConfigProblem{{Reason: "it gives no reason"}}
	}
	said.Plan.into(&v)
	return v, nil
}

// problems are what a validation and a plan have in common.
type problems struct {
	Missing  []string          `json:"missing"`
	Invalid  []invalid         `json:"invalid"`
	Warnings []json.RawMessage `json:"warnings"`
}

func (p problems) into(v *protocol.Validation) {
	v.Missing = append(v.Missing, p.Missing...)
	for _, one := range p.Invalid {
		v.Invalid = append(v.Invalid, protocol.ConfigProblem{Path: one.Path, Reason: localized(one.Reason)})
	}
	for _, one := range p.Warnings {
		v.Warnings = append(v.Warnings, localized(one))
	}
}

type invalid struct {
	Path   string          `json:"path"`
	Reason json.RawMessage `json:"reason"`
}

// localized is a text, or what stands for one that is to be translated: {key, fallback?}.
func localized(value json.RawMessage) string {
	if s, ok := text(value); ok {
		return s
	}
	var one struct{ Key, Fallback string }
	_ = json.Unmarshal(value, &one) // what is neither says nothing
	if one.Fallback != "" {
		return one.Fallback
	}
	return one.Key
}

// Wants reads module:status:change.
func (Dialect) Wants(e protocol.Event) (w protocol.Wanted, ok bool) {
	if e.Name != eventStatusChange {
		return w, false
	}
	payload, err := e.JSON()
	if err != nil || !json.Valid(payload) { // a program's may be anything
		return w, false
	}
	readMembers(payload, func(key string, value []byte) {
		switch key {
		case "phase":
			w.Phase, _ = text(value)
		case "reason":
			w.Reason, _ = text(value)
		}
	})
	return w, true
}
