package manifest

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

var settingsShape = shape[Settings]{fields: []field[Settings]{
	{"scope", "", func(r *reader, at fieldPath, v value, s *Settings) {
		s.Scope, _ = tidy("a string, a company's id")(r, at, v)
	}},
	{"companies", "", listOnce(func(s *Settings) *[]string { return &s.Companies },
		`an array of companies' ids, e.g. ["acme"]`, tidy("a string, a company's id"))},
	{"secrets", "", byName(func(s *Settings) *map[string]Secret { return &s.Secrets },
		`an object of secrets, e.g. {"api": {"env": "API_KEY"}}`, func(r *reader, at fieldPath, v value) Secret {
			return whereIs(r, at, v, &secretShape)
		})},
	{"http", "", nested(func(s *Settings) *HTTPSettings { return &s.HTTP }, &httpShape)},
	{"grants", "", nested(func(s *Settings) *GrantSettings { return &s.Grants }, &grantsShape)},
	{"audit", "", nested(func(s *Settings) *AuditSettings { return &s.Audit }, &auditShape)},
	{"endpoints", "", nested(func(s *Settings) *EndpointSettings { return &s.Endpoints }, &endpointsShape)},
	{"telemetry", "", nested(func(s *Settings) *TelemetrySettings { return &s.Telemetry }, &telemetryShape)},
	{"plugins", "", byName(func(s *Settings) *map[string]PluginSettings { return &s.Plugins },
		`an object of plugins, e.g. {"hello": {"config": {}}}`, func(r *reader, at fieldPath, v value) (p PluginSettings) {
			if r.expectObject(at, v, "an object") {
				pluginShape.read(r, at, v, &p)
			}
			return p
		})},
	{"restart", "", nested(func(s *Settings) *RestartSettings { return &s.Restart }, &restartShape)},
	{"limits", "", nested(func(s *Settings) *HostLimits { return &s.Limits }, &hostLimitsShape)},
	{"timeouts", "", nested(func(s *Settings) *HostTimeouts { return &s.Timeouts }, &hostTimeoutsShape)},
	{"logs", "", nested(func(s *Settings) *LogFileSettings { return &s.Logs }, &logFilesShape)},
	{"startLimit", "", timeout(func(s *Settings) *time.Duration { return &s.StartLimit })},
	{"watch", "", nested(func(s *Settings) *WatchSettings { return &s.Watch }, &watchShape)},
	{"drain", "", timeout(func(s *Settings) *time.Duration { return &s.Drain })},
	{"listen", "", nested(func(s *Settings) *ListenSettings { return &s.Listen }, &listenShape)},
	{"websocket", "", nested(func(s *Settings) *WebsocketSettings { return &s.Websocket }, &websocketShape)},
	{"log", "", nested(func(s *Settings) *LogSettings { return &s.Log }, &logShape)},
	{"runtimes", "", nested(func(s *Settings) *RuntimeSettings { return &s.Runtimes }, &runtimesShape)},
	{"stop", "", nested(func(s *Settings) *StopSettings { return &s.Stop }, &stopShape)},
	{"workers", "", nested(func(s *Settings) *WorkerSettings { return &s.Workers }, &workersShape)},
	{"manifests", "", nested(func(s *Settings) *ReadingSettings { return &s.Manifests }, &manifestsShape)},
	{"api", "", nested(func(s *Settings) *APISettings { return &s.API }, &apiShape)},
	{"state", "", nested(func(s *Settings) *StateSettings { return &s.State }, &stateShape)},
	{"store", "", nested(func(s *Settings) *StoreSettings { return &s.Store }, &storeShape)},
	{"jobs", "", nested(func(s *Settings) *JobSettings { return &s.Jobs }, &jobsShape)},
	{"folders", "", nested(func(s *Settings) *FolderLimits { return &s.Folders }, &folderLimitsShape)},
	{"services", "", nested(func(s *Settings) *ServiceSettings { return &s.Services }, &servicesShape)},
	{"routes", "", nested(func(s *Settings) *RouteSettings { return &s.Routes }, &routesShape)},
	{"queues", "", nested(func(s *Settings) *QueueSettings { return &s.Queues }, &queuesShape)},
}}

var httpShape = shape[HTTPSettings]{fields: []field[HTTPSettings]{
	{"allow", "", listOnce(func(h *HTTPSettings) *[]string { return &h.Allow },
		`an array of addresses, e.g. ["10.0.0.0/8", "127.0.0.1:8080", "intern.example:443"]`, tidy(`an address, e.g. "127.0.0.1:8080"`))},
	{"maxBody", "", integer(func(h *HTTPSettings) *int { return &h.MaxBody }, 1, MaxFrameBytes)},
	{"timeout", "", timeout(func(h *HTTPSettings) *time.Duration { return &h.Timeout })},
	{"dnsTimeout", "", timeout(func(h *HTTPSettings) *time.Duration { return &h.DNSTimeout })},
	{"redirects", "", optional(func(h *HTTPSettings) **int { return &h.Redirects }, 0, MaxRedirects)},
	{"atOnce", "", integer(func(h *HTTPSettings) *int { return &h.AtOnce }, 1, MaxCount)},
}}

