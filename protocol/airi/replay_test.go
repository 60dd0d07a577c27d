package airi

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// The recorded conversations of the published library, with our driver in the
// place of one end and then of the other.

// releases are those of Eventa that were recorded: 1.0.0-alpha.14 to 1.0.0-beta.14.
var releases = []string{"a14", "b1", "b2", "b8", "b11", "b14"}

func TestDriver_callsLikeThePublishedLibrary(t *testing.T) {
	for name, want := range map[string]string{
		"unary":               `complete 1 ok {"got":{"n":1}}`,
		"unary-undefined":     `complete 1 ok`,
		"error":               `complete 1 error the handler of lab:fail failed without a message`,
		"error-plain":         `complete 1 error plain`,
		"two-handlers":        `complete 1 ok "first"|dropped late-answer lab:dup-receive-airi-host-1`,
		"abort":               `dropped late-answer lab:slow-receive-airi-host-1`,
		"no-handler":          "",
		"server-stream":       `progress 1 1|progress 1 {"two":{"q":1}}|complete 1 ok null`,
		"server-stream-error": `progress 1 1|complete 1 error the handler of lab:stream failed without a message`,
		"stream-cancel":       `progress 1 0|progress 1 1|dropped late-answer lab:stream-receive-stream-end-airi-host-1`,
		"client-stream":       `complete 1 ok 6`,
		"client-stream-error": "",
	} {
		for _, release := range releases {
			t.Run(release+" "+name, func(t *testing.T) {
				if release == "b14" && name == "client-stream-error" { // others do not hear of it
					want = "complete 1 error the handler of lab:sum failed without a message"
				}
				require.Equal(t, want, strings.Join(replayAsCaller(t, release, name, true), "|"))
			})
		}
	}
}

func TestDriver_collectsWhatNobodyFollows(t *testing.T) {
	for name, want := range map[string]string{
		"server-stream":       `progress 1 |progress 1 |complete 1 ok [1,{"two":{"q":1}}]`,
		"server-stream-error": `progress 1 |complete 1 error the handler of lab:stream failed without a message`,
		"stream-cancel":       `progress 1 |progress 1 |dropped unended-stream lab:stream: items without an end: 2 (an answer of one value has the invokeType 4)|dropped late-answer lab:stream-receive-stream-end-airi-host-1`,
	} {
		for _, release := range releases {
			require.Equal(t, want, strings.Join(replayAsCaller(t, release, name, false), "|"))
		}
	}
}

// replayAsCaller makes the recorded call, wants the frames of the recorded caller
// and gives those of the recorded handler. It returns the effects for the host.
func replayAsCaller(t *testing.T, release, name string, follows bool) []string {
	t.Helper()
	r := newRig(t, protocol.Settings{})
	told := []string{}
	var theirs string
	for _, line := range transcript(t, recording(release, name)) {
		f := frameOf(t, line.Text)
		if theirs == "" {
			theirs = readStep(f).idText
		}
		ours := f
		ours.ID = strings.ReplaceAll(f.ID, theirs, "airi-host-1")
		ours.Body = bytes.ReplaceAll(f.Body, raw(theirs), raw("airi-host-1"))
		if line.Dir == "handler->caller" {
			told = append(told, r.step(protocol.Received{Message: ours})...)
			continue
		}
		effects := act(t, r.step, r.d.begun, f, follows)
		want := "send " + ours.ID + " " + string(ours.Body)
		if readStep(f).kind == stepSendError { // our errors have a message
			want = `send lab:sum-send-error {"invokeId":"airi-host-1","content":{"message":"","data":{"bad":true}}}`
		}
		require.Contains(t, effects, want)
		for _, e := range effects {
			if !strings.HasPrefix(e, "send ") {
				told = append(told, e)
			}
		}
	}
	return told
}

func recording(release, name string) string {
	return "testdata/eventa/eventa-" + release + "-" + name + ".ndjson"
}

// act asks a driver, by its step, for what a recorded caller did; begun is how many calls
// it has begun.
func act(t *testing.T, step func(protocol.Input) []string, begun uint64, f Frame, follows bool) []string {
	t.Helper()
	s := readStep(f)
	switch {
	case s.kind == stepSendEnd:
		return step(protocol.FeedEnd{ID: 1})
	case s.kind == stepSendError:
		return step(protocol.FeedEnd{ID: 1, Err: errorOf(s.content, "")})
	case s.kind == stepSendAbort:
		reason, _ := text(s.content)
		return step(protocol.Cancel{ID: 1, Reason: reason})
	case s.chunk && begun == 0:
		require.Empty(t, step(protocol.Invoke{ID: 1, Call: protocol.Call{Key: s.tag}, Follows: follows, Feeds: true}))
	}
	if s.chunk {
		return step(protocol.Feed{ID: 1, Item: s.content})
	}
	return step(protocol.Invoke{ID: 1, Call: protocol.Call{Key: s.tag, Input: s.content}, Follows: follows})
}

