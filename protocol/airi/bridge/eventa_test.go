package bridge_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/peers"
	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/airi"
)

// libraries are the copies of Eventa with which the cases are run: the bridge's, and
// what modules bring; those of a release after alpha.14 have a function more.
var libraries = []struct {
	name, set string
	isLater   bool
}{
	{"the bridge's", "", false},
	{"alpha.14", peers.EventaA14, false},
	{"beta.11", peers.EventaB11, true},
	{"beta.14", peers.EventaB14, true},
}

// withEveryLibrary runs a test with the module of testdata/cases.js, in both module
// systems.
func withEveryLibrary(t *testing.T, test func(w *worker)) {
	t.Helper()
	text, err := os.ReadFile("testdata/cases.js")
	require.NoError(t, err)
	files := map[string]string{
		"main.mjs": "import * as eventa from '@moeru/eventa'\n" + string(text) + "export default cases(eventa)\n",
		"main.cjs": "const eventa = require('@moeru/eventa')\n" + string(text) + "module.exports = cases(eventa)\n",
	}
	for _, library := range libraries {
		for entry := range files {
			t.Run(library.name+" "+entry, func(t *testing.T) {
				t.Parallel()
				dir := plugin(t, files)
				if library.set != "" {
					require.NoError(t, os.Symlink(peers.Install(t, library.set), filepath.Join(dir, "node_modules")))
				}
				w := startIn(t, dir, entry)
				w.open = true
				w.run(protocol.StepLoad, protocol.StepInit)
				w.step(protocol.Run{Step: protocol.StepSetup})
				w.wantEvent("library", map[bool]string{false: "false", true: "true"}[library.isLater])
				require.NoError(t, next[protocol.Ran](w).Err)
				test(w)
				require.NoError(t, w.stdin.Close())
				w.wantExit(0)
				require.Empty(t, w.stderr.String())
			})
		}
	}
}

func TestEventa_handlersAreCalled(t *testing.T) {
	withEveryLibrary(t, func(w *worker) {
		w.wantCall("echo", `{"a":[1,null]}`, `{"a":[1,null]}`)
		w.wantCall("echo", "", "")
		for key, want := range map[string]protocol.PeerError{
			"fail":        {Name: "TypeError", Message: "no number", Code: json.RawMessage(`"E1"`), Data: json.RawMessage(`{"at":1}`)},
			"fail-added":  {Name: "Error", Message: "not found", Data: json.RawMessage(`{"status":404}`)},
			"fail-plain":  {Message: "plain", Code: json.RawMessage("7"), Data: json.RawMessage(`{"why":[1]}`)},
			"fail-text":   {Message: "text"},
			"fail-bigint": {Message: "10"},
		} {
			_, err := w.call(key, "")
			require.Equal(w.t, &want, peerOf(w.t, err), key)
		}
		w.send("slow", "")
		w.step(protocol.Cancel{ID: w.lastCall, Reason: "deadline"})
		w.wantEvent("stopped", `"deadline"`)
		w.wantDropped(airi.DroppedLate, "slow-receive-")

		w.wantCall("twice", "", `"first"`)
		w.wantDropped(airi.DroppedLate, "twice-receive-")
	})
}

// peerOf is an error as the module made it; where it did so is left out.
func peerOf(t *testing.T, err error) *protocol.PeerError {
	t.Helper()
	var peer *protocol.PeerError
	require.ErrorAs(t, err, &peer)
	peer.At = ""
	return peer
}

