package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestCall_givesTheResult(t *testing.T) {
	r := start(t, Options{})
	for _, c := range []struct{ input, want string }{
		{`{"a": [1, 2]}`, `{"a": [1, 2]}`},
		{"", "null"},
		{"null", "null"},
		{`"` + strings.Repeat("x", 1<<20) + `"`, `"` + strings.Repeat("x", 1<<20) + `"`},
	} {
		got, err := r.Call(t.Context(), CallRequest{Key: "model:ECHO", Input: json.RawMessage(c.input), Plugin: "talker"})
		require.NoError(t, err)
		require.JSONEq(t, c.want, string(got))
	}
	got, err := r.Call(t.Context(), CallRequest{Key: "model:COUNTS"})
	require.NoError(t, err)
	require.Equal(t, `{ "all": 2}`, string(got), "a result is one line")
}

func TestCall_failuresHaveCodes(t *testing.T) {
	r := start(t, Options{})
	for _, c := range []struct {
		call CallRequest
		code protocol.Code
		text string
	}{
		{CallRequest{Key: "model:NONE"}, protocol.CodeNotFound, "nobody offers model:NONE"},
		{CallRequest{Key: ""}, protocol.CodeInvalid, "the capability's key: a capability's key is empty"},
		{CallRequest{Key: "model:WAITS", Timeout: Duration(10 * time.Millisecond)}, protocol.CodeTimeout, "the call's own deadline"},
		{CallRequest{Key: "model:WAITS", Idle: Duration(10 * time.Millisecond)}, protocol.CodeTimeout, "the call's own idle limit"},
	} {
		_, err := r.Call(t.Context(), c.call)
		require.Equal(t, c.code, protocol.CodeOf(err), "%v", err)
		require.ErrorContains(t, err, c.text)
	}
	_, err := r.Call(t.Context(), CallRequest{Key: "model:FAILS"})
	require.EqualError(t, err, "no luck")
	_, err = r.Call(t.Context(), CallRequest{Key: "tool:SORRY", Input: json.RawMessage("{}")})
	peer, ok := errors.AsType[*protocol.PeerError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, "sorry", peer.Message)
}

// A plugin's stack is for who asks for it.
func TestCall_tellsTheStackOnDemand(t *testing.T) {
	r := start(t, Options{})
	for _, follow := range []bool{false, true} {
		for _, verbose := range []bool{false, true} {
			call := CallRequest{Key: "model:CRACKS", Verbose: verbose}
			_, err := r.Call(t.Context(), call)
			if follow {
				err = r.FollowCall(t.Context(), call, func([]byte) error { return nil })
			}
			peer, ok := errors.AsType[*protocol.PeerError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, "broken", peer.Message)
			if verbose {
				require.Equal(t, "Error: broken\n    at x", peer.Stack)
			} else {
				require.Empty(t, peer.Stack)
			}
		}
	}
}

func TestCall_bodiesAreHeldToTheirForm(t *testing.T) {
	r := start(t, Options{Limits: Limits{Body: 100}})
	for _, c := range []struct {
		kind, body string
		status     int
		text       string
	}{
		{"text/plain", `{"key":"model:ECHO"}`, 400, "Content-Type: expected application/json"},
		{"application/x-www-form-urlencoded", `{"key":"model:ECHO"}`, 400, "Content-Type: expected application/json"},
		{"application/json", `{"key":"model:ECHO"`, 400, "unexpected EOF"},
		{"application/json", `{"key":"model:ECHO","imput":1}`, 400, `unknown field \"imput\"`},
		{"application/json", `{"key":"model:ECHO"} {}`, 400, "found more behind it"},
		{"application/json", `{"key":"model:ECHO","timeout":"soon"}`, 400, `expected a time such as \"5s\"`},
		{"application/json", `{"key":"model:ECHO","input":"` + strings.Repeat("x", 100) + `"}`, 400, "larger than 100 bytes, the limit"},
		{"application/json; charset=utf-8", `{"key":"model:ECHO","input":1,"timeout":"5s"}`, 200, "1"},
		{"application/json", `{"key":"model:FAILS"}`, 500, `{"error":{"code":"failed","message":"no luck"`},
		{"application/json", `{"key":"tool:SORRY","input":{}}`, 502, `{"error":{"code":"plugin","message":"sorry"`},
		{"application/json", `{"key":"model:NONE"}`, 404, `{"error":{"code":"not-found"`},
	} {
		status, body := r.send(t, http.MethodPost, pathAPI+"/call", c.body, "Content-Type", c.kind)
		require.Equal(t, c.status, status, body)
		require.Contains(t, body, c.text)
	}
}

func TestCall_isFollowed(t *testing.T) {
	r := start(t, Options{})
	for _, c := range []struct {
		key  string
		want []string
		err  string
	}{
		{"model:COUNTS", []string{`{"event":"progress","item":1}`, `{"event":"progress","item":2}`, `{"event":"result","result":{ "all": 2}}`}, ""},
		{"model:ECHO", []string{`{"event":"result","result":null}`}, ""},
		{"model:BREAKS", []string{`{"event":"progress","item":1}`}, "broke"},
		{"model:FAILS", nil, "no luck"},
	} {
		var got []string
		err := r.FollowCall(t.Context(), CallRequest{Key: c.key}, func(line []byte) error {
			got = append(got, string(line))
			return nil
		})
		if c.err == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, c.err)
		}
		require.Equal(t, c.want, got)
	}
}

func TestLines_tellWhatWasMissed(t *testing.T) {
	w := httptest.NewRecorder()
	l := &lines{w: w}
	require.NoError(t, l.gap(0))
	require.False(t, l.begun)
	require.NoError(t, l.gap(97))
	require.NoError(t, l.write(`{"event":"result","result":`, []byte("1")))
	require.Equal(t, "{\"event\":\"gap\",\"missed\":97}\n{\"event\":\"result\",\"result\":1}\n", w.Body.String())
}

func TestCall_endsWhenItsCallerGoes(t *testing.T) {
	r := start(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := r.Call(ctx, CallRequest{Key: "model:WAITS", Timeout: Duration(time.Hour)})
		done <- err
	}()
	inFlight := func() int64 { return r.host.Sessions()[0].InFlight }
	wantEventually(t, func() bool { return inFlight() == 1 }, "the call is in flight")
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	wantEventually(t, func() bool { return inFlight() == 0 }, "the call is over")
}
