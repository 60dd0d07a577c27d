package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/peers"
	"github.com/airi-host/airi-host/peers/load"

	"github.com/airi-host/airi-host/internal/need"
)

// startRemote starts a subject with the remote plugin.
func startRemote(t *testing.T, name string) load.Subject {
	t.Helper()
	need.Node(t)
	list, err := remoteWorkers(t.TempDir(), "")
	require.NoError(t, err)
	s := subjects[name]()
	require.NoError(t, s.Start(t.Context(), list))
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// What is measured is done: each answer is looked at.
func TestRemoteHost_andItsBareLoopTakeTheSameLoads(t *testing.T) {
	for _, name := range []string{"remote", "remote-sign", "remote-bare"} {
		t.Run(name, func(t *testing.T) {
			s := startRemote(t, name)
			for _, l := range remoteLoads {
				if l.Kind != load.Echo {
					continue
				}
				l.Calls = 300
				r, err := load.Drive(t.Context(), s, l)
				require.NoError(t, err, l.Name)
				require.Positive(t, r.P50Micros, l.Name)
			}
		})
	}
	require.Error(t, (&remoteHost{}).Close())
}

var numbers = regexp.MustCompile(`("requestId":|action-callback:)\d+`)

// A worker cannot tell the bare loop from this host by what it receives, but for numbers;
// and a frame is as long as its load says.
func TestRemoteHost_sendsWhatTheBareLoopSends(t *testing.T) {
	ours, bare, signed := startRemote(t, "remote"), startRemote(t, "remote-bare"), startRemote(t, "remote-sign")
	for _, l := range []load.Load{modelCalls(184, 1, 1), actionCalls(932, 1, 1), actionCalls(1024, 1, 1)} {
		sent := sentBy(t, bare, l)
		require.Equal(t, sent, sentBy(t, ours, l))
		require.Contains(t, sentBy(t, signed, l), `,"mac":"`)
	}
	require.Equal(t, 184, frame(modelCalls(184, 1, 1)))
	require.Equal(t, 932, frame(actionCalls(932, 1, 1)))
}

// sentBy makes one call of a load and returns the line that the worker got, its numbers
// masked.
func sentBy(t *testing.T, s load.Subject, l load.Load) string {
	t.Helper()
	answer, err := s.Call(t.Context(), l.Key, l.Content())
	require.NoError(t, err)
	if l.Answer > 0 {
		require.Len(t, answer, l.Answer)
	}
	answer, err = s.Call(t.Context(), "model:SEEN", []byte(`null`))
	require.NoError(t, err)
	var line string
	require.NoError(t, json.Unmarshal(answer, &line))
	return numbers.ReplaceAllString(line, "${1}0")
}

func TestRemoteHost_hasAWorkerOfPaperclipsCallTheModel(t *testing.T) {
	list, err := remoteWorkers(t.TempDir(), peers.Install(t, peers.Paperclip))
	require.NoError(t, err)
	for _, name := range []string{"remote", "remote-bare"} {
		s := subjects[name]()
		require.NoError(t, s.Start(t.Context(), list))
		l := remoteLoads[len(remoteLoads)-1]
		l.Calls = 300
		_, err = load.Drive(t.Context(), s, l)
		if name == "remote-bare" { // which has no Paperclip
			require.ErrorContains(t, err, "action:cross")
		} else {
			require.NoError(t, err)
		}
		require.NoError(t, s.Close())
	}
}

func TestRemoteHost_saysWhatIsWrong(t *testing.T) {
	r := &remoteHost{}
	require.ErrorContains(t, r.Start(t.Context(), []load.Worker{{Dir: t.TempDir()}}), "expected 1 plugins, found 0")
	require.NoError(t, r.Close())
}

func TestWires_refuseWhatIsNoAnswer(t *testing.T) {
	for line, w := range map[string]wire{
		`{"jsonrpc":"2.0","id":2,"error":{}}` + "\n":                                         jsonRPC{},
		`{"type":"worker-rpc-result","requestId":2,"ok":false,"error":{}}` + "\n":            remoteWire{},
		`{"type":"worker-rpc-result","requestId":"2","ok":true,"payload":null}` + "\n":       remoteWire{},
		`{"type":"worker-rpc-result","requestId":` + strings.Repeat("9", 30) + `,"ok":true}`: remoteWire{},
	} {
		_, _, skip, err := w.answer([]byte(line))
		require.False(t, skip)
		require.ErrorContains(t, err, "expected an answer with a result, found")
	}
	_, _, skip, err := remoteWire{}.answer([]byte(`{"type":"init-complete"}` + "\n"))
	require.NoError(t, err)
	require.True(t, skip)
}
