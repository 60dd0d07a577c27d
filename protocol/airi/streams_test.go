package airi

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

// follow makes a call that takes the items of a stream.
func (r rig) follow(id protocol.CallID, key string) {
	r.t.Helper()
	require.Contains(r.t, r.step(protocol.Invoke{ID: id, Call: protocol.Call{Key: key}, Follows: true})[0], "send "+key+"-send")
}

// item gives one item of a response stream, end its end.
func (r rig) item(tag string, n int, content string) []string {
	r.t.Helper()
	return r.receive(fmt.Sprintf("%s-receive-airi-host-%d", tag, n), fmt.Sprintf(`{"invokeId":"airi-host-%d","content":%s}`, n, content))
}

func (r rig) end(tag string, n int) []string {
	r.t.Helper()
	return r.receive(fmt.Sprintf("%s-receive-stream-end-airi-host-%d", tag, n), fmt.Sprintf(`{"invokeId":"airi-host-%d"}`, n))
}

func TestStream_itemsReachWhoFollows(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	r.follow(1, "tail")
	require.Equal(t, []string{`progress 1 {"a": 1}`}, r.item("tail", 1, `{"a": 1}`))
	require.Equal(t, []string{`progress 1 null`}, r.receive("tail-receive-airi-host-1", `{"invokeId":"airi-host-1"}`))
	require.Equal(t, []string{"complete 1 ok null"}, r.end("tail", 1))
	require.Equal(t, []string{"dropped late-answer tail-receive-airi-host-1"}, r.item("tail", 1, "2"))
	require.Equal(t, []string{"dropped late-answer tail-receive-stream-end-airi-host-1"}, r.end("tail", 1))

	r.follow(2, "tail")
	require.Equal(t, []string{`complete 2 ok "plain"`},
		r.result("tail-receive-airi-host-2", `{"invokeId":"airi-host-2","content":"plain"}`), "a handler of one value")
}

func TestStream_isCollectedForWhoDoesNotFollow(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	r.call(1, "tail")
	require.Equal(t, []string{"progress 1 "}, r.item("tail", 1, `{"a": 1}`), "a sign of life, for the idle limit")
	require.Equal(t, []string{"progress 1 "}, r.receive("tail-receive-airi-host-1", `{"invokeId":"airi-host-1"}`))
	require.Equal(t, []string{`complete 1 ok [{"a": 1},null]`}, r.end("tail", 1))

	r.call(2, "tail")
	require.Equal(t, []string{`complete 2 ok []`}, r.end("tail", 2))

	r.call(3, "tail")
	r.item("tail", 3, "1")
	require.Equal(t, []string{`complete 3 ok 5`},
		r.result("tail-receive-airi-host-3", `{"invokeId":"airi-host-3","content":5}`), "a result is one")
	require.Zero(t, r.d.collected)
}

func TestStream_aFailureEndsIt(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	r.follow(1, "tail")
	out := r.d.Step(now, protocol.Received{Message: Frame{
		ID:   "tail-receive-error-airi-host-1",
		Body: raw(`{"invokeId":"airi-host-1","content":{"error":{"message":"gone","name":"RangeError","code":"E1","data":[1]}}}`),
	}}, nil)
	require.Equal(t, []protocol.Effect{protocol.Complete{ID: 1, Err: &protocol.PeerError{
		Message: "gone", Name: "RangeError", Code: raw(`"E1"`), Data: raw(`[1]`),
	}}}, out)
}

func TestStream_collectingIsBounded(t *testing.T) {
	big := `"` + strings.Repeat("x", MaxCollectedBytes/4) + `"`
	for name, row := range map[string]struct {
		item  string
		takes int
	}{
		"items": {"1", MaxCollected},
		"bytes": {big, 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, protocol.Settings{})
			r.call(1, "tail")
			for range row.takes {
				require.Equal(t, []string{"progress 1 "}, r.item("tail", 1, row.item))
			}
			require.Equal(t, []string{
				"complete 1 error overloaded: plugin hello: tail answers with a stream of more than the 1024 items or 8388608 bytes (67108864 in all calls) that are collected: follow it",
				`send tail-send-abort {"invokeId":"airi-host-1","content":"nobody follows the stream"}`,
			}, r.item("tail", 1, row.item))
			require.Equal(t, []string{"dropped late-answer tail-receive-airi-host-1"}, r.item("tail", 1, row.item))
			require.Zero(t, r.d.collected)

			r.follow(2, "tail")
			for range row.takes + 1 {
				require.Len(t, r.item("tail", 2, row.item), 1)
			}
		})
	}
}

