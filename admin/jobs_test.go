package admin

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestJobs_areListedWithTheirRuns(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	list := []Job{{Plugin: "talker", Key: "sync", Schedule: "0 * * * *", Next: noon, Active: true, Runs: []JobRun{
		{ID: "r-1", Trigger: "manual", Outcome: "failed", Error: "no luck", ScheduledAt: noon, StartedAt: noon, EndedAt: noon},
		{ID: "r-2", Trigger: "schedule", Outcome: "running", ScheduledAt: noon, StartedAt: noon},
	}}}
	type question struct {
		plugin string
		runs   int
	}
	var asked []question
	var err error
	r := start(t, Options{Jobs: func(_ context.Context, plugin string, runs int) ([]Job, error) {
		asked = append(asked, question{plugin, runs})
		return list, err
	}})
	got, failed := r.Jobs(t.Context(), "talker", 2)
	require.NoError(t, failed)
	require.Equal(t, list, got)
	status, body := r.get(t, "/api/v1/jobs")
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"jobs":[{"plugin":"talker","job":"sync","schedule":"0 * * * *","next":"2026-01-02T12:00:00Z","active":true,"runs":[
		{"run":"r-1","trigger":"manual","outcome":"failed","error":"no luck","scheduledAt":"2026-01-02T12:00:00Z","startedAt":"2026-01-02T12:00:00Z","endedAt":"2026-01-02T12:00:00Z"},
		{"run":"r-2","trigger":"schedule","outcome":"running","scheduledAt":"2026-01-02T12:00:00Z","startedAt":"2026-01-02T12:00:00Z"}]}]}`, body)
	require.Equal(t, []question{{"talker", 2}, {"", defaultRuns}}, asked)

	_, failed = r.Jobs(t.Context(), "nobody", 1)
	require.ErrorContains(t, failed, "no plugin and no session is called nobody")
	status, _ = r.get(t, "/api/v1/jobs?lines=-1")
	require.Equal(t, http.StatusBadRequest, status)
	err = errors.New("the store is closed")
	_, failed = r.Jobs(t.Context(), "", 1)
	require.ErrorContains(t, failed, "the store is closed")
}

func TestJobs_ofAHostThatRemembersNone(t *testing.T) {
	_, err := start(t, Options{}).Jobs(t.Context(), "", 1)
	require.ErrorContains(t, err, "this host remembers no runs of jobs")
}

func TestRoster_mayChange(t *testing.T) {
	names := []string{"talker", "late"}
	r := start(t, Options{Roster: func() []string { return names }})
	list, err := r.Plugins(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 2)
	names = names[:1]
	list, err = r.Plugins(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
}
