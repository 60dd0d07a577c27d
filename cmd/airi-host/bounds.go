package main

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/protocol/airi"
	"github.com/airi-host/airi-host/services"
	"github.com/airi-host/airi-host/services/jobs"
	"github.com/airi-host/airi-host/services/logs"
	"github.com/airi-host/airi-host/services/otlp"
	"github.com/airi-host/airi-host/services/store"
	"github.com/airi-host/airi-host/transport/process"
)

// What the settings say, as the options of those who hold to it. A field of such options
// that no setting reaches fails a test.

// bounds are those of sessions; once is for a host that is asked once.
func (s *settings) bounds(once bool) actors.Bounds {
	return actors.Bounds{Timeouts: s.timeouts(), Limits: s.limits(), Ladder: s.ladder(), Restart: s.restart(once)}
}

func (s *settings) ladder() process.Ladder {
	return process.Ladder{CloseStdin: s.Stop.CloseInput, Term: s.Stop.Term, Kill: s.Stop.Kill}
}

// restart says what follows a crash; once is for a host that is asked once.
func (s *settings) restart(once bool) actors.RestartPolicy {
	r := s.Restart
	policy := actors.RestartPolicy{
		First: r.Base, Max: r.Max, Stable: r.Stable, MaxInARow: r.GiveUp, Disabled: r.Disabled || once,
	}
	if r.Jitter != nil {
		policy.Jitter = cmp.Or(*r.Jitter, -1) // where 0 is the default, less is none
	}
	return policy
}

func (s *settings) limits() actors.Limits {
	l := s.Limits
	return actors.Limits{
		Pending: l.PendingCalls, LogLines: l.LogLines, Facts: l.Facts, Frame: l.FrameBytes,
		StreamItems: l.StreamItems, StreamBytes: l.StreamBytes, Events: l.Events, EventBytes: l.EventBytes,
		OwedFrames: l.OwedFrames, OwedBytes: l.OwedBytes, ChannelEvents: l.ChannelEvents, CallDepth: l.CallDepth,
		PhaseRequests: l.PhaseRequests,
		RouteChunks:   s.Routes.Chunks, RouteBytes: s.Routes.Bytes,
	}
}

// collecting bounds what is collected of the streams of AIRI's modules.
func (s *settings) collecting() airi.Collecting {
	l := s.Limits
	return airi.Collecting{Items: l.CollectedItems, Bytes: l.CollectedBytes, Total: l.CollectedTotal}
}

func (s *settings) timeouts() actors.Timeouts {
	t := s.Timeouts
	return actors.Timeouts{
		Load: t.Load, Init: t.Init, Setup: t.Setup, Stop: t.Stop, Drain: t.Drain, Call: t.Call, Idle: t.Idle, Capabilities: t.Capabilities,
		RouteExit: s.Routes.ExitTimeout,
	}
}

// bind holds a plugin's worker to its limits.
func (s *settings) bind(spec *process.Spec, m *manifest.Manifest) {
	w := s.Workers
	spec.Limits, spec.Cgroup = s.worker(m), w.Cgroup
	spec.QueueRecords, spec.QueueBytes = w.QueueFrames, w.QueueBytes
	spec.ExitGrace, spec.DrainIdle, spec.DrainMost = w.ExitGrace, w.DrainIdle, w.DrainMost
	spec.Traces = process.Traces{Lines: w.TraceLines, Bytes: w.TraceBytes, Line: w.TraceLine, Pause: w.TracePause, Most: w.TraceMost}
}

// worker says what a plugin's worker may use of the machine: what the settings say of
// the plugin, else its manifest, else what they say of all plugins.
func (s *settings) worker(m *manifest.Manifest) process.Limits {
	own, said, all := s.Plugins[m.PluginName()].Limits, m.Host.Limits.Worker, s.Limits.Worker
	return process.Limits{
		MemoryBytes: cmp.Or(own.MemoryBytes, said.MemoryBytes, all.MemoryBytes),
		Processes:   cmp.Or(own.Processes, said.Processes, all.Processes),
		CPUTime:     cmp.Or(own.CPUTime, said.CPUTime, all.CPUTime),
	}
}

// startLimit is how long the start may take, drain how long the end: otherwise is for
// settings that say nothing.
func (s *settings) startLimit() time.Duration { return cmp.Or(s.StartLimit, defaultStartLimit) }

func (s *settings) drain(otherwise time.Duration) time.Duration { return cmp.Or(s.Drain, otherwise) }

// manifests says how manifests are read, but for the plugins that are compiled in.
func (s *settings) manifests() manifest.Options {
	return manifest.Options{MaxBytes: int64(s.Manifests.FileBytes), MaxFiles: s.Manifests.Entries}
}

// api is what those who ask may make the host hold.
func (s *settings) api() admin.Limits {
	a := s.API
	return admin.Limits{
		Requests: a.Requests, Followers: a.Followers, Connections: a.Connections, FollowLines: a.FollowLines, FollowBytes: a.FollowBytes,
		LogBytes: a.LogBytes, History: a.History, Body: int64(a.BodyBytes), Command: a.Command,
		HeaderBytes: a.HeaderBytes, HeaderTime: a.HeaderTimeout, BodyTime: a.BodyTimeout, AnswerTime: a.AnswerTimeout, IdleTime: a.IdleTimeout,
	}
}

func (s *settings) memory() services.MemoryLimits {
	return services.MemoryLimits{Keys: s.State.Keys, Bytes: s.State.Bytes, Value: s.State.ValueBytes}
}

