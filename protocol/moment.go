package protocol

import (
	"encoding/json"
	"time"
)

// Moment is a point in a session's life that its ecosystem may have words for on
// the plugin's own channel. Only the fields that belong to What are set.
type Moment struct {
	What MomentKind
	// Self identifies the session's module.
	Self Module
	// Token is what the module authenticates with (MomentAuthenticating).
	Token string
	// Asked and Result are the negotiation's two sides (MomentNegotiated).
	Asked  VersionRequest
	Result VersionResult
	// Modules are all that the host knows (MomentSynced).
	Modules []Module
	// Reason says why (MomentFailed, MomentDegraded, MomentConfigurationNeeded).
	Reason string
	// AtStart tells that the host asked for configuration while it started the
	// session, not later (MomentConfigurationNeeded).
	AtStart bool
	// Required, Unresolved and Timeout describe a wait (MomentWaiting).
	Required, Unresolved []string
	Timeout              time.Duration
	// Config is the configuration in force (MomentCommitted, MomentConfigured).
	Config Config
}

// MomentKind names a Moment.
type MomentKind uint8

// The moments, in the order of a life.
const (
	MomentAuthenticating MomentKind = iota + 1
	MomentAuthenticated
	MomentNegotiated
	MomentSynced
	MomentAnnounced
	MomentPreparing
	MomentWaiting
	MomentPrepared
	MomentConfigurationNeeded
	MomentConfigured
	MomentReady
	MomentDegraded
	MomentRecovered
	MomentFailed
	// MomentCommitted is that somebody gives the session another configuration: it comes
	// before MomentConfigured.
	MomentCommitted
)

// Module is one module as the host lists it.
type Module struct {
	// Name is the manifest's, as written.
	Name string
	// Index counts sessions from 0 over the host's life.
	Index int
	// ID is unique in the host, e.g. "hello-0"; Plugin is the trimmed name.
	ID, Plugin string
}

// VersionRequest is what one side speaks, most wanted first.
type VersionRequest struct {
	Protocol, API                   string
	SupportedProtocol, SupportedAPI []string
}

// VersionResult is what a negotiation came to.
type VersionResult struct {
	Protocol, API string
	// Mode is "exact", "downgraded" or "rejected"; Reason is set when rejected.
	Mode, Reason string
}

// Config is one configuration of one plugin. In a JSON document absent parts are
// left out.
type Config struct {
	ID            string          `json:"configId"`
	Revision      int64           `json:"revision"`
	SchemaVersion int64           `json:"schemaVersion"`
	Source        string          `json:"source,omitempty"`
	Full          json.RawMessage `json:"full,omitempty"`
	Patch         json.RawMessage `json:"patch,omitempty"`
	BaseRevision  *int64          `json:"baseRevision,omitempty"`
}
