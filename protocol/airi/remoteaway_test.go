package airi

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// busy is a link with a call of each sort in flight.
func busy(t *testing.T) link {
	t.Helper()
	l := newLink(t, Remote{Session: 7, Negotiates: true}, protocol.Settings{})
	require.Len(t, l.invoke(1, "greet", "{}"), 1)
	require.Empty(t, l.step(protocol.Invoke{ID: 2, Call: protocol.Call{Key: "sum"}, Feeds: true}))
	require.Len(t, l.validate(3), 1)
	require.Len(t, l.frame("clock-send", `{"invokeId":"x"}`), 1)
	require.Len(t, l.frame("sum-send", `{"invokeId":"y","content":1,"isReqStream":true}`), 2)
	return l
}

func lost(words string) []string {
	return []string{
		"complete 1 error outcome-unknown: plugin hello ended while the call of greet was in flight; it may have run: " + words,
		"complete 2 error outcome-unknown: plugin hello ended while the call of sum was in flight; it may have run: " + words,
		"abandon {1}", "abandon {2}",
		"complete 3 error outcome-unknown: plugin hello ended while a question about its configuration was in flight; it may have run: " + words,
	}
}

func TestRemote_isAway(t *testing.T) {
	l := busy(t)
	require.Equal(t, append(lost("connection closed"), "absent connection closed", "note knows"), l.note("away connection closed\n"))
	for _, key := range []string{"greet", "event:e", "airi-host:bridge:validate"} {
		require.Equal(t, []string{"complete 4 error not-ready: plugin hello has no connection for now (connection closed): call " + key + " again later"},
			l.invoke(4, key, "{}"))
	}
	require.Empty(t, l.step(protocol.Reply{ID: 1, Result: null}))
	require.Empty(t, l.step(protocol.Feed{ID: 2, Item: null}))
	require.Empty(t, l.step(protocol.Cancel{ID: 1}))
	require.Equal(t, []string{"dropped late-answer greet-receive-airi-host-7-1"}, l.frame("greet-receive-airi-host-7-1", `{"invokeId":"airi-host-7-1"}`))
	require.Equal(t, []string{"dropped control away", "note knows"}, l.note("away again\n"))

	require.Equal(t, []string{"present"}, l.note("back\n"))
	require.Equal(t, []string{"dropped late-answer greet-receive-airi-host-7-1"}, l.frame("greet-receive-airi-host-7-1", `{"invokeId":"airi-host-7-1"}`))
	require.Equal(t, []string{`send greet-send {"invokeId":"airi-host-7-2","content":{}}`}, l.invoke(5, "greet", "{}"), "numbers go on")
	require.Equal(t, []string{"serve 3 sum for hello fed followed", "fed 3 1"},
		l.frame("sum-send", `{"invokeId":"y","content":1,"isReqStream":true}`), "a new connection has calls of its own")
}

func TestRemote_isAwayForAReason(t *testing.T) {
	for record, want := range map[string]string{
		"away\n": "its connection is closed",
		"away " + strings.Repeat("x", protocol.MaxReason+1) + "\n": strings.Repeat("x", protocol.MaxReason),
	} {
		require.Equal(t, []string{"absent " + want, "note knows"}, newLink(t, Remote{}, protocol.Settings{}).note(record))
	}
}

func TestRemote_isSwapped(t *testing.T) {
	l := busy(t)
	require.Equal(t, append(lost("another connection has taken its place"), "note knows"), l.note("swapped\n"))
	require.Len(t, l.invoke(4, "greet", "{}"), 1)
	l.note("away gone\n")
	require.Equal(t, []string{"present", "note knows"}, l.note("swapped\n"), "it has a connection again")
}

func TestRemote_aStepGoesOnWaitingWhileItIsAway(t *testing.T) {
	l := newLink(t, Remote{Negotiates: true}, protocol.Settings{})
	l.run(protocol.StepInit)
	require.Equal(t, []string{"absent gone", "note knows"}, l.note("away gone\n"))
	require.Equal(t, []string{"present"}, l.note("back\n"))
	require.Equal(t, []string{"ran init ok"}, l.life("module:prepared", "{}"))
}

