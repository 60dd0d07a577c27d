package eliza

import (
	"encoding/json"
	"errors"
	"fmt"
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

// The stack that is shown on demand has those of the causes behind it.
func TestRemoteError_tracesItsCauses(t *testing.T) {
	for in, want := range map[string]string{
		`{"name":"A","message":"a","stack":"A: a\n    at a","cause":{"name":"B","message":"b","stack":"B: b\n    at b","cause":"c"}}`: "A: a\n    at a\n    at [remote worker boundary]\nCaused by: B: b\n    at b\nCaused by: c",
		`{"name":"A","message":"a"}`:             "A: a\n    at [remote worker boundary]",
		`{"name":"A","message":"a","cause":[1]}`: "A: a\n    at [remote worker boundary]\nCaused by: [1]",
		`"text"`:                                 "Error: text\n    at [remote worker boundary]",
	} {
		peer, ok := errors.AsType[*protocol.PeerError](remoteError(raw(in)))
		require.True(t, ok)
		require.Equal(t, want, peer.Stack)
	}
	long := remoteError(raw(`{"message":"a","stack":"` + strings.Repeat("é", protocol.MaxStack) + `","cause":{"message":"b"}}`))
	require.Len(t, long.peer.Stack, protocol.MaxStack)
}

// A worker may nest causes as deep as a frame is long; whoever looks through them does not
// get lost there.
func TestRemoteError_boundsItsCauses(t *testing.T) {
	const deep = 20_000
	e := remoteError(raw(strings.Repeat(`{"message":"m","cause":`, deep) + "1" + strings.Repeat("}", deep)))
	n := 0
	for causes := e.Unwrap(); len(causes) > 1; n++ {
		next, ok := errors.AsType[*RemoteError](causes[1])
		require.True(t, ok)
		causes = next.Unwrap()
	}
	require.Equal(t, maxCauses, n)
	require.Equal(t, maxCauses, strings.Count(e.peer.Stack, "Caused by: "))
	require.Empty(t, protocol.CodeOf(e))
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
		`{"name":"Error","message":"plain"}`:                                           errors.New("plain"),
		`{"name":"Error","message":"plugin p: slow","code":"timeout"}`:                 &protocol.Error{Code: protocol.CodeTimeout, Plugin: "p", Message: "slow"},
		`{"name":"Error","message":"m","code":"404"}`:                                  &protocol.PeerError{Message: "m", Code: raw(`404`)},
		`{"name":"TypeError","message":"m"}`:                                           &protocol.PeerError{Message: "m", Name: "TypeError"},
		`{"name":"N","message":"m\nn","stack":"s\n    at [remote worker boundary]"}`:   remoteError(raw(`{"name":"N","message":"m\nn","stack":"s"}`)),
		`{"name":"Error","message":"out: in","cause":{"name":"Error","message":"in"}}`: fmt.Errorf("out: %w", errors.New("in")),
		`{"name":"Error","message":"plugin p: gone: in","code":"not-ready","cause":{"name":"N","message":"in","stack":"N: in\n    at [remote worker boundary]"}}`: &protocol.Error{
			Code: protocol.CodeNotReady, Plugin: "p", Message: "gone", Err: remoteError(raw(`{"name":"N","message":"in"}`)),
		},
		`{"name":"Error","message":"gone: in","cause":{"name":"N","message":"in"}}`: &protocol.Error{Message: "gone", Err: &protocol.PeerError{Name: "N", Message: "in"}},
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
