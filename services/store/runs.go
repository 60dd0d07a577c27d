package store

import (
	"context"
	"time"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services/jobs"
)

// Run is one run of a plugin's job.
type Run = jobs.Run

var _ jobs.Store = (*DB)(nil)

// Outcome is what became of a run.
type Outcome = jobs.Outcome

// The outcomes.
const (
	Running   = jobs.Running
	Succeeded = jobs.Succeeded
	Failed    = jobs.Failed
	Skipped   = jobs.Skipped
	Unknown   = jobs.Unknown
)

const runColumns = `plugin, run, job, company, started_by, outcome, error, scheduled_at, started_at, ended_at`

// FollowJob returns until when a job's schedule was followed: now, if the job is new or
// has another schedule, which is remembered.
func (db *DB) FollowJob(ctx context.Context, plugin, job, schedule string) (until time.Time, err error) {
	now := milliseconds(db.limits.Now())
	var kept int64
	err = db.change(ctx, len(plugin)+len(job)+len(schedule), func(t *tx) error {
		_, err := t.get(`INSERT INTO jobs (plugin, job, schedule, followed_until) VALUES (?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET schedule = excluded.schedule,
				followed_until = iif(schedule = excluded.schedule, followed_until, excluded.followed_until)
			RETURNING followed_until`, []any{plugin, job, schedule, now}, &kept)
		return err
	})
	if err != nil {
		return time.Time{}, err
	}
	return moment(kept), nil
}

// StartRun remembers that a run begins; r's StartedAt is when it is called. If it is by
// schedule, then that was followed until now. Runs beyond the limits on number and age
// are dropped then, the oldest first, and counted.
func (db *DB) StartRun(ctx context.Context, r Run) error {
	return db.addRun(ctx, r, Running, "", time.Time{})
}

// SkipRun remembers a run that was due and left out, r.Error saying why: of that, the
// first 4 KiB. Its schedule was followed until now.
func (db *DB) SkipRun(ctx context.Context, r Run) error {
	return db.addRun(ctx, r, Skipped, reason(r.Error), db.limits.Now())
}

func (db *DB) addRun(ctx context.Context, r Run, outcome Outcome, why string, ended time.Time) error {
	now := db.limits.Now()
	var dropped int64
	return db.writer.do(ctx, &write{
		size: len(r.ID) + len(r.Job) + len(why),
		run: func(t *tx) (err error) {
			known, err := t.get(`SELECT 1 FROM job_runs WHERE plugin = ? AND run = ?`, []any{r.Plugin, r.ID}, new(int))
			switch {
			case err != nil:
				return err
			case known:
				return refused(r.Plugin, protocol.CodeInvalid, "run %q has begun already: name another", r.ID)
			}
			err = t.exec(`INSERT INTO job_runs (`+runColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				r.Plugin, r.ID, r.Job, r.Company, r.Trigger, string(outcome), why,
				milliseconds(r.ScheduledAt), milliseconds(now), milliseconds(ended))
			if err == nil && r.Trigger == protocol.TriggerSchedule {
				err = t.exec(`UPDATE jobs SET followed_until = ? WHERE plugin = ? AND job = ?`, milliseconds(now), r.Plugin, r.Job)
			}
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
	outcome, failure := Succeeded, reason(failure)
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
