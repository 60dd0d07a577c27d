package services

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestInvoke_callsForThePlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plugins{onInvoke: func(protocol.Call) (json.RawMessage, error) { return json.RawMessage(`{ "n": 1.0 }`), nil }}
		w := newWorker(t, p, Options{})
		require.Equal(t, `{ "n": 1.0 }`, w.call("airi-host.invoke", `{"key":"tool:greet","input":{ "a" : 1 },"plugin":"other","timeoutMs":1500.9}`))
		w.call("airi-host.invoke", `{"key":"k","companyId":"c2"}`)
		require.Equal(t, []protocol.Call{
			{
				Key: "tool:greet", Input: json.RawMessage(`{ "a" : 1 }`), Plugin: "other", Scope: "c1", Caller: "demo",
				Trace: "00-aa-bb-01", Deadline: time.Now().Add(1500 * time.Millisecond),
			},
			{Key: "k", Scope: "c2", Caller: "demo", Trace: "00-aa-bb-01"},
		}, p.invoked)
	})
}

func TestInvoke_errorsPassThrough(t *testing.T) {
	peer := &protocol.PeerError{Message: "no greeting", Code: json.RawMessage(`-32002`)}
	p := &plugins{onInvoke: func(protocol.Call) (json.RawMessage, error) { return nil, peer }}
	_, err := newWorker(t, p, Options{}).try("airi-host.invoke", `{"key":"k"}`)
	require.Same(t, peer, err)
}

func TestInvoke_refusesWhatNamesNoCapability(t *testing.T) {
	p := &plugins{}
	w := newWorker(t, p, Options{})
	w.wantRefused(protocol.CodeInvalid, "airi-host.invoke", `{"input":1}`, "key: expected a string that is not blank, got nothing")
	w.wantRefused(protocol.CodeInvalid, "airi-host.invoke", `{"key":"k","plugin":1}`, "plugin: expected a string, got a number")
	require.Empty(t, p.invoked)
}

func TestDeadline_whatIsNoTimeIsTheDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, text := range []string{"", "0", "-1", "-0", "null", `"500"`, "x", "NaN", "Infinity", "-Infinity", "1e999", "{}"} {
			require.Zero(t, deadline(text), text)
		}
		for text, want := range map[string]time.Duration{
			"0.4": time.Millisecond, "1": time.Millisecond, "2.9": 2 * time.Millisecond, "1e18": maxTimeout * time.Millisecond,
		} {
			require.Equal(t, time.Now().Add(want), deadline(text), text)
		}
	})
}

// answer is what http.fetch answers, as a worker reads it.
type answer struct {
	Status     int
	StatusText string
	Headers    map[string]string
	Body       *string
}

func (w worker) fetch(params string) answer {
	w.t.Helper()
	var a answer
	require.NoError(w.t, json.Unmarshal([]byte(w.call("http.fetch", params)), &a))
	return a
}

func post(path, body string) string {
	return fmt.Sprintf(`{"url":"http://airi-host.invalid%s","init":{"method":"post","body":%q}}`, path, body)
}

func TestReserved_anInvocationIsAnHTTPRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plugins{onInvoke: func(protocol.Call) (json.RawMessage, error) { return json.RawMessage(`{ "html": "<b>" }`), nil }}
		w := newWorker(t, p, Options{})
		got := w.fetch(post("/invoke/http:GET%20%2Fhello%3F?plugin=a%20b&timeoutMs=2000", `{ "a": 1 }`))
		body := `{ "html": "<b>" }`
		require.Equal(t, answer{200, "OK", map[string]string{"content-type": "application/json"}, &body}, got)
		require.Equal(t, []protocol.Call{{
			Key: "http:GET /hello?", Input: json.RawMessage(`{ "a": 1 }`), Plugin: "a b", Scope: "c1", Caller: "demo",
			Trace: "00-aa-bb-01", Deadline: time.Now().Add(2 * time.Second),
		}}, p.invoked)
	})
}