// store says how the database is kept.
func (s *settings) store() store.Options {
	o := s.Store
	limits := store.Options{
		State: s.memory(), MaxBytes: o.MaxBytes, QueueWrites: o.QueueWrites, QueueBytes: o.QueueBytes, BatchWrites: o.BatchWrites,
		Busy: o.Busy, Readers: o.Readers, Unsynced: o.Unsynced, History: o.History, ConfigurationBytes: o.ConfigurationBytes,
		Grants: o.Grants, Subscriptions: o.Subscriptions, Runs: o.Runs, RunAge: o.RunAge,
		Audit: o.Audit, AuditAge: o.AuditAge, AuditBytes: o.AuditBytes,
		Entities: o.Entities, EntityBytes: o.EntityBytes, EntityAnswer: o.EntityAnswer,
	}
	if o.CacheBytes != nil {
		limits.CacheBytes = cmp.Or(*o.CacheBytes, -1) // where 0 is the default, less is none
	}
	return limits
}

// jobs says how jobs run by their schedules.
func (s *settings) jobs(log *slog.Logger) jobs.Options {
	j := s.Jobs
	return jobs.Options{SkipMissed: j.SkipMissed, Limit: j.Limit, AtOnce: j.AtOnce, PerPlugin: j.PerPlugin, Jobs: j.Jobs, Drain: j.Drain, Log: log}
}

// http says what plugins' requests may do.
func (s *settings) http() services.HTTP {
	h := s.HTTP
	allowed, _ := services.ParseAddresses(h.Allow) // each was looked at when the file was read
	limits := services.HTTP{
		Allowed: allowed, Timeout: h.Timeout, DNSTimeout: h.DNSTimeout, MaxRequest: h.MaxBody, MaxResponse: h.MaxBody, MaxConcurrent: h.AtOnce,
	}
	if h.Redirects != nil {
		limits.MaxRedirects = cmp.Or(*h.Redirects, -1) // where 0 is the default, less is none
	}
	return limits
}

// secrets says where secrets are; none of them is read before it is asked for.
func (s *settings) secrets() services.Secrets {
	declared := make(map[string]services.Secret, len(s.Secrets))
	for id, one := range s.Secrets {
		declared[id] = services.Secret{Env: one.Env, File: one.File, Plugins: one.Plugins, Companies: one.Companies}
	}
	return services.Secrets{Declared: declared, PerMinute: s.Services.Secrets}
}

// folders says which folders plugins may use. What a plugin needs in one is in its
// manifest; one that only reads writes nothing.
func (s *settings) folders(manifestOf func(plugin string) *manifest.Manifest) services.Folders {
	f := s.Folders
	return services.Folders{
		FileBytes: f.FileBytes, Files: f.Files, Bytes: f.Bytes, AtOnce: f.AtOnce,
		Declared: func(plugin, company, key string) (services.Folder, bool) {
			where, ok := s.Plugins[plugin].Folders[key].For(company)
			folder := services.Folder{Path: where.Path, ReadOnly: where.ReadOnly}
			if m := manifestOf(plugin); ok && m != nil && m.Paperclip != nil {
				for _, asked := range m.Paperclip.Folders {
					if asked.Key == key {
						folder.Directories, folder.Files = asked.Directories, asked.Files
						folder.ReadOnly = folder.ReadOnly || asked.Access == "read"
					}
				}
			}
			return folder, ok
		},
	}
}

// queues are how much may wait in this command line.
func (s *settings) queues() queues {
	q := s.Queues
	return queues{
		events: cmp.Or(q.Events, eventQueue), frames: cmp.Or(q.Frames, wireQueue),
		logLines: cmp.Or(q.LogLines, logQueue), bytes: cmp.Or(q.Bytes, maxBacklog),
		kept: cmp.Or(q.Kept, keptQueue), patience: cmp.Or(q.Patience, readerPatience),
	}
}

// logFiles says how the logs of plugins are kept.
func (s *settings) logFiles(log *slog.Logger) logs.Options {
	l := s.Logs
	return logs.Options{
		MaxBytes: int64(l.MaxBytes), Files: l.Files, Total: int64(l.Total), Log: log,
		Queue: l.Queue, QueueBytes: l.QueueBytes, Retry: l.Retry, MaxRetry: l.MaxRetry,
	}
}

// telemetry says how spans and events are sent, but for where to.
func (s *settings) telemetry(log *slog.Logger) otlp.Options {
	t := s.Telemetry
	return otlp.Options{Endpoint: t.Endpoint, Queue: t.Queue, Batch: t.Batch, Interval: t.Interval, Timeout: t.Timeout, Log: log}
}

// ends are how long the parts of a host may take once its plugins have ended: those that
// ask, the files of logs, telemetry, and what is printed.
type ends struct{ front, logs, telemetry, output time.Duration }

func (s *settings) ends() ends {
	return ends{
		front: cmp.Or(s.API.Drain, frontDrain), logs: cmp.Or(s.Logs.Drain, logFilesTime),
		telemetry: cmp.Or(s.Telemetry.Drain, telemetryDrain), output: cmp.Or(s.Queues.Drain, lastWords),
	}
}

func (e ends) all() time.Duration { return e.front + e.logs + e.telemetry + e.output }

// queues are how much may wait: events to be printed, frames to be logged, lines of logs
// for the live view, bytes of text for it and for each standard output, and lines of logs to
// be kept; and how long somebody waits for a standard output.
type queues struct {
	events, frames, logLines, bytes, kept int
	patience                              time.Duration
}
