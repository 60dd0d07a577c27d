package airi

import "github.com/airi-host/airi-host/protocol"

// The payloads of the events of a module's life. The order of the fields is the
// order of the members on the reference host's channel.

// identity names a module: the generation of March 2026, kind "plugin".
type identity struct {
	ID     string         `json:"id"`
	Kind   string         `json:"kind"`
	Plugin pluginIdentity `json:"plugin"`
}

type pluginIdentity struct {
	ID string `json:"id"`
}

type authenticate struct {
	Token string `json:"token"`
}

type authenticated struct {
	Authenticated bool `json:"authenticated"`
}

// compatibilityRequest leaves out a list that was not given; an empty one that
// was given is written.
type compatibilityRequest struct {
	ProtocolVersion           string   `json:"protocolVersion"`
	APIVersion                string   `json:"apiVersion"`
	SupportedProtocolVersions []string `json:"supportedProtocolVersions,omitzero"`
	SupportedAPIVersions      []string `json:"supportedApiVersions,omitzero"`
}

type compatibilityResult struct {
	ProtocolVersion string `json:"protocolVersion"`
	APIVersion      string `json:"apiVersion"`
	Mode            string `json:"mode"`
	Reason          string `json:"reason,omitempty"`
}

type modulesSync struct {
	Modules []moduleEntry `json:"modules"`
}

type moduleEntry struct {
	Name     string   `json:"name"`
	Index    int      `json:"index"`
	Identity identity `json:"identity"`
}

type announce struct {
	Name           string   `json:"name"`
	Identity       identity `json:"identity"`
	PossibleEvents []string `json:"possibleEvents"`
}

type prepared struct {
	Identity identity `json:"identity"`
}

type needed struct {
	Identity identity `json:"identity"`
	Reason   *string  `json:"reason,omitempty"`
}

type configured struct {
	Identity identity        `json:"identity"`
	Config   protocol.Config `json:"config"`
}

type moduleStatus struct {
	Identity identity     `json:"identity"`
	Phase    string       `json:"phase"`
	Reason   *string      `json:"reason,omitempty"`
	Details  *waitDetails `json:"details,omitempty"`
}

type waitDetails struct {
	LifecyclePhase         string   `json:"lifecyclePhase"`
	RequiredCapabilities   []string `json:"requiredCapabilities"`
	UnresolvedCapabilities []string `json:"unresolvedCapabilities"`
	TimeoutMs              int64    `json:"timeoutMs"`
}
