package airi

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestDriver_servesWhatThePeerAsks(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	require.Equal(t, []string{`serve 1 ` + ServiceCapabilityWait + ` for hello {"key":"cap:x","timeoutMs":1000}`},
		r.receive(ServiceCapabilityWait+"-send", `{"invokeId":"V3","content":{"key":"cap:x","timeoutMs":1000}}`))
	require.Equal(t, []string{`send ` + ServiceCapabilityWait + `-receive-V3 {"invokeId":"V3","content":{"state":"ready"}}`},
		r.step(protocol.Reply{ID: 1, Result: raw(`{"state":"ready"}`)}))
	require.Empty(t, r.step(protocol.Reply{ID: 1}), "a second reply has nobody to go to")
}

func TestDriver_answersInAnyOrderWithTheIDsThatCame(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	ids := []string{`1`, `"1"`, `9007199254740992`, `9007199254740993`, `"x y"`, `-5`, `1.5`, `true`, `[1]`}
	for i, id := range ids {
		// 1 and "1" stand alike in event ids, so they need two tags.
		tag := []string{"a", "b"}[i%2]
		require.Len(t, r.receive(tag+"-send", `{"invokeId":`+id+`}`), 1)
	}
	for i := len(ids) - 1; i >= 0; i-- {
		sent := r.step(protocol.Reply{ID: protocol.RequestID(i + 1), Result: raw("0")})
		require.Contains(t, sent[0], ` {"invokeId":`+ids[i]+`,"content":0}`)
	}
}

func TestDriver_failuresGoAsPlainObjects(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	r.receive("x-send", `{"invokeId":"i"}`)
	require.Equal(t, []string{`send x-receive-error-i {"invokeId":"i","content":{"error":{"message":"boom"}}}`},
		r.step(protocol.Reply{ID: 1, Err: errors.New("boom"), Result: raw("1")}))
}

func TestDriver_anAbortedRequestIsAbandoned(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	r.receive("x-send", `{"invokeId":"i"}`)
	require.Equal(t, []string{"dropped unknown-call y-send-abort i"}, r.receive("y-send-abort", `{"invokeId":"i"}`))
	require.Equal(t, []string{"abandon {1}"}, r.receive("x-send-abort", `{"invokeId":"i","content":"enough"}`))
	require.Empty(t, r.step(protocol.Reply{ID: 1, Result: raw("1")}))
	require.Equal(t, []string{"serve 2 x for hello"}, r.receive("x-send", `{"invokeId":"i"}`), "the id is free again")
}

func TestDriver_aSecondRequestWithAnIDInFlightIsDropped(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	r.receive("x-send", `{"invokeId":"i"}`)
	require.Equal(t, []string{"dropped duplicate-call x i"}, r.receive("x-send", `{"invokeId":"i"}`))
	require.Equal(t, []string{"serve 2 y for hello"}, r.receive("y-send", `{"invokeId":"i"}`))
}

func TestDriver_boundsWhatRequestsCarry(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	r.receive("x-send", `{"invokeId":"a","content":"12345678"}`)
	require.Equal(t, 10, r.d.asking)
	r.d.asking = protocol.MaxAsked - 10 // as a long one has
	require.Len(t, r.receive("x-send", `{"invokeId":"b","content":"12345678"}`), 1)
	require.Equal(t, []string{
		`send x-receive-error-c {"invokeId":"c","content":{"error":{"message":"calls with 268435456 bytes by this plugin are in flight, the limit is 268435456: call x again later","code":"overloaded"}}}`,
	}, r.receive("x-send", `{"invokeId":"c","content":1}`))
	r.step(protocol.Reply{ID: 1})
	r.receive("x-send-abort", `{"invokeId":"b"}`)
	require.Equal(t, protocol.MaxAsked-20, r.d.asking)
	r.d.asking = 0
	r.open("sum-send", `{"invokeId":"d","content":1,"isReqStream":true}`, OpensValue)
	require.Zero(t, r.d.asking, "what it is fed waits within the bounds of a stream")
	r.d.asking = 1
	require.NotContains(t, r.receive("x-send", `{"invokeId":"e","content":1}`)[0], "overloaded")
}

func TestDriver_refusesRequestsAboveTheLimitAtOnce(t *testing.T) {
	r := newRig(t, protocol.Settings{MaxPending: 1})
	r.receive("x-send", `{"invokeId":"a"}`)
	require.Equal(t, []string{
		`send x-receive-error-b {"invokeId":"b","content":{"error":{"message":"1 calls by this plugin are in flight, the limit: call x again later","code":"overloaded"}}}`,
	}, r.receive("x-send", `{"invokeId":"b"}`))
	r.step(protocol.Reply{ID: 1})
	require.Equal(t, []string{"serve 2 x for hello"}, r.receive("x-send", `{"invokeId":"b"}`))
}

func TestDriver_anAnswerThatCannotBeSentBecomesAnError(t *testing.T) {
	r := newRig(t, protocol.Settings{})
	r.receive("x-send", `{"invokeId":"i"}`)
	require.Len(t, r.step(protocol.Reply{ID: 1, Result: raw(`"too long"`)}), 1)
	tooLong := protocol.Reply{ID: 1, Err: errors.New("the answer is too long")}
	require.Equal(t, []string{`send x-receive-error-i {"invokeId":"i","content":{"error":{"message":"the answer is too long"}}}`}, r.step(tooLong))
	require.Empty(t, r.step(tooLong), "once")
}
