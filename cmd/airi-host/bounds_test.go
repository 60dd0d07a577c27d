package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/manifest/evaluate"
	"github.com/airi-host/airi-host/services"
	"github.com/airi-host/airi-host/transport/process"
)

// reach says which setting each field of some options comes from, and why there is none
// for others.
type reach struct {
	// of makes the options of settings.
	of func(*settings) any
	// settings are the paths of settings, by field.
	settings map[string]string
	// none are the fields without a setting, each with its reason.
	none map[string]string
}

const (
	wired    = "is wired by the command line, and no limit"
	byOthers = "is an object of its own here"
)

var noManifest = func(string) *manifest.Manifest { return nil }

// reached are all options that bound a host. Whoever adds a field to one of them adds
// its setting here, and in manifest/settings.schema.json.
var reached = map[string]reach{
	"actors.Options": {
		func(s *settings) any {
			b := s.bounds(false)
			return actors.Options{Timeouts: b.Timeouts, Limits: b.Limits, Ladder: b.Ladder, Restart: b.Restart}
		},
		nil,
		map[string]string{
			"ID": wired, "Version": wired, "Owner": wired, "Log": wired, "LogEvents": wired, "Dialects": wired, "Programs": wired,
			"Launch": wired, "Services": wired, "Methods": wired, "Observe": wired, "Versions": wired,
			"MayInvoke": wired, "Denied": wired, "Trace": wired, "Memory": wired, "Unstarted": wired,
			"Runtime":  "only Node.js runs plugins here: runtimes.node says which",
			"Timeouts": byOthers, "Limits": byOthers, "Ladder": byOthers, "Restart": byOthers,
		},
	},
	"actors.Timeouts": {
		func(s *settings) any { return s.bounds(false).Timeouts },
		map[string]string{
			"Load": "timeouts.load", "Init": "timeouts.init", "Setup": "timeouts.setup", "Stop": "timeouts.stop", "Drain": "timeouts.drain",
			"Call": "timeouts.call", "Idle": "timeouts.idle", "Capabilities": "timeouts.capabilities",
			"RouteExit": "routes.exitTimeout",
		},
		nil,
	},
	"actors.Limits": {
		func(s *settings) any { return s.bounds(false).Limits },
		map[string]string{
			"Pending": "limits.pendingCalls", "LogLines": "limits.logLines", "Facts": "limits.facts", "Frame": "limits.frameBytes",
			"StreamItems": "limits.streamItems", "StreamBytes": "limits.streamBytes", "Events": "limits.events", "EventBytes": "limits.eventBytes",
			"OwedFrames": "limits.owedFrames", "OwedBytes": "limits.owedBytes", "ChannelEvents": "limits.channelEvents",
			"PhaseRequests": "limits.phaseRequests", "CallDepth": "limits.callDepth",
			"RouteChunks": "routes.chunks", "RouteBytes": "routes.bytes",
		},
		nil,
	},
	"actors.RestartPolicy": {
		func(s *settings) any { return s.bounds(false).Restart },
		map[string]string{
			"First": "restart.base", "Max": "restart.max", "Jitter": "restart.jitter", "Stable": "restart.stable",
			"MaxInARow": "restart.giveUp", "Disabled": "restart.disabled",
		},
		map[string]string{"Random": "is for tests"},
	},
	"process.Ladder": {
		func(s *settings) any { return s.bounds(false).Ladder },
		map[string]string{"CloseStdin": "stop.closeInput", "Term": "stop.term", "Kill": "stop.kill"},
		nil,
	},
	"process.Spec": {
		func(s *settings) any {
			var spec process.Spec
			s.bind(&spec, &manifest.Manifest{Name: "hello"})
			return spec
		},
		map[string]string{
			"QueueRecords": "workers.queueFrames", "QueueBytes": "workers.queueBytes", "ExitGrace": "workers.exitGrace",
			"DrainIdle": "workers.drainIdle", "DrainMost": "workers.drainMost", "Cgroup": "workers.cgroup",
		},
		map[string]string{
			"Plugin": wired, "Path": wired, "Args": wired, "Dir": wired, "Env": wired, "Wire": wired, "Owner": wired, "Log": wired, "Ended": wired,
			"Reach":     "is as far as the system lets it",
			"Adopt":     "is for a host that is PID 1, which knows that",
			"MaxRecord": "actors sets it, from limits.frameBytes", "Limits": byOthers, "Traces": byOthers,
		},
	},
	"process.Traces": {
		func(s *settings) any {
			var spec process.Spec
			s.bind(&spec, &manifest.Manifest{Name: "hello"})
			return spec.Traces
		},
		map[string]string{
			"Lines": "workers.traceLines", "Bytes": "workers.traceBytes", "Line": "workers.traceLine", "Pause": "workers.tracePause", "Most": "workers.traceMost",
		},
		nil,
	},
	"airi.Collecting": {
		func(s *settings) any { return s.policy().Collecting },
		map[string]string{"Items": "limits.collectedItems", "Bytes": "limits.collectedBytes", "Total": "limits.collectedTotal"},
		nil,
	},
	"logs.Options": {
		func(s *settings) any { return s.logFiles(nil) },
		map[string]string{
			"MaxBytes": "logs.maxBytes", "Files": "logs.files", "Total": "logs.total", "Queue": "logs.queue", "QueueBytes": "logs.queueBytes",
			"Retry": "logs.retry", "MaxRetry": "logs.maxRetry",
		},
		map[string]string{"Log": wired},
	},
	"otlp.Options": {
		func(s *settings) any { return s.telemetry(nil) },
		map[string]string{
			"Endpoint": "telemetry.endpoint", "Queue": "telemetry.queue", "Batch": "telemetry.batch", "Interval": "telemetry.interval", "Timeout": "telemetry.timeout",
		},
		map[string]string{"Headers": "telemetry.headers says where they are", "Version": wired, "Instance": wired, "Log": wired},
	},
	"ends": {
		func(s *settings) any {
			e := s.ends()
			return struct{ Front, Logs, Telemetry, Output time.Duration }{e.front, e.logs, e.telemetry, e.output}
		},
		map[string]string{"Front": "api.drain", "Logs": "logs.drain", "Telemetry": "telemetry.drain", "Output": "queues.drain"},
		nil,
	},
	"process.Limits": {
		func(s *settings) any { return s.worker(&manifest.Manifest{Name: "hello"}) },
		map[string]string{
			"MemoryBytes": "plugins.hello.limits.memoryBytes", "Processes": "plugins.hello.limits.processes", "CPUTime": "plugins.hello.limits.cpuTime",
		},
		nil,
	},
	"process.Limits of all": {
		func(s *settings) any { return s.worker(&manifest.Manifest{Name: "hello"}) },
		map[string]string{"MemoryBytes": "limits.memoryBytes", "Processes": "limits.processes", "CPUTime": "limits.cpuTime"},
		nil,
	},
	"manifest.Options": {
		func(s *settings) any { return s.manifests() },
		map[string]string{"MaxBytes": "manifests.fileBytes", "MaxFiles": "manifests.entries"},
		map[string]string{"Runtime": wired, "Lookup": wired, "Evaluate": wired, "Builtins": wired},
	},
	"evaluate.Node": {
		func(s *settings) any {
			return &evaluate.Node{Deadline: s.Manifests.Evaluation, Program: s.Runtimes.Node}
		},
		map[string]string{"Deadline": "manifests.evaluation", "Program": "runtimes.node"},
		nil,
	},
	"admin.Limits": {
		func(s *settings) any { return s.api() },
		map[string]string{
			"Requests": "api.requests", "Followers": "api.followers", "Connections": "api.connections", "FollowLines": "api.followLines",
			"FollowBytes": "api.followBytes", "LogBytes": "api.logBytes", "History": "api.history", "Body": "api.bodyBytes", "Command": "api.command", "HeaderBytes": "api.headerBytes",
			"HeaderTime": "api.headerTimeout", "BodyTime": "api.bodyTimeout", "AnswerTime": "api.answerTimeout", "IdleTime": "api.idleTimeout",
		},
		nil,
	},
	"admin.Endpoints": {
		func(s *settings) any { return s.endpoints() },
		map[string]string{
			"Body": "endpoints.maxBody", "Time": "endpoints.timeout", "Each": "endpoints.requests", "All": "endpoints.all", "Closed": "endpoints.closed",
		},
		nil,
	},
	"audit.Options": {
		func(s *settings) any { return s.audit(nil) },
		map[string]string{
			"Queue": "audit.queue", "Kinds": "audit.kinds", "Plugins": "audit.plugins", "Window": "audit.window", "MaxWindow": "audit.maxWindow", "Write": "audit.write",
		},
		map[string]string{"Log": wired},
	},
	"watch.Options": {
		func(s *settings) any { return s.watch() },
		map[string]string{
			"Debounce": "watch.debounce", "MaxWait": "watch.maxWait", "Directories": "watch.directories", "PerMinute": "watch.reloadsPerMinute", "Ignore": "watch.ignore",
		},
		map[string]string{"Log": wired},
	},
	"services.Options": {
		func(s *settings) any {
			return (&paperclip{st: &state{configs: configurations{settings: s}}, manifestOf: noManifest}).options(s)
		},
		map[string]string{"Activities": "services.activities"},
		map[string]string{
			"Config": wired, "Store": wired, "Entities": wired, "Auditor": wired, "Telemetry": wired, "Metrics": wired + ": services.series bounds it",
			"Secrets": byOthers, "HTTP": byOthers, "Folders": byOthers, "Eliza": byOthers,
		},
	},
	"services.Eliza": {
		func(s *settings) any {
			return (&paperclip{st: &state{configs: configurations{settings: s}}, manifestOf: noManifest}).options(s).Eliza
		},
		map[string]string{
			"ProviderTimeout": "services.providerTimeout", "Composing": "services.states",
			"StateTimeout": "services.stateTimeout", "StateBytes": "services.stateBytes",
		},
		nil,
	},
	"services.HTTP": {
		func(s *settings) any { return s.http() },
		map[string]string{
			"Allowed": "http.allow", "Timeout": "http.timeout", "DNSTimeout": "http.dnsTimeout", "MaxRequest": "http.maxBody", "MaxResponse": "http.maxBody",
			"MaxRedirects": "http.redirects", "MaxConcurrent": "http.atOnce",
		},
		map[string]string{"Resolver": "is the system's", "RootCAs": "are the system's"},
	},
	"services.Folders": {
		func(s *settings) any {
			f := s.folders(noManifest)
			if _, ok := f.Declared("hello", "acme", "notes"); !ok {
				f.Declared = nil
			}
			return f
		},
		map[string]string{
			"Declared": "plugins.hello.folders.notes.path", "FileBytes": "folders.fileBytes", "Files": "folders.files", "Bytes": "folders.bytes", "AtOnce": "folders.atOnce",
		},
		nil,
	},
	"services.Folder": {
		func(s *settings) any {
			f, _ := s.folders(noManifest).Declared("hello", "acme", "notes")
			return f
		},
		map[string]string{"Path": "plugins.hello.folders.notes.path", "ReadOnly": "plugins.hello.folders.notes.readOnly"},
		map[string]string{"Directories": "the plugin's manifest says them", "Files": "the plugin's manifest says them"},
	},
	"services.Secrets": {
		func(s *settings) any {
			secrets := s.secrets()
			if len(secrets.Declared) == 0 {
				secrets.Declared = nil
			}
			return secrets
		},
		map[string]string{"Declared": "secrets.api.env", "PerMinute": "services.secrets"},
		nil,
	},
	"services.Secret": {
		func(s *settings) any { return s.secrets().Declared["api"] },
		map[string]string{
			"Env": "secrets.api.env", "File": "secrets.api.file", "Plugins": "secrets.api.plugins", "Companies": "secrets.api.companies",
		},
		nil,
	},
	"services.MemoryLimits": {
		func(s *settings) any { return s.memory() },
		map[string]string{"Keys": "state.keys", "Bytes": "state.bytes", "Value": "state.valueBytes"},
		nil,
	},
	"store.Options": {
		func(s *settings) any { return s.store() },
		map[string]string{
			"State": "state.keys", "CacheBytes": "store.cacheBytes", "MaxBytes": "store.maxBytes", "QueueWrites": "store.queueWrites",
			"QueueBytes": "store.queueBytes", "BatchWrites": "store.batchWrites", "Busy": "store.busy", "Readers": "store.readers", "Unsynced": "store.unsynced",
			"History": "store.history", "ConfigurationBytes": "store.configurationBytes", "Grants": "store.grants", "Subscriptions": "store.subscriptions",
			"Runs": "store.runs", "RunAge": "store.runAge", "Audit": "store.audit", "AuditAge": "store.auditAge", "AuditBytes": "store.auditBytes",
			"Entities": "store.entities", "EntityBytes": "store.entityBytes", "EntityAnswer": "store.entityAnswer",
		},
		map[string]string{"Lock": wired, "Now": "is for tests"},
	},
	"jobs.Options": {
		func(s *settings) any { return s.jobs(nil) },
		map[string]string{
			"SkipMissed": "jobs.skipMissed", "Limit": "jobs.limit", "AtOnce": "jobs.atOnce", "PerPlugin": "jobs.perPlugin", "Jobs": "jobs.jobs", "Drain": "jobs.drain",
		},
		map[string]string{"Log": wired, "Deaf": wired, "Now": "is for tests"},
	},
	"ecosystems.RouteLimits": {
		func(s *settings) any { return struct{ Open int }{s.policy().OpenRoutes} },
		map[string]string{"Open": "routes.open"},
		nil,
	},
	"paperclip.LogLimits": {
		func(s *settings) any { return s.policy().Routes.Log },
		map[string]string{"Chunk": "routes.log.chunk", "Total": "routes.log.total"},
		nil,
	},
	"paperclip.StreamLimits": {
		func(s *settings) any { return s.policy().Routes.Stream },
		map[string]string{"Open": "routes.streams.open", "Name": "routes.streams.name"},
		nil,
	},
	"paperclip.SessionLimits": {
		func(s *settings) any { return s.policy().Routes.Session },
		map[string]string{"Name": "routes.sessions.name", "Past": "routes.sessions.past"},
		nil,
	},
	"paperclip.RouteLimits, pty": {
		func(s *settings) any { return s.policy().Routes.PTY },
		map[string]string{
			"Chunk": "routes.pty.chunk", "Write": "routes.pty.write", "Total": "routes.pty.total", "Held": "routes.pty.held", "HeldChunks": "routes.pty.heldChunks",
			"Writes": "routes.pty.writes", "Unanswered": "routes.pty.unanswered", "Faults": "routes.pty.faults", "Life": "routes.pty.life",
			"Open": "routes.pty.openTimeout", "Close": "routes.pty.closeTimeout", "Answer": "routes.pty.answerTimeout",
		},
		nil,
	},
	"paperclip.RouteLimits, duplex": {
		func(s *settings) any { return s.policy().Routes.Duplex },
		map[string]string{
			"Chunk": "routes.duplex.chunk", "Write": "routes.duplex.write", "Total": "routes.duplex.total", "Held": "routes.duplex.held", "HeldChunks": "routes.duplex.heldChunks",
			"Writes": "routes.duplex.writes", "Unanswered": "routes.duplex.unanswered", "Faults": "routes.duplex.faults", "Life": "routes.duplex.life",
			"Open": "routes.duplex.openTimeout", "Close": "routes.duplex.closeTimeout", "Answer": "routes.duplex.answerTimeout",
		},
		nil,
	},
	"gateway.Options": {
		func(s *settings) any { return s.gateway() },
		map[string]string{"LinkRecords": "websocket.linkFrames", "LinkBytes": "websocket.linkBytes"},
		map[string]string{
			"Host": wired, "Log": wired, "Verify": wired, "Prepare": wired, "Keep": wired, "Collecting": "airi.Collecting is an object of its own here",
			"Socket": byOthers, "Server": byOthers,
		},
	},
	"websocket.ServerOptions": {
		func(s *settings) any { return s.sockets() },
		map[string]string{
			"MaxConns": "websocket.connections", "MaxPerAddress": "websocket.perAddress", "MaxEarly": "websocket.early",
			"MaxQueued": "websocket.queuedTotal", "UpgradeTime": "websocket.upgradeTimeout",
		},
		map[string]string{
			"Options": byOthers, "Access": wired + ": listen says it", "Token": "Access has it", "Origins": "Access has them", "Hosts": "Access has them",
			"TLS": "the listener has it: listen.tls",
		},
	},
	"websocket.Options": {
		func(s *settings) any { return s.sockets().Options },
		map[string]string{
			"MaxRecord": "websocket.frameBytes", "MaxEarlyRecord": "websocket.earlyFrameBytes", "QueueRecords": "websocket.queueFrames",
			"QueueBytes": "websocket.queueBytes", "SlowPeer": "websocket.slowPeer", "PingEvery": "websocket.pingEvery", "Silence": "websocket.silence",
			"MessageTime": "websocket.messageTimeout", "WriteTime": "websocket.writeTimeout", "AuthTime": "websocket.authentication",
			"CloseTime": "websocket.closeTimeout",
		},
		map[string]string{"PassControl": wired},
	},
	"server.Options": {
		func(s *settings) any { return s.airiServer() },
		map[string]string{
			"NoBypass": "websocket.noBypass", "Pong": "websocket.pong", "Authentication": "websocket.authentication", "Beat": "websocket.beat",
			"SyncEvery": "websocket.syncEvery", "Grace": "websocket.grace",
		},
		map[string]string{
			"Instance": wired, "Version": wired, "NewID": wired, "Verify": wired, "Negotiate": wired, "Policy": byOthers, "Limits": byOthers,
		},
	},
	"server.Policy": {
		func(s *settings) any { return s.airiServer().Policy },
		map[string]string{
			"AllowPlugins": "websocket.policy.allowPlugins", "DenyPlugins": "websocket.policy.denyPlugins",
			"AllowLabels": "websocket.policy.allowLabels", "DenyLabels": "websocket.policy.denyLabels",
		},
		nil,
	},
	"server.Limits": {
		func(s *settings) any { return s.airiServer().Limits },
		map[string]string{
			"Conns": "websocket.connections", "Modules": "websocket.limits.modules", "Sessions": "websocket.limits.sessions", "Away": "websocket.limits.away",
			"Registry": "websocket.limits.registryBytes", "Acted": "websocket.limits.actedBytes", "Announcement": "websocket.limits.announcementBytes",
			"Identity": "websocket.limits.identityBytes", "Text": "websocket.limits.textBytes", "Aliases": "websocket.limits.aliases",
			"Consumers": "websocket.limits.consumers", "Sticky": "websocket.limits.sticky", "Terms": "websocket.limits.terms", "Depth": "websocket.limits.depth",
			"Destination": "websocket.limits.destinationBytes",
		},
		nil,
	},
	"guestConfigBounds": {
		func(s *settings) any { return s.guestConfigs() },
		map[string]string{"Plugins": "websocket.limits.configurations", "Bytes": "websocket.limits.configurationBytes"},
		nil,
	},
	"queues": {
		func(s *settings) any {
			q := s.queues()
			return struct {
				Events, Frames, LogLines, Bytes, Kept int
				Patience                              time.Duration
			}{q.events, q.frames, q.logLines, q.bytes, q.kept, q.patience}
		},
		map[string]string{
			"Events": "queues.events", "Frames": "queues.frames", "LogLines": "queues.logLines", "Bytes": "queues.bytes",
			"Kept": "queues.kept", "Patience": "queues.patience",
		},
		nil,
	},
}

