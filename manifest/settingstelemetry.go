package manifest

import "time"

// TelemetrySettings say where spans and events of telemetry are sent to. Nothing is sent
// without an Endpoint.
type TelemetrySettings struct {
	// Endpoint is the URL of an OpenTelemetry collector, as written; see
	// [SettingsOptions.CheckTelemetry].
	Endpoint string
	// Headers says where the headers of requests to it are; neither for none.
	Headers TokenSource
	// Calls tells whether the host's calls are spans, too; nil stands for yes.
	Calls *bool
	// Queue is how many spans, and how many events, may wait, Batch how many go with one
	// request; at most [MaxTelemetryQueue].
	Queue, Batch int
	// Interval is how long they may wait for more, Timeout is for a request, Drain for what
	// is left once the host has ended.
	Interval, Timeout, Drain time.Duration
}

// MaxTelemetryQueue is the longest queue of telemetry.
const MaxTelemetryQueue = 65_536

var telemetryShape = shape[TelemetrySettings]{
	fields: []field[TelemetrySettings]{
		{"endpoint", "", func(r *reader, at fieldPath, v value, s *TelemetrySettings) {
			s.Endpoint, _ = tidy(`a URL, e.g. "http://localhost:4318"`)(r, at, v)
		}},
		{"headers", "", func(r *reader, at fieldPath, v value, s *TelemetrySettings) {
			s.Headers = whereIs(r, at, v, &tokenShape)
		}},
		{"calls", "", func(r *reader, at fieldPath, v value, s *TelemetrySettings) {
			var is bool
			truth(func(*TelemetrySettings) *bool { return &is })(r, at, v, s)
			s.Calls = &is
		}},
		{"queue", "", integer(func(s *TelemetrySettings) *int { return &s.Queue }, 1, MaxTelemetryQueue)},
		{"batch", "", integer(func(s *TelemetrySettings) *int { return &s.Batch }, 1, MaxTelemetryQueue)},
		{"interval", "", timeout(func(s *TelemetrySettings) *time.Duration { return &s.Interval })},
		{"timeout", "", timeout(func(s *TelemetrySettings) *time.Duration { return &s.Timeout })},
		{"drain", "", timeout(func(s *TelemetrySettings) *time.Duration { return &s.Drain })},
	},
	also: func(r *reader, at fieldPath, v value) {
		if !v.has("endpoint") && len(v.members) > 0 && !r.blames(at) {
			r.add(at.member("endpoint"), `is missing: expected a URL, e.g. "http://localhost:4318"`)
		}
	},
}

// checkTelemetry notes what is wrong with the endpoint, without quoting it: it may hold a
// password.
func (r *reader) checkTelemetry(root value, opts SettingsOptions) {
	at := fieldPath("telemetry.endpoint")
	endpoint := root.at("telemetry").at("endpoint")
	if opts.CheckTelemetry == nil || r.blames(at) || endpoint.kind != text {
		return
	}
	if err := opts.CheckTelemetry(endpoint.text); err != nil {
		r.add(at, "%v", err)
	}
}
