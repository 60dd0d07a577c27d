package airi

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestDriver_callsAreCompletedByTheirOwnAnswer(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	require.Equal(t, []string{`send greet-send {"invokeId":"airi-host-1","content":{"name":"A"}}`},
		r.step(protocol.Invoke{ID: 10, Call: protocol.Call{Key: "greet", Input: raw(`{"name":"A"}`)}}))
	require.Equal(t, []string{`send greet-send {"invokeId":"airi-host-2"}`},
		r.step(protocol.Invoke{ID: 11, Call: protocol.Call{Key: "greet"}}))
	require.Equal(t, []string{`complete 11 ok "B"`},
		r.result("greet-receive-airi-host-2", `{"invokeId":"airi-host-2","content":"B"}`))
	require.Equal(t, []string{`complete 10 error no name`},
		r.receive("greet-receive-error-airi-host-1", `{"invokeId":"airi-host-1","content":{"error":{"message":"no name"}}}`))
}

func TestDriver_answersAsTheKindHasThem(t *testing.T) {
	for _, c := range []struct{ tag, answer, want string }{
		{"tool:greet", `{"content":"B","error":""}`, `{"content":"B","error":""}`},
		{"tool:greet", `"B"`, `{"content":"B"}`},
		{"tool:greet", `[1]`, `{"data":[1]}`},
		{"tool:greet", `7`, `{"data":7}`},
		{"tool:greet", `null`, `null`},
		{"provider:P", `{"text":"B"}`, `{"text":"B"}`},
		{"provider:P", `"B"`, `{"text":"B"}`},
		{"provider:P", `[1]`, `{"data":[1]}`},
		{"model:GREET", `"B"`, `"B"`},
		{"greet", `[1]`, `[1]`},
	} {
		r := newRig(t, protocol.Settings{})
		r.call(1, c.tag)
		require.Equal(t, []string{"complete 1 ok " + c.want},
			r.result(c.tag+"-receive-airi-host-1", `{"invokeId":"airi-host-1","content":`+c.answer+`}`), "%s %s", c.tag, c.answer)
	}
}

func TestDriver_answersThatNobodyWaitsForAreCounted(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	r.call(1, "greet")
	answer := func(id string) []string {
		return r.result("greet-receive-"+id, `{"invokeId":"`+id+`"}`)
	}
	require.Equal(t, []string{"complete 1 ok"}, answer("airi-host-1"))
	require.Equal(t, []string{"dropped late-answer greet-receive-airi-host-1"}, answer("airi-host-1"))
	require.Equal(t, []string{"dropped unknown-call greet-receive-airi-host-2"}, answer("airi-host-2"))
	require.Equal(t, []string{"dropped unknown-call greet-receive-airi-host-0"}, answer("airi-host-0"))
	require.Equal(t, []string{"dropped unknown-call greet-receive-elses"}, answer("elses"))
	require.Equal(t, []string{"dropped late-answer greet-receive-stream-end-airi-host-1"},
		r.receive("greet-receive-stream-end-airi-host-1", `{"invokeId":"airi-host-1"}`))
}

func TestDriver_anAnswerUnderAnotherTagIsNone(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	r.call(1, "greet")
	require.Equal(t, []string{"dropped unknown-call other-receive-airi-host-1"},
		r.result("other-receive-airi-host-1", `{"invokeId":"airi-host-1"}`))
	require.Equal(t, []string{"complete 1 ok"},
		r.result("greet-receive-airi-host-1", `{"invokeId":"airi-host-1"}`))
}

func TestDriver_cancelTellsThePeerAndCompletesNothing(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	r.call(1, "slow")
	require.Equal(t, []string{`send slow-send-abort {"invokeId":"airi-host-1","content":"deadline"}`},
		r.step(protocol.Cancel{ID: 1, Reason: "deadline"}))
	require.Empty(t, r.step(protocol.Cancel{ID: 1}))

	// The late answer does not complete a newer call, not even one with its id.
	r.call(1, "slow")
	require.Equal(t, []string{"dropped late-answer slow-receive-airi-host-1"},
		r.result("slow-receive-airi-host-1", `{"invokeId":"airi-host-1","content":"late"}`))
	require.Equal(t, `send slow-send-abort {"invokeId":"airi-host-2"}`, r.step(protocol.Cancel{ID: 1})[0])
}

// Who forgets the invokeType of an answer has begun a stream: that is not to go unseen.
func TestDriver_countsAStreamThatNobodyEnds(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	r.call(1, "slow")
	r.receive("slow-receive-airi-host-1", `{"invokeId":"airi-host-1","content":"one value"}`)
	require.Equal(t, []string{
		"dropped unended-stream slow: items without an end: 1 (an answer of one value has the invokeType 4)",
		`send slow-send-abort {"invokeId":"airi-host-1","content":"deadline"}`,
	}, r.step(protocol.Cancel{ID: 1, Reason: "deadline"}))
}

func TestDriver_refusesCallsAboveTheLimitAtOnce(t *testing.T) {
	r := newRig(t, protocol.Settings{MaxPending: 2})
	r.call(1, "a")
	r.call(2, "a")
	require.Equal(t, []string{"complete 3 error overloaded: plugin hello: 2 calls are in flight, the limit: call a again later"},
		r.step(protocol.Invoke{ID: 3, Call: protocol.Call{Key: "a"}}))
	r.result("a-receive-airi-host-1", `{"invokeId":"airi-host-1"}`)
	r.call(3, "a")
}

func TestDriver_nobodyCallsTheBridge(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	for _, key := range []string{"", "airi-host:bridge:stop"} {
		require.Contains(t, r.step(protocol.Invoke{ID: 1, Call: protocol.Call{Key: key}})[0], "complete 1 error not-found: ")
	}
}

func TestDriver_theEndCompletesEverythingOnce(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	r.call(21, "a")
	r.call(20, "b")
	r.step(protocol.Run{Step: protocol.StepSetup})
	r.receive("clock-send", `{"invokeId":"x"}`)
	require.Equal(t, []string{
		"ran setup error outcome-unknown: plugin hello ended while setup was in flight; it may have run: exit status 3",
		"complete 21 error outcome-unknown: plugin hello ended while the call of a was in flight; it may have run: exit status 3",
		"complete 20 error outcome-unknown: plugin hello ended while the call of b was in flight; it may have run: exit status 3",
		"abandon {1}",
	}, r.step(protocol.Closed{Err: errors.New("exit status 3")}))

	require.Empty(t, r.step(protocol.Closed{}))
	require.Empty(t, r.step(protocol.Cancel{ID: 20}))
	require.Empty(t, r.step(protocol.Reply{ID: 1}))
	require.Empty(t, r.receive("e", ""))
	require.Equal(t, []string{"complete 22 error not-ready: plugin hello: not called: a: the connection has ended"},
		r.step(protocol.Invoke{ID: 22, Call: protocol.Call{Key: "a"}}))
	require.Equal(t, []string{"ran stop error not-ready: plugin hello: not run: stop: the connection has ended"},
		r.step(protocol.Run{Step: protocol.StepStop}))
}
