package airi

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// The recorded conversations of the published library as they came over a websocket, with
// a remote module's driver in the place of one end and then of the other. Releases up to
// beta.11 speak the older outer form, beta.14 the newer.

func TestRemote_callsLikeThePublishedLibrary(t *testing.T) {
	for name, want := range map[string]string{
		"unary":               `complete 1 ok {"got":{"n":1}}`,
		"unary-undefined":     `complete 1 ok`,
		"error":               `complete 1 error the handler of lab:fail failed without a message`,
		"error-plain":         `complete 1 error plain`,
		"two-handlers":        `complete 1 ok "first"|dropped late-answer lab:dup-receive-airi-host-7-1`,
		"abort":               `dropped late-answer lab:slow-receive-airi-host-7-1`,
		"no-handler":          "",
		"server-stream":       `progress 1 1|progress 1 {"two":{"q":1}}|complete 1 ok null`,
		"server-stream-error": `progress 1 1|complete 1 error the handler of lab:stream failed without a message`,
		"stream-cancel":       `progress 1 0|progress 1 1|dropped late-answer lab:stream-receive-stream-end-airi-host-7-1`,
		"client-stream":       `complete 1 ok 6`,
	} {
		for _, release := range releases {
			t.Run(release+" "+name, func(t *testing.T) {
				require.Equal(t, want, strings.Join(replayRemoteHandler(t, release, name), "|"))
			})
		}
	}
}

// replayRemoteHandler makes the recorded call, wants the events of the recorded caller, and
// gives the records of the recorded handler as they are, but for the call's id.
func replayRemoteHandler(t *testing.T, release, name string) []string {
	t.Helper()
	l := newLink(t, Remote{Session: 7}, protocol.Settings{})
	told := []string{}
	var theirs string
	for _, line := range transcript(t, recording(release, name)) {
		f := frameOf(t, line.Text)
		if theirs == "" {
			theirs = readStep(f).idText
		}
		if line.Dir == "handler->caller" {
			record := strings.ReplaceAll(line.Text, theirs, "airi-host-7-1")
			session, ours := RemoteTarget([]byte(record))
			require.True(t, ours)
			require.EqualValues(t, 7, session)
			told = append(told, l.receive(record)...)
			require.Equal(t, formOf(release), l.d.form)
			continue
		}
		body := bytes.ReplaceAll(f.Body, raw(theirs), raw("airi-host-7-1"))
		require.Equal(t, []string{"send " + f.ID + " " + string(body)}, act(t, l.step, l.d.eventa.begun, f, true))
	}
	return told
}

func formOf(release string) form {
	if release == "b14" {
		return newerForm
	}
	return olderForm
}

func TestRemote_answersLikeThePublishedLibrary(t *testing.T) {
	for name, want := range map[string]string{
		"unary":               `serve 1 lab:echo for hello {"n":1}followed`,
		"unary-undefined":     `serve 1 lab:echo for hello followed`,
		"error-plain":         `serve 1 lab:fail for hello {}followed`,
		"two-handlers":        `serve 1 lab:dup for hello {}followed`,
		"no-handler":          `serve 1 lab:none for hello {}followed`,
		"abort":               `serve 1 lab:slow for hello {}followed|abandon {1}`,
		"plain-event":         `emitted lab:event {"x":1}`,
		"once-match":          `emitted lab:o 1|emitted lab:o 1`,
		"server-stream":       `serve 1 lab:stream for hello {"q":1}followed`,
		"server-stream-error": `serve 1 lab:stream for hello {}followed`,
		"stream-cancel":       `serve 1 lab:stream for hello {}followed|abandon {1}`,
		"client-stream":       `serve 1 lab:sum for hello fed followed|fed 1 1|fed 1 2|fed 1 3|fed end 1 ok`,
		"client-stream-error": `serve 1 lab:sum for hello fed followed|fed 1 1|fed end 1 error the request stream of lab:sum failed without a message`,
	} {
		for _, release := range releases {
			t.Run(release+" "+name, func(t *testing.T) {
				require.Equal(t, want, strings.Join(replayRemoteCaller(t, release, name), "|"))
			})
		}
	}
}

// replayRemoteCaller gives the records of the recorded caller as they are, and answers with
// what the recorded handler answered: the same frame has to come out, in the caller's form,
// and the end of the stream behind a result.
func replayRemoteCaller(t *testing.T, release, name string) []string {
	t.Helper()
	l := newLink(t, Remote{Session: 7}, protocol.Settings{})
	told := []string{}
	for _, line := range transcript(t, recording(release, name)) {
		f := frameOf(t, line.Text)
		if line.Dir == "caller->handler" {
			told = append(told, l.receive(line.Text)...)
			continue
		}
		open := len(l.d.eventa.requests) > 0
		records := l.sends(replyTo(f))
		if !open { // answered, or aborted
			require.Empty(t, records)
			continue
		}
		wantRecord(t, release, f, records[0], !strings.Contains(name, "stream-error")) // ours have a message
		if s := readStep(f); s.result {
			wantRecord(t, release, answerEndFrame(s.tag, s.id), records[1], true)
			records = records[1:]
		}
		require.Len(t, records, 1)
	}
	return told
}

// wantRecord wants a frame as the recorded release writes it.
func wantRecord(t *testing.T, release string, want Frame, record string, body bool) {
	t.Helper()
	messages, err := remoteCodec{}.Decode([]byte(record))
	require.NoError(t, err)
	got, ok := messages[0].(formed)
	require.True(t, ok)
	require.Equal(t, formOf(release), got.form)
	require.Equal(t, want.ID, got.ID)
	require.True(t, json.Valid([]byte(record)))
	if body {
		require.Equal(t, want.InvokeType, got.InvokeType)
		require.JSONEq(t, string(want.Body), string(got.Body))
	}
}

func TestRemote_anEarlyAbortStartsNothing(t *testing.T) {
	for _, release := range releases {
		line := transcript(t, recording(release, "pre-aborted"))[0]
		told := newLink(t, Remote{}, protocol.Settings{}).receive(line.Text)
		require.Equal(t, []string{"dropped unknown-call lab:slow-send-abort " + readStep(frameOf(t, line.Text)).idText}, told)
	}
}

// Releases before beta.14 tell a peer of their adapter's own events, by a random id.
func TestRemote_anEndOfTheWebsocketCompletesWhatTheLibraryLeavesOpen(t *testing.T) {
	for _, release := range releases {
		lines := transcript(t, recording(release, "socket-close"))
		l := newLink(t, Remote{}, protocol.Settings{})
		require.Len(t, act(t, l.step, 0, frameOf(t, lines[0].Text), false), 1)
		for _, line := range lines[1:] {
			require.Contains(t, l.receive(line.Text)[0], "emitted ")
		}
		require.Contains(t, l.note("away gone\n")[0], "complete 1 error outcome-unknown: ")
	}
}