func TestStream_collectingHasBoundsOfItsOwn(t *testing.T) {
	for name, c := range map[string]struct {
		own Collecting
		say string
	}{
		"items": {Collecting{Items: 2}, "more than the 2 items or 8388608 bytes (67108864 in all calls)"},
		"bytes": {Collecting{Bytes: 25}, "more than the 1024 items or 25 bytes (67108864 in all calls)"},
		"total": {Collecting{Total: 25}, "more than the 1024 items or 8388608 bytes (25 in all calls)"},
	} {
		t.Run(name, func(t *testing.T) {
			dialect := Dialect{Collecting: func() Collecting { return c.own }}
			r := rig{t: t, d: dialect.NewDriver(protocol.Settings{Plugin: "hello"}).(*driver)}
			r.call(1, "tail")
			for range 2 {
				require.Equal(t, []string{"progress 1 "}, r.item("tail", 1, `"12345678"`))
			}
			require.Contains(t, r.item("tail", 1, `"12345678"`)[0], c.say)
		})
	}
}

func TestStream_collectingIsBoundedForAllCallsTogether(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	item := `"` + strings.Repeat("x", MaxCollectedBytes-2) + `"`
	const calls = MaxCollectedTotal / MaxCollectedBytes
	for n := 1; n <= calls+1; n++ {
		r.call(protocol.CallID(n), "tail")
	}
	for n := 1; n <= calls; n++ {
		require.Equal(t, []string{fmt.Sprintf("progress %d ", n)}, r.item("tail", n, item))
	}
	require.Contains(t, r.item("tail", calls+1, item)[0], "error overloaded: ")
	require.Empty(t, r.step(protocol.Closed{})[calls:])
}

func TestFeed_goesToTheModuleItemByItem(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	invoke := func(id protocol.CallID) {
		t.Helper()
		require.Empty(t, r.step(protocol.Invoke{ID: id, Call: protocol.Call{Key: "sum"}, Feeds: true}))
	}
	invoke(1)
	invoke(2)
	invoke(3)
	require.Equal(t, []string{`send sum-send {"invokeId":"airi-host-1","content":1,"isReqStream":true}`}, r.step(protocol.Feed{ID: 2, Item: raw("1")}))
	require.Equal(t, []string{`send sum-send-stream-end {"invokeId":"airi-host-2"}`}, r.step(protocol.FeedEnd{ID: 1}), "no items")
	require.Equal(t, []string{`send sum-send-error {"invokeId":"airi-host-1","content":{"message":"cut","code":7,"data":{"a":1}}}`},
		r.step(protocol.FeedEnd{ID: 2, Err: &protocol.PeerError{Message: "cut", Code: raw("7"), Data: raw(`{"a":1}`)}}))
	require.Empty(t, r.step(protocol.Feed{ID: 2, Item: raw("2")}), "it has ended")
	require.Empty(t, r.step(protocol.FeedEnd{ID: 2}))
	require.Equal(t, []string{"complete 2 ok 6"}, r.result("sum-receive-airi-host-1", `{"invokeId":"airi-host-1","content":6}`))

	require.Empty(t, r.step(protocol.Cancel{ID: 3, Reason: "enough"}), "the module has heard nothing of it")
	require.Empty(t, r.step(protocol.Feed{ID: 3, Item: raw("1")}))
	require.Empty(t, r.step(protocol.FeedEnd{ID: 3}))
	require.Empty(t, r.step(protocol.Feed{ID: 99, Item: raw("1")}))
}

func TestFeed_endsWithItsCall(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	r.step(protocol.Invoke{ID: 1, Call: protocol.Call{Key: "first"}, Feeds: true})
	r.step(protocol.Feed{ID: 1, Item: raw("1")})
	require.Equal(t, []string{"complete 1 ok 1"}, r.result("first-receive-airi-host-1", `{"invokeId":"airi-host-1","content":1}`))
	require.Empty(t, r.step(protocol.Feed{ID: 1, Item: raw("2")}))
	require.Empty(t, r.step(protocol.FeedEnd{ID: 1}))

	r.step(protocol.Invoke{ID: 2, Call: protocol.Call{Key: "first"}, Feeds: true})
	r.step(protocol.Feed{ID: 2, Item: raw("1")})
	require.Equal(t, []string{`send first-send-abort {"invokeId":"airi-host-2"}`}, r.step(protocol.Cancel{ID: 2}))

	r.call(3, "plain")
	require.Empty(t, r.step(protocol.Feed{ID: 3, Item: raw("2")}), "a call of one value")
}

