package main

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/airi-host/airi-host/admin"
)

const jobsText = `List the jobs of the running host's plugins: when each is due by its schedule, which is in
UTC, and what became of its last run. With --runs there are as many runs of each, the newest
first.

A job also runs when it is called: airi-host call job:KEY --plugin NAME. That is refused while a
run of it has not ended.

With --output json there is a line {"event":"job",…} for each, with its last runs.`

// maxRuns is how many runs of each job can be asked for.
const maxRuns = 1000

func (c *cli) jobsCommand() *cobra.Command {
	runs := 0
	cmd := &cobra.Command{
		Use:     "jobs [NAME]",
		Short:   "List the jobs of the running host's plugins, and what became of their runs",
		Long:    jobsText,
		Example: "  airi-host jobs\n  airi-host jobs ledger --runs 10",
		Args:    c.arguments(0, 1, "at most one NAME, a plugin's"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if runs < 0 || runs > maxRuns {
				return usageError{errors.New("--runs: expected a number from 0 to 1000")}
			}
			plugin := ""
			if len(args) == 1 {
				plugin = args[0]
			}
			return c.ask(cmd.Context(), func(ctx context.Context, host *admin.Client) error {
				list, err := host.Jobs(ctx, plugin, max(runs, 1))
				if err == nil {
					c.printJobs(list, runs > 0, time.Now())
				}
				return err
			})
		},
	}
	cmd.Flags().IntVar(&runs, "runs", 0, "how many runs of each job to list")
	return cmd
}

func (c *cli) printJobs(list []admin.Job, withRuns bool, now time.Time) {
	rows := [][]string{{"PLUGIN", "JOB", "SCHEDULE", "NEXT", "LAST RUN"}}
	for _, one := range list {
		if c.json() {
			c.encodeAs("job", one)
		}
		rows = append(rows, []string{one.Plugin, one.Key, cmp.Or(one.Schedule, "-"), nextOf(one, now), lastOf(one, now)})
	}
	c.table(rows)
	if !withRuns {
		return
	}
	rows = [][]string{{"PLUGIN", "JOB", "STARTED", "TOOK", "TRIGGER", "OUTCOME", "RUN", "ERROR"}}
	for _, one := range list {
		for _, r := range one.Runs {
			rows = append(rows, []string{
				one.Plugin, one.Key, r.StartedAt.UTC().Format(time.RFC3339), tookOf(r), r.Trigger, r.Outcome, r.ID, cmp.Or(r.Error, "-"),
			})
		}
	}
	c.say("")
	c.table(rows)
}

// nextOf is when a job is due.
func nextOf(one admin.Job, now time.Time) string {
	if one.Next.IsZero() {
		return "-"
	}
	return one.Next.UTC().Format("2006-01-02 15:04") + " (in " + span(one.Next.Sub(now)) + ")"
}

// lastOf is what became of a job's last run.
func lastOf(one admin.Job, now time.Time) string {
	if len(one.Runs) == 0 {
		return "-"
	}
	last := one.Runs[0]
	if last.EndedAt.IsZero() {
		return last.Outcome + " for " + span(now.Sub(last.StartedAt))
	}
	return sentence(last.Outcome+" "+span(now.Sub(last.EndedAt))+" ago", last.Error)
}

// tookOf is how long a run took that was one.
func tookOf(r admin.JobRun) string {
	if r.EndedAt.IsZero() || r.EndedAt.Equal(r.StartedAt) && r.Error != "" {
		return "-"
	}
	return r.EndedAt.Sub(r.StartedAt).Round(time.Millisecond).String()
}
