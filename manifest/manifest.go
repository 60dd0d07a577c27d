package manifest

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"

	"github.com/airi-host/airi-host/capability"
)

// The dialects that a [Manifest] can be of.
const (
	// DialectAIRI is that of Project AIRI's plugins.
	DialectAIRI = "airi"
	// DialectPaperclip is that of Paperclip's.
	DialectPaperclip = "paperclip"
	// DialectEliza is that of elizaOS's remote plugins.
	DialectEliza = "eliza"
)

// What an AIRI manifest must say of itself (the reference host's manifestV1Schema).
const (
	// APIVersionAIRI is the only apiVersion there is.
	APIVersionAIRI = "v1"
	// KindAIRI is the kind by which a JSON file is known to be a manifest.
	KindAIRI = "manifest.plugin.airi.moeru.ai"
)

// APIVersionPaperclip is the only apiVersion of Paperclip's manifests, a number there.
const APIVersionPaperclip = "1"

// Manifest describes one plugin, whichever ecosystem it was written for.
type Manifest struct {
	// Dialect says whose manifest it is: DialectAIRI, DialectPaperclip or DialectEliza.
	Dialect string
	// APIVersion and Kind are as written; Paperclip's have no Kind, elizaOS's neither.
	APIVersion string
	Kind       string
	// Name is as written, with the blanks around it; see PluginName. Paperclip and
	// elizaOS call it id. Of a Paperclip manifest that was not evaluated it is the package's name.
	Name string
	// File is the manifest's absolute path, or "" when it was made in code. For
	// Paperclip it is that of package.json.
	File string
	// Dir is the absolute path of the directory that entrypoints and a relative
	// command start from: the one that holds File. Code that makes a manifest
	// sets it when there is something to find.
	Dir string
	// Entrypoints says where the plugin's code is.
	Entrypoints Entrypoints
	// Host is the object "airi-host": what this host alone understands.
	Host HostFields
	// Paperclip is the rest of a Paperclip manifest, and nil in any other.
	Paperclip *Paperclip
	// Eliza is the rest of an elizaOS manifest, and nil in any other.
	Eliza *Eliza
}

// PluginName returns the plugin's identity: its name without the blanks around it,
// which is what the reference host makes module and plugin ids of. It is unique in
// a host.
func (m *Manifest) PluginName() string {
	return strings.TrimFunc(m.Name, isBlank)
}

// isBlank tells what String.prototype.trim removes, which differs from
// unicode.IsSpace in two characters: it takes U+FEFF and leaves U+0085.
func isBlank(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', '\u2028', '\u2029', '\ufeff':
		return true
	}
	return unicode.Is(unicode.Zs, r)
}

// Entrypoints says where a plugin's code is, by runtime. Nil is an absent member,
// which the search passes over; a pointer to "" is an empty one, which ends the
// search, as it does in the reference host.
type Entrypoints struct {
	Default  *string `json:"default,omitempty"`
	Electron *string `json:"electron,omitempty"`
	Node     *string `json:"node,omitempty"`
	Web      *string `json:"web,omitempty"`
	// Go is this host's own, "builtin:NAME": a plugin compiled into the host.
	Go *string `json:"go,omitempty"`
}

// HostFields is the object "airi-host" of a manifest. The zero value of every
// field means that the manifest says nothing and the host's default holds.
type HostFields struct {
	// Requires is what must be ready before the plugin is initialized.
	Requires capability.Requirements
	// Offers names what the plugin will offer, so that a cycle of requirements
	// can be named before any code runs.
	Offers []capability.Key
	// Command runs the plugin in place of its ecosystem's runtime; see Entry.
	Command []string
	// Configuration says whether the plugin needs one, and of which form.
	Configuration Configuration
	// Invoke lists which capabilities of others the plugin may call: key
	// patterns, in which "*" stands for any run of characters.
	Invoke []string
	// Env is what a worker's environment gets beyond the host's basics, with
	// every ${VAR} replaced. The values may be secrets: show names only.
	Env map[string]string
	// Timeouts bound what the plugin is waited for.
	Timeouts Timeouts
	// Limits bound what the plugin may occupy.
	Limits Limits
	// Scope is the tenant that the plugin's calls belong to.
	Scope string
	// Priority decides between several owners of one key; higher goes first.
	Priority int
}

// Configuration says which configuration a plugin takes.
type Configuration struct {
	// Required keeps the plugin from becoming ready before it has one.
	Required bool
	// Schema is the JSON Schema that a configuration must satisfy, an object as
	// written in the manifest, or nil.
	Schema json.RawMessage
}

// Timeouts are how long a plugin is waited for; each is above 0 and at most
// [MaxTimeout], or 0 when the manifest says nothing.
type Timeouts struct {
	// Load: until the plugin's code is there.
	Load time.Duration
	// Init: until its initialization has returned.
	Init time.Duration
	// Setup: until its modules are set up.
	Setup time.Duration
	// Stop: from the wish that it stop to its end by force.
	Stop time.Duration
	// Call: for one call, when the caller gives no deadline.
	Call time.Duration
	// Idle: for the next intermediate item of a call or for its result, when the caller
	// says nothing of it.
	Idle time.Duration
	// Capabilities: until what it requires is ready.
	Capabilities time.Duration
}

// MaxTimeout is the longest timeout that a manifest may ask for.
const MaxTimeout = time.Hour

// Limits are what a plugin may occupy; each is above 0 and at most its ceiling, or
// 0 when the manifest says nothing.
type Limits struct {
	// FrameBytes is the largest frame in bytes, at most MaxFrameBytes.
	FrameBytes int
	// PendingCalls is how many calls wait for the plugin at once, at most
	// MaxPendingCalls.
	PendingCalls int
	// LogLines is how many lines of its log are kept, at most MaxLogLines.
	LogLines int
	// Worker is what its worker process may use of the machine.
	Worker WorkerLimits
}

// The ceilings of [Limits].
const (
	MaxFrameBytes   = 128 << 20
	MaxPendingCalls = 65_536
	MaxLogLines     = 100_000
)
