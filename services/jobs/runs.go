package jobs

import (
	"context"
	"encoding/json"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

// Runner calls capabilities; the host does.
type Runner interface {
	// Invoke calls a job and returns when it has ended, or the call's deadline or its
	// context has.
	Invoke(context.Context, protocol.Call) (json.RawMessage, error)
}

// Store remembers runs, and until when schedules were followed. All methods may run
// concurrently.
type Store interface {
	// FollowJob returns until when a job's schedule was followed: now, if the job is
	// new or has another schedule, which is remembered.
	FollowJob(ctx context.Context, plugin, job, schedule string) (until time.Time, err error)
	// StartRun remembers that a run begins now. If it is by schedule, then that was
	// followed until now.
	StartRun(ctx context.Context, r Run) error
	// SkipRun remembers one that was due and left out, r.Error saying why. Its schedule
	// was followed until now.
	SkipRun(ctx context.Context, r Run) error
	// EndRun remembers what became of a run: it has succeeded if failure is "".
	EndRun(ctx context.Context, plugin, id, failure string) error
}

// Run is one run of a plugin's job.
type Run struct {
	Plugin string
	// ID tells the runs of one plugin apart.
	ID string
	// Job is the job's key; Company is "" for none.
	Job, Company string
	// Trigger is one of [protocol.TriggerSchedule], [protocol.TriggerManual] and
	// [protocol.TriggerRetry].
	Trigger string
	// ScheduledAt is when it was due, the first time if it was missed; StartedAt, when it
	// began; EndedAt is zero while it runs. All are in milliseconds.
	ScheduledAt, StartedAt, EndedAt time.Time
	Outcome                         Outcome
	// Error is why it failed or was left out.
	Error string
}

// Outcome is what became of a run.
type Outcome string

const (
	// Running is one that has not ended.
	Running Outcome = "running"
	// Succeeded is what the plugin has said.
	Succeeded Outcome = "succeeded"
	// Failed is the plugin, or the call; Error says how.
	Failed Outcome = "failed"
	// Skipped is one that was due and left out; Error says why.
	Skipped Outcome = "skipped"
	// Unknown is what a run came to whose host ended before it did.
	Unknown Outcome = "unknown"
)
