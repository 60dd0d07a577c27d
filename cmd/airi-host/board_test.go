package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/actors"
	"github.com/airi-host/airi-host/lifecycle"
)

func TestObserver_countsOverASecondAndBeginsAnewWithASession(t *testing.T) {
	o := newObserver([]string{"p"}, noon)
	at := func(after time.Duration, session string, calls, errors uint64) boardRow {
		s := actors.SessionInfo{Plugin: "p", ID: session, Phase: lifecycle.Ready, Calls: calls, CallErrors: errors}
		return o.look(noon.Add(after), doingServe, []actors.SessionInfo{s}).rows[0]
	}
	require.Zero(t, at(500*time.Millisecond, "s0", 10, 0).calls, "there is no second yet")
	r := at(time.Second, "s0", 20, 5)
	require.EqualValues(t, 20, r.calls)
	require.EqualValues(t, 5, r.errors)
	require.EqualValues(t, 20, at(1900*time.Millisecond, "s0", 99, 5).calls, "it holds for a second")
	require.EqualValues(t, 40, at(3*time.Second, "s0", 100, 5).calls)
	r = at(4*time.Second, "s1", 7, 1)
	require.EqualValues(t, 7, r.calls)
	require.EqualValues(t, 1, r.errors)
}

func TestObserver_aPluginIsItsNewestSession(t *testing.T) {
	o := newObserver([]string{"p"}, noon)
	require.Empty(t, o.look(noon, doingStart, nil).rows[0].phase, "it has none yet")
	b := o.look(noon, doingServe, []actors.SessionInfo{
		{Plugin: "p", ID: "s0", Phase: lifecycle.Failed, Reason: "old"},
		{Plugin: "p", ID: "s1", Phase: lifecycle.Loading},
		{Plugin: "stranger", ID: "s2", Phase: lifecycle.Ready},
	})
	require.Len(t, b.rows, 2)
	require.Equal(t, "stranger", b.rows[1].plugin, "it has come since")
	require.Equal(t, lifecycle.Loading, b.rows[0].phase)
	require.Empty(t, b.rows[0].needs)
	require.Equal(t, lifecycle.Stopped, o.look(noon, doingStop, nil).rows[0].phase)
}

func TestObserver_tellsOfGrantsThatWait(t *testing.T) {
	o := newObserver([]string{"p", "q"}, noon)
	waiting := map[string][]string{"p": {"events.emit", "invoke:tool:\x1b[44m*"}}
	o.unapproved = func(plugin string) []string { return waiting[plugin] }
	at := func(p actors.SessionInfo) (of, other string) {
		p.Plugin, p.ID = "p", "s0"
		rows := o.look(noon, doingServe, []actors.SessionInfo{p, {Plugin: "q", ID: "s1", Phase: lifecycle.Ready}}).rows
		return rows[0].needs, rows[1].needs
	}
	p, q := at(actors.SessionInfo{Phase: lifecycle.Ready})
	require.Equal(t, "waits for approval of events.emit, invoke:tool:␛[44m*: 'airi-host approve p'", p)
	require.Empty(t, q)
	p, _ = at(actors.SessionInfo{Phase: lifecycle.Failed, Reason: "no luck"})
	require.Contains(t, p, "no luck", "what keeps it from being ready comes first")
	require.NotContains(t, p, "approval")
	delete(waiting, "p")
	p, _ = at(actors.SessionInfo{Phase: lifecycle.Ready})
	require.Empty(t, p, "it was approved")
}