var pluginShape = shape[PluginSettings]{fields: []field[PluginSettings]{
	{"config", "", func(r *reader, at fieldPath, v value, p *PluginSettings) { p.Config = readConfig(r, at, v) }},
	{"companies", "", byName(func(p *PluginSettings) *map[string]json.RawMessage { return &p.Companies },
		`an object of companies, e.g. {"acme": {"config": {}}}`, func(r *reader, at fieldPath, v value) (config json.RawMessage) {
			if r.expectObject(at, v, `an object, e.g. {"config": {}}`) {
				companyShape.read(r, at, v, &config)
			}
			return config
		})},
	{"grants", "", func(r *reader, at fieldPath, v value, p *PluginSettings) {
		p.Grants = []string{} // none is another thing than all
		listOnce(func(p *PluginSettings) *[]string { return &p.Grants },
			`an array of grants, e.g. ["events.subscribe"]; without it the plugin has all that it asks for`,
			grantName)(r, at, v, p)
	}},
	{"limits", "", nested(func(p *PluginSettings) *WorkerLimits { return &p.Limits }, &workerLimitsShape)},
	{"folders", "", byName(func(p *PluginSettings) *map[string]Folder { return &p.Folders },
		`an object of folders, e.g. {"notes": {"path": "/srv/notes"}}`, objectOf(&declaredFolderShape))},
	{"sign", "", truth(func(p *PluginSettings) *bool { return &p.Sign })},
}}

var companyShape = shape[json.RawMessage]{fields: []field[json.RawMessage]{
	{"config", "an object, the configuration for this company", func(r *reader, at fieldPath, v value, config *json.RawMessage) {
		*config = readConfig(r, at, v)
	}},
}}

var workerLimitsShape = shape[WorkerLimits]{fields: []field[WorkerLimits]{
	{"memoryBytes", "", func(r *reader, at fieldPath, v value, l *WorkerLimits) {
		n, ok := whole(v)
		if !ok || n < MinMemoryBytes || n > maxSafe {
			r.add(at, "expected a whole number of bytes, at least %d, found %s", MinMemoryBytes, v.found())
			return
		}
		l.MemoryBytes = n
	}},
	{"processes", "", integer(func(l *WorkerLimits) *int { return &l.Processes }, 1, MaxProcesses)},
	{"cpuTime", "", age(func(l *WorkerLimits) *time.Duration { return &l.CPUTime }, MaxCPUTime)},
}}

var restartShape = shape[RestartSettings]{
	fields: []field[RestartSettings]{
		{"base", "", timeout(func(s *RestartSettings) *time.Duration { return &s.Base })},
		{"max", "", timeout(func(s *RestartSettings) *time.Duration { return &s.Max })},
		{"stable", "", timeout(func(s *RestartSettings) *time.Duration { return &s.Stable })},
		{"jitter", "", func(r *reader, at fieldPath, v value, s *RestartSettings) {
			f, err := strconv.ParseFloat(string(v.raw), 64)
			if v.kind != number || err != nil || f < 0 || f > 1 {
				r.add(at, "expected a number from 0 to 1, found %s", v.found())
				return
			}
			s.Jitter = new(math.Abs(f)) // without the sign of -0
		}},
		{"giveUp", "", integer(func(s *RestartSettings) *int { return &s.GiveUp }, 1, MaxGiveUp)},
		{"disabled", "", truth(func(s *RestartSettings) *bool { return &s.Disabled })},
	},
	also: func(r *reader, at fieldPath, v value) {
		base, ok := duration(v.at("base"))
		most, is := duration(v.at("max"))
		if ok && is && base > most && most > 0 {
			r.add(at.member("max"), "expected at least the base, %s, found %s", base, v.at("max").found())
		}
	},
}

