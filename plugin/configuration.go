package plugin

import (
	"context"
	"encoding/json"

	"github.com/airi-host/airi-host/protocol"
)

// Validate asks the plugin, by its OnValidate, whether it would take a configuration.
func (s *Session) Validate(ctx context.Context, config json.RawMessage) (protocol.Validation, error) {
	if s.definition.validate == nil {
		return protocol.Validation{Note: "it has no hook for that"}, nil
	}
	v := protocol.Validation{Asked: true}
	for _, err := range each(s.definition.validate(s.within(ctx), s, config)) {
		v.Invalid = append(v.Invalid, protocol.ConfigProblem{Reason: err.Error()})
	}
	return v, nil
}

// statusChange is by what a module of AIRI asks for another phase.
const statusChange = "module:status:change"

type wanted struct {
	Identity identity `json:"identity"`
	Phase    string   `json:"phase"`
	Reason   string   `json:"reason,omitempty"`
}

type identity struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Plugin struct {
		ID string `json:"id"`
	} `json:"plugin"`
}

// Reconfigure asks the host for another configuration, as AIRI's modules do: until there
// is one, nothing of the plugin can be called. It does so while the plugin is ready, or
// about to be; else the host counts and passes over it. reason is for people. A worker of
// a Paperclip host cannot ask for that.
func (s *Session) Reconfigure(reason string) error { return s.want("configuration-needed", reason) }

// Reannounce asks the host to prepare the plugin anew, while it is ready: what the
// manifest requires is awaited, OnInit and OnSetup run again, with the configuration in
// force. Otherwise it is as Reconfigure.
func (s *Session) Reannounce(reason string) error { return s.want("announced", reason) }

func (s *Session) want(phase, reason string) error {
	m := s.home.Module()
	who := identity{ID: m.ID, Kind: "plugin"}
	who.Plugin.ID = m.Plugin
	return s.Send(statusChange, wanted{who, phase, reason})
}
