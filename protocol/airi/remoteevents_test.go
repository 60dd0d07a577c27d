package airi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestRemote_whatItSaysIsHeard(t *testing.T) {
	l := newLink(t, Remote{}, protocol.Settings{})
	require.Equal(t, []string{`emitted chess:move {"to":"e4"}`, `serve 1 event:chess:move for hello {"to":"e4"}`},
		l.note("said chess:move\n"+`{"to":"e4"}`))
	require.Equal(t, []string{"emitted tick", "serve 2 event:tick for hello"}, l.note("said tick\n"))
	require.Empty(t, l.step(protocol.Report{ID: 1, Item: raw("1")}))
	require.Empty(t, l.step(protocol.Reply{ID: 1}), "its peer is not told who has heard")
	require.Empty(t, l.step(protocol.Reply{ID: 2, Err: protocol.ErrEnded}))
	require.Empty(t, l.d.hearing)
	require.Zero(t, l.d.heard)
	require.Equal(t, []string{"serve 3 clock for hello followed"}, l.frame("clock-send", `{"invokeId":"x"}`), "its calls have numbers of their own")
}

func TestRemote_hearingIsBounded(t *testing.T) {
	l := newLink(t, Remote{}, protocol.Settings{MaxPending: 2})
	l.note("said a\n")
	l.note("said b\n")
	require.Equal(t, []string{"emitted c", "dropped event c"}, l.note("said c\n"))
	l.step(protocol.Reply{ID: 2})
	require.Equal(t, []string{"emitted c", "serve 3 event:c for hello"}, l.note("said c\n"))
	l.note("away gone\n")
	require.Len(t, l.d.hearing, 2, "others hear it all the same")
	require.Equal(t, []string{"abandon {1}", "abandon {3}"}, l.step(protocol.Closed{}))
}

func TestRemote_hearingIsBoundedInBytes(t *testing.T) {
	l := newLink(t, Remote{}, protocol.Settings{})
	long := Note{Verb: NoteSaid, Rest: "long", Data: append(append(raw(`"`), strings.Repeat("x", protocol.MaxAsked/2)...), '"')}
	count := func() int { return len(l.d.Step(now, protocol.Received{Message: long}, nil)) }
	require.Equal(t, 2, count())
	require.Equal(t, protocol.Drop(DroppedEvent, "long"), l.d.Step(now, protocol.Received{Message: long}, nil)[1])
	l.step(protocol.Reply{ID: 1})
	require.Equal(t, 2, count())
	require.Len(t, l.d.hearing, 1)
}

func TestRemote_isDeliveredTheEventsOfOthers(t *testing.T) {
	l := newLink(t, Remote{}, protocol.Settings{})
	for input, want := range map[string]string{
		`{"a":1}`: `{"a":1}`, `[1]`: `{"value":[1]}`, `"x"`: `{"value":"x"}`, `null`: `{"value":null}`, ``: `{}`,
	} {
		require.Equal(t, []string{"note deliver chess:move " + want, "complete 1 ok null"}, l.invoke(1, "event:chess:move", input))
	}
	require.Equal(t, []string{"note deliver e {}", "complete 1 ok null"},
		l.step(protocol.Invoke{ID: 1, Call: protocol.Call{Key: "event:e", Caller: "hello"}}), "and of its own: another instance's, or what it told by Eventa")
	for _, name := range []string{"", " ", "module:status", "ui:configure", "error", "airi-host:bridge:load"} {
		require.Contains(t, l.invoke(1, "event:"+name, "{}")[0], "complete 1 error not-found: ", name)
	}
}

func TestRemote_nobodyIsTheBridge(t *testing.T) {
	l := newLink(t, Remote{}, protocol.Settings{})
	require.Contains(t, l.invoke(1, "airi-host:bridge:load", "")[0], "complete 1 error not-found: ")
	for _, id := range []string{"airi-host:bridge:hello", "airi-host:bridge:crashed", "airi-host:x-send", "airi-host:bridge:load-receive-airi-host-0-1"} {
		require.Equal(t, []string{"dropped control " + id}, l.frame(id, `{"invokeId":"airi-host-0-1"}`))
	}
	require.Equal(t, []string{"emitted chat 1"}, l.frame("chat", "1"), "an event of Eventa's is one")
}