// setting is a file of settings that sets one path to a value.
func setting(path string, value any) map[string]any {
	names := strings.Split(path, ".")
	for _, name := range slices.Backward(names) {
		value = map[string]any{name: value}
	}
	file := value.(map[string]any)
	if strings.HasPrefix(path, "plugins.hello.folders.notes.") && !strings.HasSuffix(path, ".path") {
		file["plugins"].(map[string]any)["hello"].(map[string]any)["folders"].(map[string]any)["notes"].(map[string]any)["path"] = "/srv"
	}
	if names[0] == "telemetry" && names[1] != "endpoint" {
		file["telemetry"].(map[string]any)["endpoint"] = "http://localhost:4318"
	}
	if names[0] == "secrets" && names[2] != "env" && names[2] != "file" {
		file["secrets"].(map[string]any)["api"].(map[string]any)["env"] = "A"
	}
	return file
}

// values are what a setting may be: one of them is right.
var values = []any{7, 2 << 20, "7s", true, 0.5, "/bin/sh", "NAME", "http://collector:4318", []string{"10.0.0.0/8"}, []string{"data"}, "refuse"}

// withSetting reads settings that set one path, to one of the values that are right.
func withSetting(t *testing.T, path string) []*settings {
	t.Helper()
	var all []*settings
	for _, value := range values {
		text, err := json.Marshal(setting(path, value))
		require.NoError(t, err)
		if s, err := settingsIn(t, string(text)); err == nil {
			all = append(all, s)
		}
	}
	require.NotEmpty(t, all, "no setting is called %s", path)
	return all
}