func TestEventa_handlersAnswerWithStreams(t *testing.T) {
	withEveryLibrary(t, func(w *worker) {
		w.follow("count", "3")
		w.wantProgress("1", "2", "3")
		w.wantDone("null")
		w.wantCall("count", "3", "[1,2,3]")
		w.wantCall("count", "0", "[]")

		want := &protocol.PeerError{Name: "RangeError", Message: "ran out", Data: json.RawMessage("[2]")}
		w.follow("count-fail", "")
		w.wantProgress("1")
		require.Equal(w.t, want, peerOf(w.t, next[protocol.Complete](w).Err))
		_, err := w.call("count-fail", "")
		require.Equal(w.t, want, peerOf(w.t, err))
		_, err = w.call("unserializable", "")
		require.ErrorContains(w.t, err, "cannot go to the host: Do not know how to serialize a BigInt")

		w.follow("endless", "")
		w.wantProgress("0", "1")
		w.step(protocol.Cancel{ID: w.lastCall, Reason: "enough"})
		w.wantEvent("stopped", `"enough"`)
		w.wantDropped(airi.DroppedLate, "endless-receive-stream-end-")

		_, err = w.call("endless", "")
		require.Equal(w.t, protocol.CodeOverloaded, protocol.CodeOf(err))
		require.ErrorContains(w.t, err, "more than the 1024 items")
		w.wantEvent("stopped", `"nobody follows the stream"`)
	})
}

func TestEventa_handlersTakeStreams(t *testing.T) {
	withEveryLibrary(t, func(w *worker) {
		w.feed("sum", nil, "1", "2", "3")
		w.wantDone("6")
		w.feed("sum", nil)
		w.wantDone("0")
		w.feed("double", nil, "1", "2")
		w.wantProgress("2", "4")
		w.wantDone("null")
		w.feed("double", nil)
		w.wantDone("null")
		w.feed("sum-twice", nil, "1", "2")
		w.wantDone("3")
		w.wantDropped(airi.DroppedLate, "sum-twice-receive-")

		broken := &protocol.PeerError{Name: "RangeError", Message: "cut", Code: json.RawMessage(`"E"`), Data: json.RawMessage(`{"n":1}`)}
		for _, key := range []string{"sum", "double"} {
			for _, items := range [][]string{{"1", "2"}, nil} {
				w.feed(key, broken, items...)
				cut, err := next[protocol.Emitted](w).Event.JSON()
				require.NoError(w.t, err)
				require.Contains(w.t, string(cut), `true,"RangeError","cut","E",{"n":1}]`, "as in Eventa, it overtakes what is not read yet")
				require.EqualError(w.t, next[protocol.Complete](w).Err, "cut")
			}
		}

		// One that reads no further is not disturbed by what still comes.
		w.feed("first", nil, "1", "2", "3")
		w.wantEvent("read", "1")
		w.wantDone("1")

		w.feed("nobody", nil, "1", "2")
		require.EqualError(w.t, next[protocol.Complete](w).Err, "the plugin has no handler for nobody")
	})
}

func TestEventa_anAbortReachesWhoReadsAStream(t *testing.T) {
	withEveryLibrary(t, func(w *worker) {
		for _, key := range []string{"sum", "double"} {
			w.lastCall++
			w.step(protocol.Invoke{ID: w.lastCall, Call: protocol.Call{Key: key}, Feeds: true, Follows: true})
			w.step(protocol.Feed{ID: w.lastCall, Item: json.RawMessage("1")})
			w.step(protocol.Cancel{ID: w.lastCall, Reason: "enough"})
			cut, err := next[protocol.Emitted](w).Event.JSON()
			require.NoError(w.t, err)
			require.Contains(w.t, string(cut), `true,"AbortError","enough"`)
			w.wantDropped(airi.DroppedLate, key+"-receive-error-")
		}
		w.wantCall("echo", "1", "1")
	})
}

// In releases before beta.14 what comes after the end of a call begins it anew.
func TestEventa_whatComesLateBeginsNothing(t *testing.T) {
	withEveryLibrary(t, func(w *worker) {
		w.wantCall("echo", "1", "1")
		w.feed("sum", nil, "1")
		w.wantDone("1")
		for _, id := range []string{`"airi-host-4"`, `"airi-host-5"`} {
			for _, late := range []string{
				`{"type":"sum-send","payload":{"body":{"invokeId":` + id + `,"content":1,"isReqStream":true}}}`,
				`{"type":"sum-send-stream-end","payload":{"body":{"invokeId":` + id + `}}}`,
				`{"type":"sum-send-error","payload":{"body":{"invokeId":` + id + `,"content":{"message":"x"}}}}`,
				`{"type":"sum-send-abort","payload":{"body":{"invokeId":` + id + `}}}`,
				`{"type":"echo-send-abort","payload":{"body":{"invokeId":` + id + `}}}`,
			} {
				_, err := w.in.WriteString(late + "\n")
				require.NoError(w.t, err)
			}
		}
		w.wantCall("echo", "2", "2")
		w.step(protocol.Run{Step: protocol.StepStop})
		require.Equal(w.t, protocol.Ran{Step: protocol.StepStop}, <-w.effects, "and nothing before it")
	})
}

