package eliza

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/airi-host/airi-host/protocol"
)

func TestRemoteError_isAsTheReferenceHasIt(t *testing.T) {
	var v struct {
		Vectors []struct {
			Wire       json.RawMessage
			Name       *string
			Message    string
			HasCode    bool
			Code       *string
			HasCause   bool
			Cause      json.RawMessage
			FirstLines []string
		}
	}
	vectors(t, "rehydrate", &v)
	require.NotEmpty(t, v.Vectors)
	for _, c := range v.Vectors {
		e := remoteError(c.Wire)
		require.Equal(t, c.Message, e.Message(), "%s", c.Wire)
		require.Equal(t, c.Name != nil, e.hasName)
		if c.Name != nil {
			require.Equal(t, *c.Name, e.Name())
		}
		code, has := e.Code()
		require.Equal(t, c.HasCode, has)
		if has {
			require.Equal(t, *c.Code, code)
		}
		require.Equal(t, c.HasCause, e.Cause != nil, "%s", c.Wire)
		if c.HasCause {
			require.JSONEq(t, string(c.Cause), string(e.Cause))
		}
		require.Equal(t, strings.Join(c.FirstLines, "\n"), e.Stack())

		again := remoteError(wireError(e)) // there and back all is kept, and the stack has a line more
		require.Equal(t, e.Message(), again.Message())
		require.Equal(t, e.Name(), again.Name())
		require.Equal(t, e.Cause, again.Cause)
		require.Equal(t, e.peer.Code, again.peer.Code)
		require.Equal(t, e.Stack()+"\n    at [remote worker boundary]", again.Stack())
	}
}

func TestRemoteError_unwrapsAndKeepsToOneLine(t *testing.T) {
	e := remoteError(raw(`{"name":"ZodError","message":"[\n  {\n    \"a\": 1\n  }\n]","code":"E","cause":{"name":"TypeError","message":"in\nner","stack":"s"}}`))
	var err error = e
	require.Equal(t, `[ { "a": 1 } ]`, err.Error())
	peer, ok := errors.AsType[*protocol.PeerError](err)
	require.True(t, ok)
	require.Equal(t, "ZodError", peer.Name)
	require.Equal(t, `"E"`, string(peer.Code))
	var cause *RemoteError
	require.ErrorAs(t, e.Unwrap()[1], &cause)
	require.Equal(t, "in ner", cause.Error())
	require.Equal(t, "s\n    at [remote worker boundary]", cause.Stack())
	for in, want := range map[string]string{`"text"`: "text", `5`: "5", `{"a":1}`: `{"a":1}`} {
		require.EqualError(t, remoteError(raw(`{"message":"m","cause":` + in + `}`)).Unwrap()[1], want)
	}
	require.Len(t, remoteError(raw(`{"message":"m","cause":null}`)).Unwrap(), 1)
}

func TestRemoteError_readsWhatIsNoError(t *testing.T) {
	for in, want := range map[string]string{``: "the other end failed and did not say why", `null`: "the other end failed and did not say why", `"x"`: "x", `5`: "5"} {
		e := remoteError(raw(in))
		require.Equal(t, "Error", e.Name())
		require.EqualError(t, e, want)
	}
}

func TestWireError(t *testing.T) {
	for want, err := range map[string]error{
		`{"name":"Error","message":"plain"}`:                                         errors.New("plain"),
		`{"name":"Error","message":"plugin p: slow","code":"timeout"}`:               &protocol.Error{Code: protocol.CodeTimeout, Plugin: "p", Message: "slow"},
		`{"name":"Error","message":"m","code":"404"}`:                                &protocol.PeerError{Message: "m", Code: raw(`404`)},
		`{"name":"TypeError","message":"m"}`:                                         &protocol.PeerError{Message: "m", Name: "TypeError"},
		`{"name":"N","message":"m\nn","stack":"s\n    at [remote worker boundary]"}`: remoteError(raw(`{"name":"N","message":"m\nn","stack":"s"}`)),
	} {
		require.Equal(t, want, string(wireError(err)))
	}
}

func TestResult_outcome(t *testing.T) {
	for _, c := range []struct {
		r      Result
		result string
		err    string
	}{
		{Result{OK: isTrue, Payload: raw(`5`)}, `5`, ""},
		{Result{OK: isTrue}, `null`, ""},
		{Result{OK: isFalse, Error: raw(`{"message":"m"}`)}, ``, "m"},
		{Result{OK: isFalse}, ``, "Unknown worker-rpc failure"},
		{Result{OK: raw(`"yes"`), Payload: raw(`5`)}, ``, `plugin lab: x was answered without "ok": expected true or false, got a string`},
		{Result{}, ``, `plugin lab: x was answered without "ok": expected true or false, got nothing`},
		{Result{FromHost: true, OK: raw(`"yes"`), Payload: raw(`5`)}, `5`, ""},
		{Result{FromHost: true, OK: raw(`0`), Error: raw(`"m"`)}, ``, "m"},
		{Result{FromHost: true, OK: raw(`""`)}, ``, "Unknown host-rpc failure"},
	} {
		result, err := c.r.outcome("x", "lab")
		require.Equal(t, c.result, string(result))
		if c.err == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, c.err)
		}
	}
}