func TestDriver_answersLikeThePublishedLibrary(t *testing.T) {
	for name, want := range map[string]string{
		"unary":               `serve 1 lab:echo for hello {"n":1}`,
		"unary-undefined":     `serve 1 lab:echo for hello`,
		"error-plain":         `serve 1 lab:fail for hello {}`,
		"two-handlers":        `serve 1 lab:dup for hello {}`, // of ours there is one, so the second answer is not sent
		"no-handler":          `serve 1 lab:none for hello {}`,
		"abort":               `serve 1 lab:slow for hello {}|abandon {1}`,
		"plain-event":         `emitted lab:event {"x":1}`,
		"once-match":          `emitted lab:o 1|emitted lab:o 1`,
		"server-stream":       `serve 1 lab:stream for hello {"q":1}followed`,
		"server-stream-error": `serve 1 lab:stream for hello {}followed`,
		"stream-cancel":       `serve 1 lab:stream for hello {}followed|abandon {1}`,
		"client-stream":       `serve 1 lab:sum for hello fed|fed 1 1|fed 1 2|fed 1 3|fed end 1 ok`,
		"client-stream-error": `serve 1 lab:sum for hello fed|fed 1 1|fed end 1 error the request stream of lab:sum failed without a message`,
	} {
		for _, release := range releases {
			t.Run(release+" "+name, func(t *testing.T) {
				require.Equal(t, want, strings.Join(replayAsHandler(t, release, name), "|"))
			})
		}
	}
}

// A caller whose signal is aborted before it calls starts a handler in every release
// up to beta.11. Here it does not.
func TestDriver_anEarlyAbortStartsNothing(t *testing.T) {
	for _, release := range releases {
		f := frameOf(t, transcript(t, recording(release, "pre-aborted"))[0].Text)
		told := newRig(t, protocol.Settings{}).step(protocol.Received{Message: f})
		require.Equal(t, []string{"dropped unknown-call lab:slow-send-abort " + readStep(f).idText}, told)
	}
}

// Releases before beta.14 tell a peer of their adapter's own events, by a random id.
func TestDriver_anEndOfTheWireCompletesWhatTheLibraryLeavesOpen(t *testing.T) {
	for _, release := range releases {
		lines := transcript(t, recording(release, "socket-close"))
		r := newRig(t, protocol.Settings{})
		require.Len(t, act(t, r.step, 0, frameOf(t, lines[0].Text), false), 1)
		for _, line := range lines[1:] {
			require.Contains(t, r.step(protocol.Received{Message: frameOf(t, line.Text)})[0], "emitted ")
		}
		require.Contains(t, r.step(protocol.Closed{})[0], "complete 1 error outcome-unknown: ")
	}
}

// replayAsHandler gives the frames of the recorded caller, the first of them marked as
// the bridge does, and answers with what the recorded handler answered, which has to
// come out as the same frame.
func replayAsHandler(t *testing.T, release, name string) []string {
	t.Helper()
	r := newRig(t, protocol.Settings{})
	told := []string{}
	opens := OpensValue
	if strings.Contains(name, "server-stream") || name == "stream-cancel" {
		opens = OpensStream
	}
	for _, line := range transcript(t, recording(release, name)) {
		f := frameOf(t, line.Text)
		if line.Dir == "caller->handler" {
			f.Opens, opens = opens, ""
			told = append(told, r.step(protocol.Received{Message: f})...)
			continue
		}
		if len(r.d.requests) == 0 { // answered, or aborted
			require.Empty(t, r.step(replyTo(f)))
			continue
		}
		sent := r.step(replyTo(f))
		require.Len(t, sent, 1)
		require.Equal(t, "send "+f.ID, sent[0][:len("send ")+len(f.ID)])
		if !strings.Contains(name, "stream-error") { // ours have a message
			require.JSONEq(t, string(f.Body), sent[0][len("send ")+len(f.ID)+1:])
		}
	}
	return told
}

// replyTo is what the host says where a recorded handler sent a frame.
func replyTo(f Frame) protocol.Input {
	s := readStep(f)
	switch {
	case s.kind == stepReceiveError:
		return protocol.Reply{ID: 1, Err: peerError(s.content, "")}
	case s.kind == stepReceiveEnd:
		return protocol.Reply{ID: 1, Result: null}
	case s.result:
		return protocol.Reply{ID: 1, Result: s.content}
	default:
		return protocol.Report{ID: 1, Item: s.content}
	}
}
