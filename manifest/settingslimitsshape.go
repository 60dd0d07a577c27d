package manifest

import "time"

var hostTimeoutsShape = shape[HostTimeouts]{fields: append(
	partly(timeoutsShape, func(t *HostTimeouts) *Timeouts { return &t.Timeouts }),
	field[HostTimeouts]{"drain", "", timeout(func(t *HostTimeouts) *time.Duration { return &t.Drain })},
)}

var stopShape = shape[StopSettings]{fields: []field[StopSettings]{
	{"closeInput", "", timeout(func(s *StopSettings) *time.Duration { return &s.CloseInput })},
	{"term", "", timeout(func(s *StopSettings) *time.Duration { return &s.Term })},
	{"kill", "", timeout(func(s *StopSettings) *time.Duration { return &s.Kill })},
}}

var workersShape = shape[WorkerSettings]{fields: []field[WorkerSettings]{
	{"queueFrames", "", count(func(s *WorkerSettings) *int { return &s.QueueFrames })},
	{"queueBytes", "", bytesOf(func(s *WorkerSettings) *int { return &s.QueueBytes })},
	{"exitGrace", "", timeout(func(s *WorkerSettings) *time.Duration { return &s.ExitGrace })},
	{"drainIdle", "", timeout(func(s *WorkerSettings) *time.Duration { return &s.DrainIdle })},
	{"drainMost", "", timeout(func(s *WorkerSettings) *time.Duration { return &s.DrainMost })},
	{"traceLines", "", count(func(s *WorkerSettings) *int { return &s.TraceLines })},
	{"traceBytes", "", bytesOf(func(s *WorkerSettings) *int { return &s.TraceBytes })},
	{"traceLine", "", timeout(func(s *WorkerSettings) *time.Duration { return &s.TraceLine })},
	{"tracePause", "", timeout(func(s *WorkerSettings) *time.Duration { return &s.TracePause })},
	{"traceMost", "", timeout(func(s *WorkerSettings) *time.Duration { return &s.TraceMost })},
	{"cgroup", "", absolute(func(s *WorkerSettings) *string { return &s.Cgroup }, `the absolute path of a directory of cgroup v2`)},
}}

var manifestsShape = shape[ReadingSettings]{fields: []field[ReadingSettings]{
	{"evaluation", "", timeout(func(s *ReadingSettings) *time.Duration { return &s.Evaluation })},
	{"fileBytes", "", bytesOf(func(s *ReadingSettings) *int { return &s.FileBytes })},
	{"entries", "", count(func(s *ReadingSettings) *int { return &s.Entries })},
}}

var apiShape = shape[APISettings]{fields: []field[APISettings]{
	{"requests", "", count(func(s *APISettings) *int { return &s.Requests })},
	{"followers", "", count(func(s *APISettings) *int { return &s.Followers })},
	{"connections", "", count(func(s *APISettings) *int { return &s.Connections })},
	{"followLines", "", count(func(s *APISettings) *int { return &s.FollowLines })},
	{"followBytes", "", bytesOf(func(s *APISettings) *int { return &s.FollowBytes })},
	{"logBytes", "", bytesOf(func(s *APISettings) *int { return &s.LogBytes })},
	{"history", "", count(func(s *APISettings) *int { return &s.History })},
	{"bodyBytes", "", bytesOf(func(s *APISettings) *int { return &s.BodyBytes })},
	{"command", "", timeout(func(s *APISettings) *time.Duration { return &s.Command })},
	{"headerBytes", "", bytesOf(func(s *APISettings) *int { return &s.HeaderBytes })},
	{"headerTimeout", "", timeout(func(s *APISettings) *time.Duration { return &s.HeaderTimeout })},
	{"bodyTimeout", "", timeout(func(s *APISettings) *time.Duration { return &s.BodyTimeout })},
	{"answerTimeout", "", timeout(func(s *APISettings) *time.Duration { return &s.AnswerTimeout })},
	{"idleTimeout", "", timeout(func(s *APISettings) *time.Duration { return &s.IdleTimeout })},
	{"drain", "", timeout(func(s *APISettings) *time.Duration { return &s.Drain })},
}}

var stateShape = shape[StateSettings]{fields: []field[StateSettings]{
	{"keys", "", count(func(s *StateSettings) *int { return &s.Keys })},
	{"bytes", "", bytesOf(func(s *StateSettings) *int { return &s.Bytes })},
	{"valueBytes", "", bytesOf(func(s *StateSettings) *int { return &s.ValueBytes })},
}}

