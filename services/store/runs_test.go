package store

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func wantRuns(t *testing.T, db *DB, plugin, job string, limit int, want ...string) {
	t.Helper()
	all, err := db.Runs(t.Context(), plugin, job, limit)
	require.NoError(t, err)
	ids := []string{}
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	require.Equal(t, strings.Join(want, " "), strings.Join(ids, " "))
}

func startRun(t *testing.T, db *DB, plugin, job, id string) {
	t.Helper()
	require.NoError(t, db.StartRun(t.Context(), Run{Plugin: plugin, ID: id, Job: job, Trigger: protocol.TriggerSchedule}))
}

func TestRun_isRememberedWithWhatBecameOfIt(t *testing.T) {
	clock := newClock()
	db := openStore(t, Options{Now: clock.Now})
	began := clock.now
	require.NoError(t, db.StartRun(t.Context(), Run{
		Plugin: "p", ID: "1", Job: "sync", Company: "c1", Trigger: protocol.TriggerManual, ScheduledAt: began.Add(-time.Second),
	}))
	startRun(t, db, "p", "sync", "2")
	startRun(t, db, "p", "clean", "3")
	clock.pass(time.Minute)
	require.NoError(t, db.EndRun(t.Context(), "p", "1", ""))
	require.NoError(t, db.EndRun(t.Context(), "p", "2", "no luck"))
	require.NoError(t, db.EndRun(t.Context(), "p", "9", "was dropped"))

	first := Run{
		Plugin: "p", ID: "1", Job: "sync", Company: "c1", Trigger: protocol.TriggerManual,
		ScheduledAt: began.Add(-time.Second), StartedAt: began, EndedAt: clock.now, Outcome: Succeeded,
	}
	second := Run{
		Plugin: "p", ID: "2", Job: "sync", Trigger: protocol.TriggerSchedule,
		StartedAt: began, EndedAt: clock.now, Outcome: Failed, Error: "no luck",
	}
	third := Run{Plugin: "p", ID: "3", Job: "clean", Trigger: protocol.TriggerSchedule, StartedAt: began, Outcome: Running}
	all, err := db.Runs(t.Context(), "p", "", 0)
	require.NoError(t, err)
	require.Equal(t, []Run{third, second, first}, all)
	wantRuns(t, db, "p", "sync", 1, "2")

	clock.pass(time.Minute)
	db = reopened(t, db)
	third.Outcome, third.EndedAt = Unknown, clock.now
	all, err = db.Runs(t.Context(), "p", "clean", 0)
	require.NoError(t, err)
	require.Equal(t, []Run{third}, all, "its host ended")
}

func TestRun_beginsOnce(t *testing.T) {
	db := openStore(t, Options{})
	startRun(t, db, "p", "sync", "1")
	startRun(t, db, "q", "sync", "1")
	wantFault(t, db.StartRun(t.Context(), Run{Plugin: "p", ID: "1"}), protocol.CodeInvalid,
		`plugin p: run "1" has begun already: name another`)
}

func TestRun_mayBeLeftOut(t *testing.T) {
	clock := newClock()
	db := openStore(t, Options{Now: clock.Now, Runs: 1})
	left := Run{Plugin: "p", ID: "1", Job: "sync", Trigger: protocol.TriggerSchedule, ScheduledAt: clock.now, Error: "another runs"}
	require.NoError(t, db.SkipRun(t.Context(), left))
	wantFault(t, db.SkipRun(t.Context(), left), protocol.CodeInvalid, `run "1" has begun already`)
	left.Outcome, left.StartedAt, left.EndedAt = Skipped, clock.now, clock.now
	all, err := reopened(t, db).Runs(t.Context(), "p", "", 0)
	require.NoError(t, err)
	require.Equal(t, []Run{left}, all)
}

func wantFollowed(t *testing.T, db *DB, schedule string, want time.Time) {
	t.Helper()
	until, err := db.FollowJob(t.Context(), "p", "sync", schedule)
	require.NoError(t, err)
	require.Equal(t, want, until)
}

func TestFollowJob_tellsUntilWhenAScheduleWasFollowed(t *testing.T) {
	clock := newClock()
	db := openStore(t, Options{Now: clock.Now})
	first := clock.now
	wantFollowed(t, db, "* * * * *", first)
	clock.pass(time.Hour)
	require.NoError(t, db.StartRun(t.Context(), Run{Plugin: "p", ID: "1", Job: "sync", Trigger: protocol.TriggerManual}))
	startRun(t, db, "p", "clean", "2")
	startRun(t, db, "q", "sync", "1")
	db = reopened(t, db)
	wantFollowed(t, db, "* * * * *", first)

	startRun(t, db, "p", "sync", "3")
	second := clock.now
	clock.pass(time.Hour)
	wantFollowed(t, db, "* * * * *", second)
	require.NoError(t, db.SkipRun(t.Context(), Run{Plugin: "p", ID: "4", Job: "sync", Trigger: protocol.TriggerSchedule}))
	third := clock.now
	clock.pass(time.Hour)
	wantFollowed(t, db, "* * * * *", third)
	wantFollowed(t, db, "0 * * * *", clock.now)
}

func TestRun_theOldAreDropped(t *testing.T) {
	clock := newClock()
	db := openStore(t, Options{Now: clock.Now, Runs: 3, RunAge: time.Hour})
	for _, id := range strings.Fields("1 2 3 4 5") {
		startRun(t, db, "p", "sync", id)
	}
	startRun(t, db, "q", "sync", "1")
	wantRuns(t, db, "p", "", 0, "5", "4", "3")
	require.EqualValues(t, 2, db.Stats().DroppedRuns)
	clock.pass(time.Hour + time.Millisecond)
	startRun(t, db, "p", "sync", "6")
	wantRuns(t, db, "p", "", 0, "6")
	wantRuns(t, db, "q", "", 0)
	require.EqualValues(t, 6, db.Stats().DroppedRuns)
}
