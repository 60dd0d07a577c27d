package admin

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// JobList has the jobs of plugins, by plugin and key.
type JobList struct {
	Jobs []Job `json:"jobs"`
}

// Job is one job of a plugin. It is run by a call of "job:KEY", beside its schedule.
type Job struct {
	Plugin string `json:"plugin"`
	// Key is the job's own, without "job:".
	Key string `json:"job"`
	// Schedule is a cron expression, in UTC; absent for one that only runs when it is called.
	Schedule string `json:"schedule,omitempty"`
	// Next is when it is due; absent too while its plugin is not ready.
	Next time.Time `json:"next,omitzero"`
	// Active tells that a run of it has begun, or waits to.
	Active bool `json:"active,omitempty"`
	// Runs are the last ones, the newest first.
	Runs []JobRun `json:"runs"`
}

// JobRun is one run of a job.
type JobRun struct {
	ID      string `json:"run"`
	Company string `json:"company,omitempty"`
	// Trigger is schedule, manual or retry.
	Trigger string `json:"trigger"`
	// Outcome is running, succeeded, failed, skipped, or unknown where the host ended before
	// the run. Error says why it failed or was left out.
	Outcome string `json:"outcome"`
	Error   string `json:"error,omitempty"`
	// ScheduledAt is when it was due, StartedAt when it began; EndedAt is absent while it
	// runs.
	ScheduledAt time.Time `json:"scheduledAt"`
	StartedAt   time.Time `json:"startedAt"`
	EndedAt     time.Time `json:"endedAt,omitzero"`
}

// defaultRuns is how many runs of each job are listed unless the question says.
const defaultRuns = 5

func (s *Server) getJobs(w http.ResponseWriter, r *http.Request) error {
	q, err := queryOf(r, "plugin", "lines")
	if err != nil {
		return err
	}
	if s.opts.Jobs == nil {
		return invalid("this host remembers no runs of jobs: it keeps nothing for the next one; a job runs when it is called")
	}
	if q.plugin != "" {
		one, err := s.findAny(q.plugin)
		if err != nil {
			return err
		}
		q.plugin = one.Plugin
	}
	runs := defaultRuns
	if r.URL.Query().Has("lines") {
		runs = q.lines
	}
	list, err := s.opts.Jobs(r.Context(), q.plugin, runs)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, JobList{list})
}

// Jobs lists the jobs of a plugin, or of all for "", each with its last runs: so many at
// most, 0 for none.
func (c *Client) Jobs(ctx context.Context, plugin string, runs int) ([]Job, error) {
	query := url.Values{"lines": {strconv.Itoa(runs)}}
	if plugin != "" {
		query.Set("plugin", plugin)
	}
	var list JobList
	err := c.get(ctx, "/jobs?"+query.Encode(), &list)
	return list.Jobs, err
}