func TestReserved_withoutABodyThereIsNoInput(t *testing.T) {
	p := &plugins{}
	got := newWorker(t, p, Options{}).fetch(`{"url":"HTTP://AIRI-host.INVALID.:80/invoke/tool:x?timeoutMs=-5","init":{"method":"POST"}}`)
	require.Equal(t, 200, got.Status)
	require.Equal(t, "null", *got.Body)
	require.Nil(t, p.invoked[0].Input)
	require.Zero(t, p.invoked[0].Deadline)
}

func TestReserved_failuresAreStatuses(t *testing.T) {
	for _, row := range []struct {
		err    error
		status int
		text   string
		code   string
	}{
		{fault(protocol.CodeInvalid), 400, "Bad Request", "invalid"},
		{fault(protocol.CodeDenied), 403, "Forbidden", "denied"},
		{fault(protocol.CodeNotFound), 404, "Not Found", "not-found"},
		{fault(protocol.CodeAmbiguous), 409, "Conflict", "ambiguous"},
		{fault(protocol.CodeOverloaded), 429, "Too Many Requests", "overloaded"},
		{fault(protocol.CodeCancelled), 499, "Client Closed Request", "cancelled"},
		{fault(protocol.CodeInternal), 500, "Internal Server Error", "internal"},
		{fault(protocol.CodeOutcomeUnknown), 502, "Bad Gateway", "outcome-unknown"},
		{fault(protocol.CodeWire), 502, "Bad Gateway", "wire"},
		{fault(protocol.CodeNotReady), 503, "Service Unavailable", "not-ready"},
		{fault(protocol.CodeConfiguration), 503, "Service Unavailable", "configuration"},
		{fault(protocol.CodeTimeout), 504, "Gateway Timeout", "timeout"},
		{fmt.Errorf("called: %w", &protocol.PeerError{Message: `it "broke"`}), 500, "Internal Server Error", "peer"},
		{errors.New("something else"), 500, "Internal Server Error", "internal"},
	} {
		p := &plugins{onInvoke: func(protocol.Call) (json.RawMessage, error) { return nil, row.err }}
		got := newWorker(t, p, Options{}).fetch(post("/invoke/k", ""))
		require.Equal(t, row.status, got.Status)
		require.Equal(t, row.text, got.StatusText)
		wantErrorBody(t, got, row.code, row.err.Error())
	}
}

func fault(code protocol.Code) error {
	return &protocol.Error{Code: code, Plugin: "other", Message: "because of <" + string(code) + ">"}
}

func wantErrorBody(t *testing.T, got answer, code, message string) {
	t.Helper()
	want, err := json.Marshal(map[string]any{"error": map[string]string{"code": code, "message": message}})
	require.NoError(t, err)
	require.JSONEq(t, string(want), *got.Body)
	require.Equal(t, "application/json", got.Headers["content-type"])
}

func TestReserved_otherRequestsAreRefused(t *testing.T) {
	p := &plugins{}
	w := newWorker(t, p, Options{})
	for _, path := range []string{"", "/", "/invoke", "/invoke/", "/invoke/%20", "/Invoke/k", "/x/invoke/k", "/%69nvoke/k"} {
		got := w.fetch(post(path, ""))
		require.Equal(t, 404, got.Status, path)
		wantErrorBody(t, got, "not-found", "expected the path /invoke/KEY, the key of a capability, escaped")
	}
	for _, method := range []string{"", "get", "PUT", "HEAD"} {
		got := w.fetch(`{"url":"http://airi-host.invalid/invoke/k","init":{"method":"` + method + `"}}`)
		require.Equal(t, 405, got.Status)
		require.Equal(t, "POST", got.Headers["allow"])
		wantErrorBody(t, got, "invalid", "expected POST, with the input as its body")
	}
	got := w.fetch(post("/invoke/k", "{"))
	require.Equal(t, 400, got.Status)
	wantErrorBody(t, got, "invalid", "expected JSON as the body, the capability's input, or none")
	require.Empty(t, p.invoked)
}