func TestFeed_aCallThatHasNotBegunCountsAndIsCompleted(t *testing.T) {
	r := newRig(t, protocol.Settings{MaxPending: 1})
	r.step(protocol.Invoke{ID: 1, Call: protocol.Call{Key: "sum"}, Feeds: true})
	require.Contains(t, r.step(protocol.Invoke{ID: 2, Call: protocol.Call{Key: "sum"}})[0], "complete 2 error overloaded: ")
	require.Contains(t, r.step(protocol.Closed{})[0], "complete 1 error outcome-unknown: ")
}

func TestRequest_streamsOutWhatTheHostReports(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	ask := func(opens string) { r.open("tail-send", `{"invokeId":"i"}`, opens) }
	ask(OpensStream)
	require.Equal(t, []string{`send tail-receive-i {"invokeId":"i","content":1}`}, r.step(protocol.Report{ID: 1, Item: raw("1")}))
	require.Equal(t, []string{`send tail-receive-i {"invokeId":"i","content":null}`}, r.step(protocol.Report{ID: 1}))
	require.Equal(t, []string{`send tail-receive-stream-end-i {"invokeId":"i"}`}, r.step(protocol.Reply{ID: 1, Result: raw(" null ")}))
	require.Empty(t, r.step(protocol.Report{ID: 1, Item: raw("2")}))

	ask(OpensStream)
	require.Equal(t, []string{`send tail-receive-i {"invokeId":"i","content":{"n":1}}`}, r.step(protocol.Reply{ID: 2, Result: raw(`{"n":1}`)}))

	ask(OpensStream)
	require.Equal(t, []string{`send tail-receive-error-i {"invokeId":"i","content":{"error":{"message":"boom"}}}`},
		r.step(protocol.Reply{ID: 3, Err: errors.New("boom")}))

	ask(OpensValue)
	require.Empty(t, r.step(protocol.Report{ID: 4, Item: raw("1")}), "one value is wanted, and an item would pass for it")
	require.Equal(t, []string{`send tail-receive-i {"invokeId":"i","content":null}`}, r.step(protocol.Reply{ID: 4, Result: raw("null")}))
}

func TestRequest_takesAStream(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	chunk := `{"invokeId":"i","content":1,"isReqStream":true}`
	require.Equal(t, []string{"serve 1 sum for hello fed followed", "fed 1 1"}, r.open("sum-send", chunk, OpensStream))
	require.Equal(t, []string{"fed 1 1"}, r.receive("sum-send", chunk))
	require.Equal(t, []string{"fed 1 null"}, r.receive("sum-send", `{"invokeId":"i","isReqStream":true}`))
	require.Equal(t, []string{"fed end 1 ok"}, r.receive("sum-send-stream-end", `{"invokeId":"i"}`))
	require.Equal(t, []string{"dropped stream sum-send"}, r.receive("sum-send", chunk))
	require.Equal(t, []string{"dropped stream sum-send-stream-end"}, r.receive("sum-send-stream-end", `{"invokeId":"i"}`))
	r.step(protocol.Reply{ID: 1, Result: raw("2")})

	require.Equal(t, []string{"serve 2 sum for hello fed", "fed end 2 ok"}, r.open("sum-send-stream-end", `{"invokeId":"i"}`, OpensValue), "no items")
	r.step(protocol.Reply{ID: 2})
	require.Equal(t, []string{"serve 3 sum for hello fed", "fed end 3 error cut"}, r.open("sum-send-error", `{"invokeId":"i","content":"cut"}`, OpensValue))
	require.Equal(t, []string{"abandon {3}"}, r.receive("sum-send-abort", `{"invokeId":"i"}`))
}

