package main

import (
	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/services/jobs"
)

// countJobs shows what becomes of plugins' jobs; neither need be there.
func countJobs(m *admin.Metrics, t *timetable) {
	if m == nil || t == nil {
		return
	}
	for _, one := range []struct {
		name, help string
		count      func(jobs.Stats) int
	}{
		{"jobs", "Jobs that are followed.", func(s jobs.Stats) int { return s.Jobs }},
		{"jobs_running", "Runs that have begun and not ended.", func(s jobs.Stats) int { return s.Running }},
		{"jobs_waiting", "Runs that are due and wait for others to end.", func(s jobs.Stats) int { return s.Waiting }},
	} {
		m.Gauge(one.name, one.help, func() float64 { return float64(one.count(t.Stats())) })
	}
	for _, one := range []struct {
		name, help string
		count      func(jobs.Stats) uint64
		labels     []string
	}{
		{"job_runs_total", helpRuns, func(s jobs.Stats) uint64 { return s.Runs - s.Failed }, []string{"outcome", string(jobs.Succeeded)}},
		{"job_runs_total", helpRuns, func(s jobs.Stats) uint64 { return s.Failed }, []string{"outcome", string(jobs.Failed)}},
		{"job_runs_total", helpRuns, func(s jobs.Stats) uint64 { return s.Skipped }, []string{"outcome", string(jobs.Skipped)}},
		{"job_runs_total", helpRuns, func(s jobs.Stats) uint64 { return s.Missed }, []string{"outcome", "missed"}},
		{"job_runs_unrecorded_total", "What the store did not take of runs.", func(s jobs.Stats) uint64 { return s.Unrecorded }, nil},
	} {
		m.Count(one.name, one.help, func() uint64 { return one.count(t.Stats()) }, one.labels...)
	}
}

const helpRuns = "Runs of jobs, by what became of them: skipped is due while the one before had not ended, missed what was late and is left out by the settings."
