package manifest

import (
	"bytes"
	_ "embed" // for the schema's text
	"encoding/json"
	"time"
)

// Settings are what whoever runs a host has decided about it: the file
// airi-host.json. The zero value of every field means that the file says nothing and
// the host's default holds.
type Settings struct {
	// Scope is the tenant of calls that name none.
	Scope string
	// Companies are the tenants for which plugins may act of their own accord,
	// outside of a call.
	Companies []string
	// Secrets are where secrets are, by their ids.
	Secrets map[string]Secret
	// HTTP is about plugins' requests.
	HTTP HTTPSettings
	// Grants are about plugins for which none are listed here; Audit about what is kept of
	// denials and deeds.
	Grants GrantSettings
	Audit  AuditSettings
	// Endpoints are about what is asked of plugins over HTTP.
	Endpoints EndpointSettings
	// Telemetry is about where plugins' spans and events are sent to.
	Telemetry TelemetrySettings
	// Plugins are about single plugins, by their names.
	Plugins map[string]PluginSettings
	// Restart says what follows when a plugin crashes.
	Restart RestartSettings
	// Limits are what all plugins may occupy; a manifest's beat them.
	Limits HostLimits
	// Timeouts are how long plugins are waited for; a manifest's beat them.
	Timeouts HostTimeouts
	// Logs are about the files of plugins' logs.
	Logs LogFileSettings
	// StartLimit is how long the start of all plugins may take before it is reported.
	StartLimit time.Duration
	// Watch says when plugins whose files change are reloaded.
	Watch WatchSettings
	// Drain is how long plugins may take to stop when the host does.
	Drain time.Duration
	// Listen says where the running host is asked over HTTP.
	Listen ListenSettings
	// Websocket is about AIRI's peers that connect there.
	Websocket WebsocketSettings
	// Log is about what is logged on standard error.
	Log LogSettings
	// Runtimes are the programs that run plugins.
	Runtimes RuntimeSettings
	// Stop says how patiently a worker process is ended.
	Stop StopSettings
	// Workers are about the worker processes of all plugins.
	Workers WorkerSettings
	// Manifests are about how manifests are read.
	Manifests ReadingSettings
	// API is what those who ask the running host may make it hold.
	API APISettings
	// State is what one plugin may keep as its state, Store what all keep on the disk.
	State StateSettings
	Store StoreSettings
	// Jobs are about the jobs that run by their schedules.
	Jobs JobSettings
	// Folders bound what plugins do in the folders that are declared for them.
	Folders FolderLimits
	// Services are what single plugins may ask of the host.
	Services ServiceSettings
	// Routes bound plugins' terminals, channels, logs of commands and event streams.
	Routes RouteSettings
	// Queues are what waits in the command line that runs the host.
	Queues QueueSettings
}

// Secret says where a secret is, and who may have it. It is not read here.
type Secret struct {
	// Env names the variable of the host's environment that holds it, File is the
	// absolute path of the file that does. Exactly one of them is set.
	Env, File string
	// Plugins and Companies are who may have it; none stands for all.
	Plugins, Companies []string
}

// HTTPSettings are about the requests that the host makes for plugins.
type HTTPSettings struct {
	// Allow is what may be reached although it is private, as written; see
	// [SettingsOptions.CheckAddress].
	Allow []string
	// MaxBody is how long a body may be, in bytes, at most [MaxFrameBytes].
	MaxBody int
	// Timeout is for all of a request, DNSTimeout for the look-up of a name.
	Timeout, DNSTimeout time.Duration
	// Redirects is how many are followed, at most MaxRedirects; nil is the default, 0
	// follows none.
	Redirects *int
	// AtOnce is how many requests of one plugin run at a time.
	AtOnce int
}

// PluginSettings are about one plugin.
type PluginSettings struct {
	// Config is its configuration, an object as written, or nil.
	Config json.RawMessage
	// Companies are the configurations that stand in place of Config for a tenant.
	Companies map[string]json.RawMessage
	// Grants are what it is permitted, of what it asks for (see [Manifest.Grants]),
	// whatever was approved. An empty list that is not nil stands for nothing; nil leaves
	// it to what was approved.
	Grants []string
	// Limits are what its worker may use of the machine.
	Limits WorkerLimits
	// Folders are those of this machine that it may use, by the keys that it asks for.
	Folders map[string]Folder
	// Sign has the host sign what it calls of an elizaOS worker, with a key that it leaves
	// in the plugin's state directory.
	Sign bool
}

// ConfigFor returns the configuration for a tenant, or without one for "": the
// tenant's own, whole, where there is one. Nil is for none.
func (p PluginSettings) ConfigFor(company string) json.RawMessage {
	if config, ok := p.Companies[company]; ok {
		return config
	}
	return p.Config
}