func TestEventa_handlersMayChange(t *testing.T) {
	withEveryLibrary(t, func(w *worker) {
		w.send("change", "")
		w.send("change-away", "")
		require.Equal(w.t, "change", next[protocol.Retracted](w).Key)
		require.Equal(w.t, "true", string(next[protocol.Complete](w).Result))
		_, err := w.call("change", "")
		require.EqualError(w.t, err, "the plugin has no handler for change")

		w.send("change-finish", "")
		require.Equal(w.t, `"from the one that was removed"`, string(next[protocol.Complete](w).Result))
		next[protocol.Complete](w)

		w.send("change-back", "")
		w.wantOffer("change")
		next[protocol.Complete](w)
		w.wantCall("change", "", `"the new one"`)
	})
}

// act makes the module call what the test serves, and returns the call as it comes.
func (w *worker) act(name string) protocol.Serve {
	w.t.Helper()
	w.send("do", `"`+name+`"`)
	e := next[protocol.Serve](w)
	require.Equal(w.t, "theirs", e.Call.Key)
	return e
}

func (w *worker) reply(e protocol.Serve, result string) {
	w.step(protocol.Reply{ID: e.ID, Result: json.RawMessage(result)})
}

// An event comes to the module's own handlers from the host, and not twice.
func TestEventa_modulesHearTheirOwnEvents(t *testing.T) {
	withEveryLibrary(t, func(w *worker) {
		w.send("do", `"publish"`)
		w.wantOffer("event:e")
		e := next[protocol.Serve](w)
		require.Equal(w.t, "event:e", e.Call.Key)
		require.Equal(w.t, `"news"`, string(e.Call.Input))
		w.wantCall("event:e", `"news"`, "")
		w.reply(e, "")
		require.Equal(w.t, "event:e", next[protocol.Retracted](w).Key)
		require.Equal(w.t, `["news"]`, string(next[protocol.Complete](w).Result))
		w.wantNothing()
	})
}

func TestEventa_modulesCall(t *testing.T) {
	withEveryLibrary(t, func(w *worker) {
		e := w.act("unary")
		require.False(w.t, e.Follows || e.Feeds)
		require.Equal(w.t, `{"n":1}`, string(e.Call.Input))
		w.step(protocol.Report{ID: e.ID, Item: json.RawMessage(`"not for it"`)})
		w.reply(e, `{"a":1}`)
		w.wantDone(`{"result":{"a":1}}`)

		e = w.act("nothing")
		require.Nil(w.t, e.Call.Input)
		w.reply(e, "")
		w.wantDone(`{}`)

		for want, err := range map[string]error{
			`[true,"RangeError","far",7,{"n":1}]`:             &protocol.PeerError{Name: "RangeError", Message: "far", Code: json.RawMessage("7"), Data: json.RawMessage(`{"n":1}`)},
			`[true,"Error","gone","not-found",null]`:          &protocol.Error{Code: protocol.CodeNotFound, Message: "gone"},
			`[true,"Error","plain",null,null]`:                errors.New("plain"),
			`[true,"Error","odd",null,{"__proto__":{"x":1}}]`: &protocol.PeerError{Message: "odd", Data: json.RawMessage(`{"__proto__":{"x":1}}`)},
		} {
			e = w.act("unary")
			w.step(protocol.Reply{ID: e.ID, Err: err})
			w.wantDone(want)
		}

		e = w.act("abort")
		w.step(protocol.Emit{Event: protocol.Event{Name: "abort now"}})
		require.Equal(w.t, e.ID, next[protocol.Abandon](w).ID)
		w.wantDone(`[true,"AbortError"]`)

		w.send("do", `"aborted-before"`)
		w.wantDone(`["AbortError","AbortError"]`)
		w.wantNothing()
	})
}