var storeShape = shape[StoreSettings]{fields: []field[StoreSettings]{
	{"cacheBytes", "", optional(func(s *StoreSettings) **int { return &s.CacheBytes }, 0, MaxBytes)},
	{"maxBytes", "", stored(func(s *StoreSettings) *int64 { return &s.MaxBytes })},
	{"queueWrites", "", count(func(s *StoreSettings) *int { return &s.QueueWrites })},
	{"queueBytes", "", bytesOf(func(s *StoreSettings) *int { return &s.QueueBytes })},
	{"batchWrites", "", count(func(s *StoreSettings) *int { return &s.BatchWrites })},
	{"busy", "", timeout(func(s *StoreSettings) *time.Duration { return &s.Busy })},
	{"readers", "", count(func(s *StoreSettings) *int { return &s.Readers })},
	{"unsynced", "", truth(func(s *StoreSettings) *bool { return &s.Unsynced })},
	{"history", "", count(func(s *StoreSettings) *int { return &s.History })},
	{"configurationBytes", "", bytesOf(func(s *StoreSettings) *int { return &s.ConfigurationBytes })},
	{"grants", "", count(func(s *StoreSettings) *int { return &s.Grants })},
	{"subscriptions", "", count(func(s *StoreSettings) *int { return &s.Subscriptions })},
	{"runs", "", count(func(s *StoreSettings) *int { return &s.Runs })},
	{"runAge", "", age(func(s *StoreSettings) *time.Duration { return &s.RunAge }, MaxAge)},
	{"audit", "", count(func(s *StoreSettings) *int { return &s.Audit })},
	{"auditAge", "", age(func(s *StoreSettings) *time.Duration { return &s.AuditAge }, MaxAge)},
	{"auditBytes", "", bytesOf(func(s *StoreSettings) *int { return &s.AuditBytes })},
	{"entities", "", count(func(s *StoreSettings) *int { return &s.Entities })},
	{"entityBytes", "", bytesOf(func(s *StoreSettings) *int { return &s.EntityBytes })},
	{"entityAnswer", "", bytesOf(func(s *StoreSettings) *int { return &s.EntityAnswer })},
}}

var jobsShape = shape[JobSettings]{fields: []field[JobSettings]{
	{"skipMissed", "", truth(func(s *JobSettings) *bool { return &s.SkipMissed })},
	{"limit", "", timeout(func(s *JobSettings) *time.Duration { return &s.Limit })},
	{"atOnce", "", count(func(s *JobSettings) *int { return &s.AtOnce })},
	{"perPlugin", "", count(func(s *JobSettings) *int { return &s.PerPlugin })},
	{"jobs", "", count(func(s *JobSettings) *int { return &s.Jobs })},
	{"drain", "", timeout(func(s *JobSettings) *time.Duration { return &s.Drain })},
}}

var folderLimitsShape = shape[FolderLimits]{fields: []field[FolderLimits]{
	{"fileBytes", "", stored(func(s *FolderLimits) *int64 { return &s.FileBytes })},
	{"files", "", count(func(s *FolderLimits) *int { return &s.Files })},
	{"bytes", "", stored(func(s *FolderLimits) *int64 { return &s.Bytes })},
	{"atOnce", "", count(func(s *FolderLimits) *int { return &s.AtOnce })},
}}

var servicesShape = shape[ServiceSettings]{fields: []field[ServiceSettings]{
	{"activities", "", count(func(s *ServiceSettings) *int { return &s.Activities })},
	{"secrets", "", count(func(s *ServiceSettings) *int { return &s.Secrets })},
	{"series", "", count(func(s *ServiceSettings) *int { return &s.Series })},
	{"states", "", count(func(s *ServiceSettings) *int { return &s.States })},
	{"providerTimeout", "", timeout(func(s *ServiceSettings) *time.Duration { return &s.ProviderTimeout })},
	{"stateTimeout", "", timeout(func(s *ServiceSettings) *time.Duration { return &s.StateTimeout })},
	{"stateBytes", "", bytesOf(func(s *ServiceSettings) *int { return &s.StateBytes })},
}}

var queuesShape = shape[QueueSettings]{fields: []field[QueueSettings]{
	{"events", "", count(func(s *QueueSettings) *int { return &s.Events })},
	{"frames", "", count(func(s *QueueSettings) *int { return &s.Frames })},
	{"logLines", "", count(func(s *QueueSettings) *int { return &s.LogLines })},
	{"bytes", "", bytesOf(func(s *QueueSettings) *int { return &s.Bytes })},
	{"kept", "", count(func(s *QueueSettings) *int { return &s.Kept })},
	{"patience", "", timeout(func(s *QueueSettings) *time.Duration { return &s.Patience })},
	{"drain", "", timeout(func(s *QueueSettings) *time.Duration { return &s.Drain })},
}}

// count reads how many of something there may be.
func count[T any](to func(*T) *int) func(*reader, fieldPath, value, *T) {
	return integer(to, 1, MaxCount)
}

// bytesOf reads how many bytes of memory something may take.
func bytesOf[T any](to func(*T) *int) func(*reader, fieldPath, value, *T) {
	return integer(to, 1, MaxBytes)
}

// stored reads how many bytes of a disk something may take.
func stored[T any](to func(*T) *int64) func(*reader, fieldPath, value, *T) {
	return func(r *reader, at fieldPath, v value, into *T) {
		n, ok := whole(v)
		if !ok || n < 1 || n > MaxStoredBytes {
			r.add(at, "expected a whole number from 1 to %d, found %s", int64(MaxStoredBytes), v.found())
			return
		}
		*to(into) = n
	}
}

// optional reads a whole number for which 0 is another thing than its absence.
func optional[T any](to func(*T) **int, low, high int) func(*reader, fieldPath, value, *T) {
	return func(r *reader, at fieldPath, v value, into *T) {
		before := len(r.problems)
		n := new(0)
		integer(func(*T) *int { return n }, low, high)(r, at, v, into)
		if len(r.problems) == before {
			*to(into) = n
		}
	}
}