func TestRemote_whatItSaidOfItsHealthEndsWithTheConnection(t *testing.T) {
	l := newLink(t, Remote{}, protocol.Settings{})
	l.life("module:status", `{"phase":"degraded","reason":"ill"}`)
	require.Equal(t, []string{"absent gone", "note knows"}, l.note("away gone\n"))
	require.Equal(t, []string{"present"}, l.note("back\n"))
	require.Empty(t, l.life("module:status", ready))

	l.note("away gone\n")
	require.Empty(t, l.life("module:status", `{"phase":"degraded","reason":"ill"}`), "what it says before it is back is told then")
	require.Equal(t, []string{"absent ill"}, l.note("back\n"))
	l.note("away gone\n")
	l.life("module:status", failed)
	require.Empty(t, l.life("module:status", ready))
	require.Equal(t, []string{"present"}, l.note("back\n"))
}

// Whoever comes back may be another process, which has not got it, and what was given
// while nobody was there has reached none.
func TestRemote_isGivenItsConfigurationAgainWhenItIsBack(t *testing.T) {
	for _, returns := range []string{"back\n", "swapped\n"} {
		l := newLink(t, Remote{Negotiates: true}, protocol.Settings{})
		l.emit(protocol.Moment{What: protocol.MomentConfigured, Config: tuned})
		l.run(protocol.StepSetup)
		l.life("module:status", ready)
		require.Contains(t, append(l.note("away gone\n"), l.note(returns)...), commitNote)
		require.Equal(t, []string{commitNote, "note knows"}, l.note("swapped\n"))
	}
	l := newLink(t, Remote{}, protocol.Settings{})
	l.note("away gone\n")
	require.Empty(t, l.emit(protocol.Moment{What: protocol.MomentCommitted, Config: tuned}))
	require.Equal(t, []string{"present", `note configure {"tone":"dry"}`}, l.note("back\n"))
}

// A frame has the form of the peer's last one, and both before it has sent any.
func TestRemote_speaksThePeersForm(t *testing.T) {
	l := newLink(t, Remote{Session: 7}, protocol.Settings{})
	form := func() string {
		record := l.sends(protocol.Invoke{ID: 1, Call: protocol.Call{Key: "greet"}})[0]
		l.step(protocol.Cancel{ID: 1})
		return map[[2]bool]string{{true, true}: "both", {true, false}: "older", {false, true}: "newer"}[[2]bool{
			strings.Contains(record, `"type":"greet-send"`), strings.Contains(record, `"eventa":`),
		}]
	}
	require.Equal(t, "both", form())
	l.receive(`{"deliveryId":"d","hopsRemaining":0,"eventa":{"id":"e"}}`)
	require.Equal(t, "newer", form())
	l.receive(`{"type":"e","payload":{}}`)
	require.Equal(t, "older", form())
	l.note("swapped\n")
	require.Equal(t, "both", form(), "another connection may be of another release")
}

// Eventa takes a frame whose name it has had within five minutes for a copy, also from a
// host that was started anew.
func TestRemote_namesNoFrameTwice(t *testing.T) {
	seen := map[string]bool{}
	for run := range 3 {
		for session := range uint64(3) {
			d := newRemote(Remote{Session: session}, protocol.Settings{}, Collecting{})
			for id := range protocol.CallID(3) {
				out := d.Step(now.Add(time.Duration(run)*time.Second), protocol.Invoke{ID: id, Call: protocol.Call{Key: "greet"}}, nil)
				s, ok := out[0].(protocol.Send)
				require.True(t, ok)
				f, ok := s.Message.(formed)
				require.True(t, ok)
				require.False(t, seen[f.Delivery], f.Delivery)
				seen[f.Delivery] = true
			}
		}
	}
	require.Len(t, seen, 27)
}

func TestRemote_theEndCompletesEverythingOnce(t *testing.T) {
	l := busy(t)
	l.note("said e\n")
	l.run(protocol.StepInit)
	got := l.step(protocol.Closed{Err: protocol.ErrEnded})
	require.Equal(t, "ran init error outcome-unknown: plugin hello ended while init was in flight; it may have run: the connection has ended", got[0])
	require.Equal(t, append(lost("the connection has ended"), "abandon {3}"), got[1:])
	require.Empty(t, l.step(protocol.Closed{}))
	require.Empty(t, l.step(protocol.Reply{ID: 3}))
	require.Contains(t, l.invoke(9, "greet", "")[0], "complete 9 error not-ready: ")
}