func TestRequest_aPartOfNoCallIsCounted(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	chunk := `{"invokeId":"i","content":1,"isReqStream":true}`
	for id, body := range map[string]string{
		"sum-send": chunk, "sum-send-stream-end": `{"invokeId":"i"}`, "sum-send-error": `{"invokeId":"i","content":"cut"}`,
	} {
		require.Equal(t, []string{"dropped unknown-call " + id}, r.receive(id, body))
	}
	r.open("sum-send", chunk, OpensValue)
	r.step(protocol.Reply{ID: 1})
	require.Equal(t, []string{"dropped unknown-call sum-send"}, r.receive("sum-send", chunk), "a late one begins no call")

	r.receive("one-send", `{"invokeId":"i"}`)
	require.Equal(t, []string{"dropped stream one-send"}, r.receive("one-send", chunk), "a call of one value")
	require.Equal(t, []string{"dropped duplicate-call one i"}, r.open("one-send", chunk, OpensValue))
}

func TestRequest_streamsCountAmongThoseInFlight(t *testing.T) {
	r := newRig(t, protocol.Settings{MaxPending: 1})
	chunk := func(id string) string { return `{"invokeId":"` + id + `","content":1,"isReqStream":true}` }
	r.open("sum-send", chunk("a"), OpensValue)
	require.Equal(t, []string{
		`send sum-receive-error-b {"invokeId":"b","content":{"error":{"message":"1 calls by this plugin are in flight, the limit: call sum again later","code":"overloaded"}}}`,
	}, r.open("sum-send", chunk("b"), OpensValue))
	require.Equal(t, []string{"dropped unknown-call sum-send"}, r.receive("sum-send", chunk("b")))
}

func TestRequest_longNamesAreNotKept(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	long := strings.Repeat("x", MaxName+1)
	require.Contains(t, r.receive("sum-send", `{"invokeId":"`+long+`"}`)[0], "dropped name sum-send")
	require.Contains(t, r.receive(long+"-send", `{"invokeId":"i"}`)[0], "dropped name xxx")
	require.Contains(t, r.receive(ControlPrefix+"handler-defined", `{"tag":"`+long+`"}`)[0], "dropped name xxx")
	require.Empty(t, r.d.requests)
}

func TestRequest_aFunctionOfAnotherModuleIsRefusedInWords(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	require.Equal(t, []string{
		`send eventa-invoke-fn-8agw-receive-error-i {"invokeId":"i","content":{"error":{"message":"eventa-invoke-fn-8agw is a function that was an argument of a call: it can be called in its own module only, since functions do not travel to other plugins","code":"not-found"}}}`,
	}, r.receive("eventa-invoke-fn-8agw-send", `{"invokeId":"i"}`))
}

func TestRequest_whatAHostileModuleSendsIsDroppedAndCounted(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	r.call(1, "greet")
	for name, row := range map[string]struct{ id, body, want string }{
		"an abort of no call":         {"x-send-abort", `{"invokeId":"i"}`, "dropped unknown-call x-send-abort i"},
		"an answer to no call":        {"x-receive-i", `{"invokeId":"i"}`, "dropped unknown-call x-receive-i"},
		"an end of no stream":         {"x-receive-stream-end-i", `{"invokeId":"i"}`, "dropped unknown-call x-receive-stream-end-i"},
		"an answer under another tag": {"x-receive-airi-host-1", `{"invokeId":"airi-host-1"}`, "dropped unknown-call x-receive-airi-host-1"},
		"an id of the host's to come": {"x-receive-airi-host-2", `{"invokeId":"airi-host-2"}`, "dropped unknown-call x-receive-airi-host-2"},
		"an end of a step":            {"airi-host:bridge:init-receive-stream-end-airi-host-1", `{"invokeId":"airi-host-1"}`, "dropped control airi-host:bridge:init-receive-stream-end-airi-host-1"},
		"the prototype as an id":      {"x-receive-__proto__", `{"invokeId":"__proto__"}`, "dropped unknown-call x-receive-__proto__"},
		"an object as an id":          {"x-send-abort", `{"invokeId":{"a":1}}`, `dropped unknown-call x-send-abort {"a":1}`},
	} {
		require.Equal(t, []string{row.want}, r.receive(row.id, row.body), name)
	}
	require.Equal(t, []string{`serve 1 __proto__ for hello {"__proto__":{"polluted":true}}`},
		r.receive("__proto__-send", `{"invokeId":"constructor","content":{"__proto__":{"polluted":true}}}`), "names like any other")
}