// WorkerLimits are what a worker process and its descendants may use.
type WorkerLimits struct {
	// MemoryBytes is at least [MinMemoryBytes].
	MemoryBytes int64
	// Processes counts threads as well.
	Processes int
	// CPUTime is of each process by itself, a second at least.
	CPUTime time.Duration
}

// RestartSettings say what follows when a plugin crashes.
type RestartSettings struct {
	// Base is the pause after the first crash, Max the longest one.
	Base, Max time.Duration
	// Stable is how long a plugin has to be ready for its crashes to be forgiven.
	Stable time.Duration
	// Jitter is by which share of itself a pause may be shorter or longer, from 0
	// to 1, or nil.
	Jitter *float64
	// GiveUp is how many crashes in a row are followed by a restart.
	GiveUp int
	// Disabled gives a plugin up at its first crash.
	Disabled bool
}

// HostLimits are what a plugin may make the host hold.
type HostLimits struct {
	Limits
	// Facts is how many offers, made and taken back, may wait for a plugin's session
	// before the host stops reading from it, at most MaxFacts.
	Facts int
	// StreamItems is how many items of one call's stream, in one direction, may wait
	// for whoever takes them, at most MaxStreamItems; StreamBytes how many bytes they
	// may have, beside one item, at most [MaxFrameBytes].
	StreamItems, StreamBytes int
	// Events is how many events may wait for a subscriber, at most MaxEvents;
	// EventBytes how many bytes they may have, beside one event, at most
	// [MaxFrameBytes].
	Events, EventBytes int
	// OwedFrames and OwedBytes are what may wait for a plugin that reads too slowly and
	// has to be sent all the same: answers to what it asked, the steps of its life.
	OwedFrames, OwedBytes int
	// PhaseRequests is how often a plugin's session may ask within a minute to be prepared
	// or configured anew.
	PhaseRequests int
	// ChannelEvents is how many events may wait for a compiled-in plugin's slow listener.
	ChannelEvents int
	// CallDepth is how many calls there may be one within the other, at most MaxCallDepth.
	CallDepth int
	// CollectedItems and CollectedBytes are what is collected of one stream of an AIRI
	// module for a caller who does not follow it, CollectedTotal of all of one module's, in
	// bytes.
	CollectedItems, CollectedBytes, CollectedTotal int
}

// The bounds of settings.
const (
	MaxFacts       = 65_536
	MaxStreamItems = 65_536
	MaxEvents      = 65_536
	MaxCallDepth   = 64
	// MinMemoryBytes is less than any worker starts with.
	MinMemoryBytes = 1 << 20
	// MaxProcesses is as many as Linux has.
	MaxProcesses = 4_194_304
	// MaxGiveUp keeps the count of crashes one that ends.
	MaxGiveUp = 1_000_000
	// MaxCPUTime is a year.
	MaxCPUTime = 365 * 24 * time.Hour
)

// SettingsOptions say how settings are read. The zero value works.
type SettingsOptions struct {
	// CheckAddress tells what is wrong with an address of "http".allow; nil takes
	// every text.
	CheckAddress func(entry string) error
	// CheckTelemetry tells what is wrong with "telemetry".endpoint, without quoting it; nil
	// takes every text.
	CheckTelemetry func(endpoint string) error
	// CheckProgram tells what is wrong with the program at "runtimes".node; nil takes every
	// absolute path.
	CheckProgram func(path string) error
}

// ParseSettings reads what a file of settings holds; file is its name in problems. It
// reports every problem at once, with its line and column, and returns settings exactly
// when there is none.
// Nothing that the settings name is read, but by those checks. No problem repeats what stands where a
// secret might: in place of a secret's variable or file, or in a configuration.
func ParseSettings(file string, data []byte, opts SettingsOptions) (*Settings, Problems) {
	r := &reader{file: file}
	text := bytes.TrimPrefix(data, byteOrderMark)
	root, err := decode(text, func(at fieldPath, start int) {
		r.add(at, "appears twice: keep one of them")
		r.locateLast(placeOf(text, start))
	})
	if err != nil {
		return nil, Problems{placed(file, err)}
	}
	s := &Settings{}
	settingsShape.read(r, "", root, s)
	r.checkAddresses(root, opts)
	r.checkTelemetry(root, opts)
	r.checkProgram(root, opts)
	if problems := r.all(); len(problems) > 0 {
		locate(problems, text, root)
		return nil, problems
	}
	return s, nil
}

//go:embed settings.schema.json
var settingsSchema []byte

// SettingsSchema returns the JSON Schema (draft 2020-12) of [Settings].
func SettingsSchema() []byte { return bytes.Clone(settingsSchema) }
