package store

import (
	"context"
	"time"

	"github.com/airi-host/airi-host/protocol"
)

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
	// ScheduledAt is when it was due; StartedAt, when it began; EndedAt is zero while
	// it runs. All are in milliseconds.
	ScheduledAt, StartedAt, EndedAt time.Time
	Outcome                         Outcome
	// Error is why it failed.
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
	// Unknown is what a run came to whose host ended before it did.
	Unknown Outcome = "unknown"
)

const runColumns = `plugin, run, job, company, started_by, outcome, error, scheduled_at, started_at, ended_at`

// StartRun remembers that a run begins; r's StartedAt is when it is called. Runs beyond
// the limits on number and age are dropped then, the oldest first, and counted.
func (db *DB) StartRun(ctx context.Context, r Run) error {
	now := db.limits.Now()
	var dropped int64
	return db.writer.do(ctx, &write{
		size: len(r.ID) + len(r.Job),
		run: func(t *tx) (err error) {
			known, err := t.get(`SELECT 1 FROM job_runs WHERE plugin = ? AND run = ?`, []any{r.Plugin, r.ID}, new(int))
			switch {
			case err != nil:
				return err
			case known:
				return refused(r.Plugin, protocol.CodeInvalid, "run %q has begun already: name another", r.ID)
			}
			err = t.exec(`INSERT INTO job_runs (`+runColumns+`) VALUES (?, ?, ?, ?, ?, ?, '', ?, ?, 0)`,
				r.Plugin, r.ID, r.Job, r.Company, r.Trigger, string(Running), milliseconds(r.ScheduledAt), milliseconds(now))
			if err != nil {
				return err
			}
			dropped, err = db.trimRuns(t, r.Plugin, now)
			return err
		},
		committed: func() { db.counts.runs.Add(dropped) },
	})
}

// EndRun remembers what became of a run: it has succeeded if failure is "". A run that
// is not known, since it was dropped, is no error.
func (db *DB) EndRun(ctx context.Context, plugin, id, failure string) error {
	outcome, failure := Succeeded, failure[:min(len(failure), maxReason)]
	if failure != "" {
		outcome = Failed
	}
	now := milliseconds(db.limits.Now())
	return db.change(ctx, len(failure), func(t *tx) error {
		return t.exec(`UPDATE job_runs SET outcome = ?, error = ?, ended_at = ? WHERE plugin = ? AND run = ?`,
			string(outcome), failure, now, plugin, id)
	})
}

// Runs returns runs of a plugin's job, "" being all jobs, the newest first; of 0 or
// more than are kept, all.
func (db *DB) Runs(ctx context.Context, plugin, job string, limit int) ([]Run, error) {
	if limit <= 0 {
		limit = db.limits.Runs
	}
	return rowsOf(ctx, db, readRun, `SELECT `+runColumns+` FROM job_runs
		WHERE plugin = ?1 AND (?2 = '' OR job = ?2) ORDER BY number DESC LIMIT ?3`, plugin, job, limit)
}

func (db *DB) trimRuns(t *tx, plugin string, now time.Time) (int64, error) {
	old, err := t.count(`DELETE FROM job_runs WHERE started_at < ?`, milliseconds(now.Add(-db.limits.RunAge)))
	if err != nil {
		return 0, err
	}
	many, err := t.count(`DELETE FROM job_runs WHERE plugin = ?1 AND number <=
		(SELECT number FROM job_runs WHERE plugin = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)`, plugin, db.limits.Runs)
	return old + many, err
}

// begin ends the runs of the host before this one, of which nobody else will tell.
func (db *DB) begin(ctx context.Context) error {
	now := milliseconds(db.limits.Now())
	return db.change(ctx, 0, func(t *tx) error {
		return t.exec(`UPDATE job_runs SET outcome = 'unknown', ended_at = ? WHERE outcome = 'running'`, now)
	})
}

func readRun(scan func(...any) error) (r Run, err error) {
	var scheduled, started, ended int64
	err = scan(&r.Plugin, &r.ID, &r.Job, &r.Company, &r.Trigger, &r.Outcome, &r.Error, &scheduled, &started, &ended)
	r.ScheduledAt, r.StartedAt, r.EndedAt = moment(scheduled), moment(started), moment(ended)
	return r, err
}