func TestEventa_modulesFollowStreams(t *testing.T) {
	withEveryLibrary(t, func(w *worker) {
		e := w.act("stream")
		require.True(w.t, e.Follows)
		require.Equal(w.t, `{"n":1}`, string(e.Call.Input))
		w.report(e, "1", `{"two":2}`)
		w.reply(e, "null")
		w.wantDone(`[1,{"two":2}]`)

		w.reply(w.act("stream"), `{"plain":true}`)
		w.wantDone(`[{"plain":true}]`)

		w.reply(w.act("stream"), "")
		w.wantDone(`[]`)

		e = w.act("stream")
		w.report(e, "1")
		w.reply(e, `"and a result"`)
		w.wantDone(`[1,"and a result"]`)

		e = w.act("stream")
		w.report(e, "1")
		w.step(protocol.Reply{ID: e.ID, Err: &protocol.PeerError{Name: "TypeError", Message: "cut", Data: json.RawMessage("[1]")}})
		w.wantDone(`[1,[true,"TypeError","cut",null,[1]]]`)

		e = w.act("abort-stream")
		w.report(e, "1")
		require.Equal(w.t, e.ID, next[protocol.Abandon](w).ID)
		w.wantDone(`[1,"AbortError"]`)

		e = w.act("leave-stream")
		w.report(e, "1")
		require.Equal(w.t, e.ID, next[protocol.Abandon](w).ID)
		w.wantDone("1")

		w.send("do", `"own"`)
		w.wantDone("[-1,-2]")
		w.wantNothing()
	})
}

func TestEventa_modulesFeedStreams(t *testing.T) {
	withEveryLibrary(t, func(w *worker) {
		for act, follows := range map[string]bool{"feed": false, "feed-stream": true} {
			e := w.act(act)
			require.True(w.t, e.Feeds)
			require.Equal(w.t, follows, e.Follows)
			require.Nil(w.t, e.Call.Input)
			w.wantFed(e, "1", "2")
			require.NoError(w.t, next[protocol.FedEnd](w).Err)
			w.reply(e, "3")
			w.wantDone(map[bool]string{false: `{"result":3}`, true: "[3]"}[follows])

			e = w.act(act + "-nothing")
			require.True(w.t, e.Feeds)
			require.Equal(w.t, follows, e.Follows)
			require.NoError(w.t, next[protocol.FedEnd](w).Err)
			w.reply(e, "0")
			w.wantDone(map[bool]string{false: `{"result":0}`, true: "[0]"}[follows])

			e = w.act(act + "-broken")
			w.wantFed(e, "1")
			want := &protocol.PeerError{Name: "RangeError", Message: "cut here", Data: json.RawMessage(`{"n":1}`)}
			require.Equal(w.t, want, peerOf(w.t, next[protocol.FedEnd](w).Err))
			w.step(protocol.Reply{ID: e.ID, Err: errors.New("cut there")})
			done := next[protocol.Complete](w)
			require.NoError(w.t, done.Err)
			require.Contains(w.t, string(done.Result), `"cut `, "beta.14 does not wait for the answer")
		}

		e := w.act("feed-late")
		w.wantFed(e, "1")
		w.reply(e, "1")
		w.wantDone(`{"result":1}`)
		w.wantNothing()
	})
}

func TestEventa_functionsStayInTheirModule(t *testing.T) {
	withEveryLibrary(t, func(w *worker) {
		e := w.act("function")
		require.Contains(w.t, string(e.Call.Input), `{"callback":{"__eventaInvoke":{"tag":"eventa-invoke-fn-`)
		w.reply(e, "1")
		w.wantDone(`{"result":1}`)

		w.send("do", `"own-function"`)
		w.wantDone(`{"result":2}`)

		w.send("do", `"their-function"`)
		done := next[protocol.Complete](w)
		require.NoError(w.t, done.Err)
		require.True(w.t, strings.HasPrefix(string(done.Result), `[true,"Error","eventa-invoke-fn-theirs is a function that was an argument of a call: `), string(done.Result))
		w.wantNothing()
	})
}