var hostLimitsShape = shape[HostLimits]{fields: append(
	partly(limitsShape, func(l *HostLimits) *Limits { return &l.Limits }),
	field[HostLimits]{"facts", "", integer(func(l *HostLimits) *int { return &l.Facts }, 1, MaxFacts)},
	field[HostLimits]{"streamItems", "", integer(func(l *HostLimits) *int { return &l.StreamItems }, 1, MaxStreamItems)},
	field[HostLimits]{"streamBytes", "", integer(func(l *HostLimits) *int { return &l.StreamBytes }, 1, MaxFrameBytes)},
	field[HostLimits]{"events", "", integer(func(l *HostLimits) *int { return &l.Events }, 1, MaxEvents)},
	field[HostLimits]{"eventBytes", "", integer(func(l *HostLimits) *int { return &l.EventBytes }, 1, MaxFrameBytes)},
	field[HostLimits]{"owedFrames", "", integer(func(l *HostLimits) *int { return &l.OwedFrames }, 1, MaxCount)},
	field[HostLimits]{"owedBytes", "", integer(func(l *HostLimits) *int { return &l.OwedBytes }, 1, MaxFrameBytes)},
	field[HostLimits]{"phaseRequests", "", integer(func(l *HostLimits) *int { return &l.PhaseRequests }, 1, MaxCount)},
	field[HostLimits]{"channelEvents", "", integer(func(l *HostLimits) *int { return &l.ChannelEvents }, 1, MaxCount)},
	field[HostLimits]{"callDepth", "", integer(func(l *HostLimits) *int { return &l.CallDepth }, 1, MaxCallDepth)},
	field[HostLimits]{"collectedItems", "", integer(func(l *HostLimits) *int { return &l.CollectedItems }, 1, MaxCount)},
	field[HostLimits]{"collectedBytes", "", integer(func(l *HostLimits) *int { return &l.CollectedBytes }, 1, MaxBytes)},
	field[HostLimits]{"collectedTotal", "", integer(func(l *HostLimits) *int { return &l.CollectedTotal }, 1, MaxBytes)},
)}

// partly are the fields of a shape, in an object that holds more than they fill.
func partly[T, E any](s shape[E], to func(*T) *E) []field[T] {
	fields := make([]field[T], len(s.fields))
	for i, f := range s.fields {
		fields[i] = field[T]{f.name, f.required, func(r *reader, at fieldPath, v value, into *T) {
			f.read(r, at, v, to(into))
		}}
	}
	return fields
}

// nested reads an object of a shape.
func nested[T, E any](to func(*T) *E, s *shape[E]) func(*reader, fieldPath, value, *T) {
	return func(r *reader, at fieldPath, v value, into *T) { s.read(r, at, v, to(into)) }
}

// byName reads an object with any names, all of whose values are read by one.
func byName[T, E any](to func(*T) *map[string]E, what string, one func(*reader, fieldPath, value) E) func(*reader, fieldPath, value, *T) {
	return func(r *reader, at fieldPath, v value, into *T) {
		if !r.expectObject(at, v, what) {
			return
		}
		all := make(map[string]E, len(v.members))
		for _, m := range v.members {
			if !isTidy(m.name) {
				r.add(at.member(m.name), "expected a name without blanks around it, nor control characters: change it")
			}
			all[m.name] = one(r, at.member(m.name), m.value)
		}
		*to(into) = all
	}
}

// listOnce reads an array of strings, none of which may be there twice.
func listOnce[T any](to func(*T) *[]string, what string, one func(*reader, fieldPath, value) (string, bool)) func(*reader, fieldPath, value, *T) {
	return func(r *reader, at fieldPath, v value, into *T) {
		list(to, what, one)(r, at, v, into)
		if v.kind == array {
			r.unique(at, v, "")
		}
	}
}

// tidy reads a string that says something, without blanks around it.
func tidy(what string) func(*reader, fieldPath, value) (string, bool) {
	return func(r *reader, at fieldPath, v value) (string, bool) {
		if v.kind != text || !isTidy(v.text) {
			r.add(at, "expected %s, found %s", what, v.found())
			return "", false
		}
		return v.text, true
	}
}

// isTidy tells whether text can be a name that is compared with others.
func isTidy(s string) bool {
	_, ok := nonBlank("")(&reader{}, "", value{kind: text, text: s})
	return ok && strings.TrimFunc(s, isBlank) == s
}

// readConfig reads a plugin's configuration, which may hold what is not to be shown.
func readConfig(r *reader, at fieldPath, v value) json.RawMessage {
	if !r.expectObject(at, v, "an object, the plugin's configuration") {
		return nil
	}
	return slices.Clone(v.raw)
}

// longDuration is duration with another limit.
func longDuration(v value) (time.Duration, bool) {
	if ms, ok := whole(v); ok {
		return time.Duration(min(max(ms, 0), 2*MaxAge.Milliseconds())) * time.Millisecond, true
	}
	return duration(v)
}

// checkAddresses notes what is wrong with the addresses of "http".allow.
func (r *reader) checkAddresses(root value, opts SettingsOptions) {
	at := fieldPath("http.allow")
	if opts.CheckAddress == nil || r.blames(at) {
		return
	}
	for i, item := range root.at("http").at("allow").items {
		if err := opts.CheckAddress(item.text); err != nil {
			r.add(at.item(i), "%v", err)
		}
	}
}
