package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/airi-host/airi-host/admin"
	"github.com/airi-host/airi-host/services/jobs"
	"github.com/airi-host/airi-host/services/store"
)

// jobList knows the jobs of a host's plugins, and what became of their runs.
type jobList struct {
	*house
	db *store.DB
}

func newJobList(h *house, db *store.DB) *jobList { return &jobList{h, db} }

// list returns the jobs of a plugin, "" being all, with so many of their last runs.
func (l *jobList) list(ctx context.Context, plugin string, runs int) ([]admin.Job, error) {
	list := []admin.Job{}
	for _, one := range l.known() {
		if plugin != "" && one.Plugin != plugin {
			continue
		}
		told := admin.Job{Plugin: one.Plugin, Key: one.Key, Schedule: one.Schedule, Next: one.Next, Active: one.Active, Runs: []admin.JobRun{}}
		if runs > 0 {
			kept, err := l.db.Runs(ctx, one.Plugin, one.Key, runs)
			if err != nil {
				return nil, err
			}
			for _, r := range kept {
				told.Runs = append(told.Runs, runOf(r))
			}
		}
		list = append(list, told)
	}
	return list, nil
}

// known are the jobs that are followed, and those that the manifests of other plugins
// declare: what became of theirs is asked for when they are down.
func (l *jobList) known() []jobs.Followed {
	list := l.jobs.List()
	followed := map[string]bool{}
	for _, one := range list {
		followed[one.Plugin] = true
	}
	for _, name := range l.roster.list() {
		m := l.roster.get(name)
		if followed[name] || m == nil || m.Paperclip == nil {
			continue
		}
		for _, declared := range m.Paperclip.Jobs {
			list = append(list, jobs.Followed{Plugin: name, Job: jobs.Job{Key: declared.Key, Schedule: declared.Schedule}})
		}
	}
	slices.SortStableFunc(list, func(a, b jobs.Followed) int {
		return cmp.Or(cmp.Compare(a.Plugin, b.Plugin), cmp.Compare(a.Key, b.Key))
	})
	return list
}

func runOf(r jobs.Run) admin.JobRun {
	return admin.JobRun{
		ID: r.ID, Company: r.Company, Trigger: r.Trigger, Outcome: string(r.Outcome), Error: r.Error,
		ScheduledAt: r.ScheduledAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt,
	}
}