// A field of options that is in neither list is a new one: give it a setting.
func TestSettings_reachEveryLimit(t *testing.T) {
	none := wantSettings(t, `{}`)
	for name, r := range reached {
		t.Run(name, func(t *testing.T) {
			usual := reflect.Indirect(reflect.ValueOf(r.of(none)))
			kind := usual.Type()
			for i := range kind.NumField() {
				field := kind.Field(i).Name
				if !kind.Field(i).IsExported() {
					continue
				}
				path, reached := r.settings[field]
				if reason, not := r.none[field]; not {
					require.False(t, reached, "%s is in both lists", field)
					require.NotEmpty(t, reason)
					continue
				}
				require.True(t, reached, "%s.%s has no setting: give it one in manifest/settings*.go and its schema, or say here why there is none", name, field)
				moved := false
				for _, s := range withSetting(t, path) {
					moved = moved || told(usual.Field(i)) != told(reflect.Indirect(reflect.ValueOf(r.of(s))).Field(i))
				}
				require.True(t, moved, "%s does not move %s.%s", path, name, field)
			}
			for field := range maps.All(r.settings) {
				_, ok := kind.FieldByName(field)
				require.True(t, ok, "%s.%s is no more", name, field)
			}
			for field := range r.none {
				_, ok := kind.FieldByName(field)
				require.True(t, ok, "%s.%s is no more", name, field)
			}
		})
	}
}

