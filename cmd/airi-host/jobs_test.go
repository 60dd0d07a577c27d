package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/capability"
	"github.com/airi-host/airi-host/lifecycle"
	"github.com/airi-host/airi-host/manifest"
	"github.com/airi-host/airi-host/plugin"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/services/jobs"
	"github.com/airi-host/airi-host/services/store"
)

// hourly is a host's plugin whose job "tally" runs by the hour, and tells its triggers.
func hourly(t *testing.T) (*actors.Host, *manifest.Manifest, <-chan string) {
	t.Helper()
	triggers := make(chan string, 10)
	p := plugin.Define("hourly")
	plugin.Job(p, "tally", func(_ context.Context, run plugin.Run) error {
		triggers <- run.Trigger
		return nil
	})
	host, err := actors.New(actors.Options{Programs: map[string]protocol.Program{"hourly": p}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, host.Shutdown(context.Background())) })
	m := ofProgram("hourly")
	m.Paperclip = &manifest.Paperclip{Jobs: []manifest.PaperclipJob{{Key: "tally", Schedule: "0 * * * *"}}}
	return host, m, triggers
}

// followJobs is a timetable that has begun.
func followJobs(host *actors.Host, db *store.DB, o jobs.Options) *timetable {
	t := newTimetable(host, db, o)
	t.begin()
	return t
}

func TestFollowJobs_runsWhatWasMissedAndRemembersIt(t *testing.T) {
	dir := t.TempDir()
	yesterday := func() time.Time { return time.Now().Add(-24 * time.Hour) }
	db, err := store.Open(t.Context(), dir, store.Options{Now: yesterday})
	require.NoError(t, err)
	_, err = db.FollowJob(t.Context(), "hourly", "tally", "0 * * * *")
	require.NoError(t, err)
	require.NoError(t, db.Close())

	db, err = openStore(t.Context(), dir, store.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	host, m, triggers := hourly(t)
	followed := followJobs(host, db, jobs.Options{Log: slog.New(slog.DiscardHandler)})
	defer followed.close()
	_, err = host.Start(t.Context(), m, actors.StartOptions{})
	require.NoError(t, err)
	require.Equal(t, protocol.TriggerSchedule, <-triggers)
	followed.close() // so that it has ended
	runs, err := db.Runs(t.Context(), "hourly", "tally", 0)
	require.NoError(t, err)
	require.Len(t, runs, 1)
	require.Equal(t, store.Succeeded, runs[0].Outcome, runs[0].Error)
}

func TestFollowJobs_followsPluginsThatAreReady(t *testing.T) {
	db, err := openStore(t.Context(), t.TempDir(), store.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	host, m, _ := hourly(t)
	followed := followJobs(host, db, jobs.Options{})
	defer followed.close()
	wantJobs := func(n int) {
		t.Helper()
		require.Eventually(t, func() bool { return followed.Stats().Jobs == n }, 10*time.Second, time.Millisecond)
	}
	session, err := host.Start(t.Context(), m, actors.StartOptions{})
	require.NoError(t, err)
	wantJobs(1)
	_, err = host.Stop(t.Context(), session.ID)
	require.NoError(t, err)
	wantJobs(0)
	_, err = followed.Trigger(t.Context(), "hourly", "tally")
	require.Equal(t, protocol.CodeNotFound, protocol.CodeOf(err))
}

// A job that is called is run as one that is due: it is remembered, with the run's own
// id, and refused while another run has not ended.
func TestTimetable_runsJobsThatAreCalled(t *testing.T) {
	db, err := openStore(t.Context(), t.TempDir(), store.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	begun, goOn := make(chan plugin.Run), make(chan struct{})
	p := plugin.Define("byhand")
	plugin.Job(p, "tally", func(_ context.Context, run plugin.Run) error {
		begun <- run
		<-goOn
		return nil
	})
	host, err := actors.New(actors.Options{Programs: map[string]protocol.Program{"byhand": p}})
	require.NoError(t, err)
	defer func() { require.NoError(t, host.Shutdown(context.Background())) }()
	jobs := newTimetable(host, db, jobs.Options{}) // it follows nothing yet
	defer jobs.close()
	_, err = host.Start(t.Context(), ofProgram("byhand"), actors.StartOptions{})
	require.NoError(t, err)
	ended := make(chan error, 1)
	call := func() error {
		_, err := host.Invoke(context.Background(), protocol.Call{Key: "job:tally"})
		return err
	}
	go func() { ended <- call() }()
	run := <-begun
	require.Equal(t, protocol.CodeOverloaded, protocol.CodeOf(call()))
	close(goOn)
	require.NoError(t, <-ended)
	kept, err := db.Runs(t.Context(), "byhand", "tally", 0)
	require.NoError(t, err)
	require.Len(t, kept, 1)
	require.Equal(t, plugin.Run{Trigger: protocol.TriggerManual, ID: kept[0].ID, ScheduledAt: kept[0].ScheduledAt}, plugin.Run{
		Trigger: run.Trigger, ID: run.ID, ScheduledAt: run.ScheduledAt.Truncate(time.Millisecond),
	})
	require.Equal(t, store.Succeeded, kept[0].Outcome)
}

func TestReadyJobs_areThoseThatCanBeCalled(t *testing.T) {
	offer := func(key, plugin, instance string, state lifecycle.State, metadata string) capability.Offer {
		return capability.Offer{
			Key: capability.Key(key), Owner: capability.Owner{Plugin: plugin, Instance: instance},
			State: state, Metadata: json.RawMessage(metadata),
		}
	}
	require.Equal(t, map[string][]jobs.Job{
		"p": {{Key: "a", Schedule: "* * * * *"}, {Key: "b"}, {Key: "c"}},
		"q": {{Key: "a"}},
	}, readyJobs([]capability.Offer{
		offer("job:a", "p", "1", lifecycle.CapReady, `{"displayName":"A","schedule":"* * * * *"}`),
		offer("job:a", "p", "2", lifecycle.CapReady, `{"schedule":"* * * * *"}`),
		offer("job:b", "p", "1", lifecycle.CapReady, ``),
		offer("job:c", "p", "1", lifecycle.CapReady, `{"schedule":7}`),
		offer("job:a", "q", "", lifecycle.CapReady, `null`),
		offer("job:d", "p", "1", lifecycle.CapDegraded, `{}`),
		offer("job:e", "p", "1", lifecycle.CapAnnounced, `{}`),
		offer("tool:a", "p", "1", lifecycle.CapReady, `{"schedule":"* * * * *"}`),
	}))
}
