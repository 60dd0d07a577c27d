package airi

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
	"github.com/airi-host/airi-host/protocol/protocoltest"
)

func TestReadStep_goesByTheNameAndTheInvokeID(t *testing.T) {
	for id, want := range map[string]step{
		"greet-send":                  {kind: stepSend, tag: "greet"},
		"a-send-send":                 {kind: stepSend, tag: "a-send"},
		"greet-send-abort":            {kind: stepSendAbort, tag: "greet"},
		"greet-send-stream-end":       {kind: stepSendEnd, tag: "greet"},
		"greet-send-error":            {kind: stepSendError, tag: "greet"},
		"greet-receive-I1":            {kind: stepReceive, tag: "greet"},
		"a-receive-b-receive-I1":      {kind: stepReceive, tag: "a-receive-b"},
		"greet-receive-error-I1":      {kind: stepReceiveError, tag: "greet"},
		"greet-receive-stream-end-I1": {kind: stepReceiveEnd, tag: "greet"},
		"greet-receive-I2":            {kind: noStep},
		"greet-receive-I1-":           {kind: noStep},
		"greet-sends":                 {kind: noStep},
		"-send":                       {kind: noStep},
		"-receive-I1":                 {kind: noStep},
		"module:status":               {kind: noStep},
	} {
		got := readStep(Frame{ID: id, Body: raw(`{"content":{"x":1},"invokeId":"I1"}`)})
		require.Equal(t, want.kind, got.kind, id)
		if want.kind != noStep {
			require.Equal(t, want.tag, got.tag, id)
			require.Equal(t, "I1", got.idText)
			require.JSONEq(t, `{"x":1}`, string(got.content))
		}
	}
}

// What limits count is what is kept: what a step carries must not keep the rest of its event.
func TestReadStep_keepsNoMoreThanWhatAStepCarries(t *testing.T) {
	pad := strings.Repeat("x", 1<<20)
	for body, part := range map[string]func(step) json.RawMessage{
		`{"invokeId":"I1","content":{"a":1},"pad":"` + pad + `"}`: func(s step) json.RawMessage { return s.content },
		`{"invokeId":"I1","content":"` + pad + `"}`:               func(s step) json.RawMessage { return s.id },
	} {
		frame := `{"deliveryId":"d","hopsRemaining":1,"eventa":{"id":"greet-receive-I1","body":` + body + `}}`
		require.Less(t, protocoltest.Kept(t, codec{}, []byte(frame), func(m protocol.Message) json.RawMessage {
			return part(readStep(m.(Frame)))
		}), int64(1<<16), "%.60s", body)
	}
}

func TestReadStep_takesAnEventWithoutInvokeIDForOne(t *testing.T) {
	for _, body := range []string{
		"", "null", "5", `"x"`, "[]", "{}", `{"invokeId":null}`, `{"invokeId":""}`, `{"invokeId":0}`,
		`{"invokeId":false}`, `{"InvokeId":"a"}`, `{"invokeId":"a","invokeId":"b"}`,
	} {
		f := Frame{ID: "chat-send"}
		if body != "" {
			f.Body = raw(body)
		}
		require.Equal(t, noStep, readStep(f).kind, body)
	}
}

func TestReadStep_tellsAStreamsChunk(t *testing.T) {
	require.True(t, readStep(Frame{ID: "x-send", Body: raw(`{"invokeId":"a","isReqStream":true}`)}).chunk)
	require.False(t, readStep(Frame{ID: "x-send", Body: raw(`{"invokeId":"a","isReqStream":false}`)}).chunk)
}

func TestReadStep_tellsAResultFromAnItem(t *testing.T) {
	f := Frame{ID: "x-receive-a", Body: raw(`{"invokeId":"a"}`)}
	require.False(t, readStep(f).result)
	f.InvokeType = number(typeReceiveError)
	require.False(t, readStep(f).result)
	f.InvokeType = number(typeReceive)
	require.True(t, readStep(f).result)
}

func TestResultFrame_echoesAnIDOfAnyType(t *testing.T) {
	for id, text := range map[string]string{
		`"x y"`:            "x y",
		`"\u0041"`:         "A",
		`9007199254740993`: "9007199254740993",
		`-5`:               "-5",
		`true`:             "true",
	} {
		f := resultFrame("t", raw(id), nil)
		require.Equal(t, "t-receive-"+text, f.ID)
		require.Equal(t, `{"invokeId":`+id+`}`, string(f.Body))
	}
}

func TestFrames_haveTheNumbersOfTheirSteps(t *testing.T) {
	id, x := raw(`"i"`), raw("1")
	for want, f := range map[string]Frame{
		`0 t-send {"invokeId":"i","content":1}`:                                       sendFrame("t", id, x),
		`3 t-send-abort {"invokeId":"i"}`:                                             abortFrame("t", id, nil),
		`0 t-send {"invokeId":"i","content":1,"isReqStream":true}`:                    itemFrame("t", id, x),
		`0 t-send {"invokeId":"i","content":null,"isReqStream":true}`:                 itemFrame("t", id, nil),
		`2 t-send-stream-end {"invokeId":"i"}`:                                        endFrame("t", id),
		`1 t-send-error {"invokeId":"i","content":{"message":"boom"}}`:                failedFrame("t", id, errors.New("boom")),
		`null t-receive-i {"invokeId":"i","content":1}`:                               answerItemFrame("t", id, x),
		`null t-receive-stream-end-i {"invokeId":"i"}`:                                answerEndFrame("t", id),
		`4 t-receive-i {"invokeId":"i","content":1}`:                                  resultFrame("t", id, x),
		`5 t-receive-error-i {"invokeId":"i","content":{"error":{"message":"boom"}}}`: errorFrame("t", id, errors.New("boom")),
	} {
		n, err := json.Marshal(f.InvokeType)
		require.NoError(t, err)
		require.Equal(t, want, string(n)+" "+f.ID+" "+string(f.Body))
	}
}