// told is a value in words that tell it from others.
func told(v reflect.Value) string {
	if v.Kind() == reflect.Func {
		return fmt.Sprint(v.IsNil())
	}
	return fmt.Sprintf("%+v", v)
}

func TestSettings_foldersAreAsThePluginNeedsThem(t *testing.T) {
	s := wantSettings(t, `{"plugins": {"hello": {"folders": {
		"notes": {"path": "/srv/notes", "companies": {"globex": {"path": "/srv/globex", "readOnly": true}}},
		"own": {"companies": {"acme": {"path": "/srv/own"}}}}}}}`)
	m := &manifest.Manifest{Paperclip: &manifest.Paperclip{Folders: []manifest.PaperclipFolder{
		{Key: "notes", Directories: []string{"a/b"}, Files: []string{"c.md"}}, {Key: "own", Access: "read"},
	}}}
	declared := s.folders(func(string) *manifest.Manifest { return m }).Declared
	for _, c := range []struct {
		company, key string
		want         services.Folder
		ok           bool
	}{
		{"acme", "notes", services.Folder{Path: "/srv/notes", Directories: []string{"a/b"}, Files: []string{"c.md"}}, true},
		{"globex", "notes", services.Folder{Path: "/srv/globex", ReadOnly: true, Directories: []string{"a/b"}, Files: []string{"c.md"}}, true},
		{"acme", "own", services.Folder{Path: "/srv/own", ReadOnly: true}, true},
		{company: "globex", key: "own"},
		{company: "acme", key: "none"},
	} {
		got, ok := declared("hello", c.company, c.key)
		require.Equal(t, c.ok, ok, c)
		if ok {
			require.Equal(t, c.want, got)
		}
	}
	_, ok := declared("other", "acme", "notes")
	require.False(t, ok)
}

func TestSettings_zeroIsAnotherThanNothing(t *testing.T) {
	require.Equal(t, -1, wantSettings(t, `{"http": {"redirects": 0}}`).http().MaxRedirects)
	require.Equal(t, -1, wantSettings(t, `{"store": {"cacheBytes": 0}}`).store().CacheBytes)
}
