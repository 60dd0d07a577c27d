package airi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// A caller of which nobody knows what it takes is answered so that either ends.
func TestRemote_answersCallersOfBothSorts(t *testing.T) {
	for name, row := range map[string]struct {
		tag     string
		reports []string
		reply   protocol.Reply
		want    []string
	}{
		"one value":           {"tool:x", nil, protocol.Reply{Result: raw("5")}, []string{`R {"invokeId":"x","content":5}`, `E {"invokeId":"x"}`}},
		"no value":            {"lab:x", nil, protocol.Reply{}, []string{`R {"invokeId":"x"}`, `E {"invokeId":"x"}`}},
		"null":                {"lab:x", nil, protocol.Reply{Result: null}, []string{`R {"invokeId":"x","content":null}`, `E {"invokeId":"x"}`}},
		"a failure":           {"lab:x", nil, protocol.Reply{Err: &protocol.PeerError{Message: "no"}}, []string{`F {"invokeId":"x","content":{"error":{"message":"no"}}}`}},
		"items":               {"lab:x", []string{"1", "2"}, protocol.Reply{Result: null}, []string{`R {"invokeId":"x","content":1}`, `R {"invokeId":"x","content":2}`, `E {"invokeId":"x"}`}},
		"items and a result":  {"lab:x", []string{"1"}, protocol.Reply{Result: raw("9")}, []string{`R {"invokeId":"x","content":1}`, `R {"invokeId":"x","content":9}`, `E {"invokeId":"x"}`}},
		"items and a failure": {"lab:x", []string{"1"}, protocol.Reply{Err: &protocol.PeerError{Message: "no"}}, []string{`R {"invokeId":"x","content":1}`, `F {"invokeId":"x","content":{"error":{"message":"no"}}}`}},
		"no items of a kind":  {"model:x", []string{"1"}, protocol.Reply{Result: raw("9")}, []string{`R {"invokeId":"x","content":9}`, `E {"invokeId":"x"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLink(t, Remote{}, protocol.Settings{})
			follows := ""
			if strings.HasPrefix(row.tag, "lab:") {
				follows = " followed"
			}
			require.Equal(t, []string{"serve 1 " + row.tag + " for hello" + follows}, l.frame(row.tag+"-send", `{"invokeId":"x"}`))
			var got []string
			for _, item := range row.reports {
				got = append(got, l.step(protocol.Report{ID: 1, Item: raw(item)})...)
			}
			row.reply.ID = 1
			got = append(got, l.step(row.reply)...)
			for i, names := range got {
				for short, long := range map[string]string{"R": "receive", "E": "receive-stream-end", "F": "receive-error"} {
					names = strings.Replace(names, "send "+row.tag+"-"+long+"-x ", short+" ", 1)
				}
				got[i] = names
			}
			require.Equal(t, row.want, got)
		})
	}
}

func TestRemote_anyPartOpensARequestStream(t *testing.T) {
	l := newLink(t, Remote{}, protocol.Settings{})
	require.Equal(t, []string{"serve 1 tool:sum for hello fed", "fed 1 1"}, l.frame("tool:sum-send", `{"invokeId":"a","content":1,"isReqStream":true}`))
	require.Equal(t, []string{"fed 1 2"}, l.frame("tool:sum-send", `{"invokeId":"a","content":2,"isReqStream":true}`))
	require.Equal(t, []string{"fed end 1 ok"}, l.frame("tool:sum-send-stream-end", `{"invokeId":"a"}`))
	require.Equal(t, []string{"dropped stream tool:sum-send"}, l.frame("tool:sum-send", `{"invokeId":"a","content":2,"isReqStream":true}`))
	require.Equal(t, []string{"serve 2 tool:sum for hello fed", "fed end 2 ok"}, l.frame("tool:sum-send-stream-end", `{"invokeId":"b"}`))
	require.Contains(t, l.frame("tool:sum-send-error", `{"invokeId":"c","content":{"message":"no"}}`), "fed end 3 error no")
	require.Equal(t, []string{"dropped duplicate-call tool:sum a"}, l.frame("tool:sum-send", `{"invokeId":"a"}`))
}

// What still comes of a stream whose call is over opens no other.
func TestRemote_aLatePartOpensNothing(t *testing.T) {
	part, end := `{"invokeId":"a","content":1,"isReqStream":true}`, `{"invokeId":"a"}`
	for name, over := range map[string]func(link){
		"answered": func(l link) { l.frame("sum-send", part); l.step(protocol.Reply{ID: 1, Result: raw("1")}) },
		"aborted":  func(l link) { l.frame("sum-send", part); l.frame("sum-send-abort", end) },
		"refused": func(l link) {
			l.frame("other-send", `{"invokeId":"o"}`)
			require.Contains(t, l.frame("sum-send", part)[0], "send sum-receive-error-a ")
			l.step(protocol.Reply{ID: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLink(t, Remote{}, protocol.Settings{MaxPending: 1})
			over(l)
			for range 3 {
				require.Equal(t, []string{"dropped unknown-call sum-send"}, l.frame("sum-send", part))
			}
			require.Equal(t, []string{"dropped unknown-call sum-send-stream-end"}, l.frame("sum-send-stream-end", end))
			require.Contains(t, l.frame("sum-send", part)[0], "serve ", "its end was the last part of it")
		})
	}
}

func TestRemote_remembersBoundedlyManySpentStreams(t *testing.T) {
	const most = 4
	l := newLink(t, Remote{}, protocol.Settings{MaxPending: most})
	part := func(n int) string {
		return strings.Join(l.frame("sum-send", fmt.Sprintf(`{"invokeId":"%d","content":1,"isReqStream":true}`, n)), "|")
	}
	for n := range 3 * most {
		require.Contains(t, part(n), "serve ")
		l.step(protocol.Reply{ID: protocol.RequestID(n + 1)})
		require.LessOrEqual(t, len(l.d.eventa.spent.callers), most)
		require.Len(t, l.d.eventa.spent.order, len(l.d.eventa.spent.callers))
	}
	require.Equal(t, "dropped unknown-call sum-send", part(3*most-1))
	require.Contains(t, part(0), "serve ", "the oldest is forgotten")
}

func TestRemote_nobodySaysForWhoseSakeItCalls(t *testing.T) {
	l := newLink(t, Remote{Session: 7}, protocol.Settings{})
	l.invoke(1, "greet", "")
	messages, err := remoteCodec{}.Decode([]byte(`{"type":"clock-send","payload":{"within":"airi-host-7-1","body":{"invokeId":"x"}}}`))
	require.NoError(t, err)
	out := l.d.Step(now, protocol.Received{Message: messages[0]}, nil)
	serve, ok := out[0].(protocol.Serve)
	require.True(t, ok)
	require.Same(t, protocol.CauseUntold, serve.Call.Cause)
}

// Two modules on one websocket cannot take each other's answers.
func TestRemote_takesNoOthersAnswer(t *testing.T) {
	l := newLink(t, Remote{Session: 7}, protocol.Settings{})
	require.Equal(t, []string{`send greet-send {"invokeId":"airi-host-7-1"}`}, l.invoke(1, "greet", ""))
	for _, id := range []string{"airi-host-1", "airi-host-8-1", "airi-host-7-2", "airi-host-71-1"} {
		require.Equal(t, []string{"dropped unknown-call greet-receive-" + id}, l.frame("greet-receive-"+id, `{"invokeId":"`+id+`"}`))
	}
	require.Equal(t, []string{"complete 1 ok"},
		l.receive(`{"type":"greet-receive-airi-host-7-1","payload":{"invokeType":4,"body":{"invokeId":"airi-host-7-1"}}}`))
}
